"""What tests need of the machine: Java, data, a browser."""

import os

import pytest


def missing(what: str, reason: str) -> None:
    """Skips a test without ``what``, or fails it if ``PYTERRIER_ASL_REQUIRE`` names it."""
    required = os.environ.get("PYTERRIER_ASL_REQUIRE", "").split(",")
    if what in map(str.strip, required):
        pytest.fail(f"PYTERRIER_ASL_REQUIRE names {what!r}, but {reason}")
    pytest.skip(reason)
