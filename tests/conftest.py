"""What tests share: where the data is, whether Java is here, and when a missing one is a failure.

``PYTERRIER_ASL_REQUIRE=java,data,registry`` makes what is named there compulsory: a test that would
skip for want of it fails instead, so that a skip on a build machine cannot hide a break.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no failure.
settings.register_profile("pyterrier_asl", deadline=None)
settings.load_profile("pyterrier_asl")


def _required() -> set[str]:
    return {name.strip() for name in os.environ.get("PYTERRIER_ASL_REQUIRE", "").split(",")}


def _missing(what: str, reason: str) -> None:
    """Skips the test for want of ``what``, or fails it where ``what`` is compulsory."""
    if what in _required():
        pytest.fail(f"PYTERRIER_ASL_REQUIRE names {what!r}, but {reason}")
    pytest.skip(reason)


#: What PyTerrier 1.0 says of what its Experiment does not have yet, and 1.1 has.
_NOT_YET = {
    "Unknown kwargs: ['plan']": "plans",
    "Expected list of transformers for retr_systems, instead received <class 'dict'>": "dicts",
}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Skips what a test asks of pt.Experiment that this release of PyTerrier does not have."""
    try:
        return (yield)
    except TypeError as error:
        import pyterrier as pt

        what = _NOT_YET.get(str(error))
        if what is None or "plan" in inspect.signature(pt.Experiment).parameters:
            raise
        pytest.skip(f"pt.Experiment takes no {what} before PyTerrier 1.1")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of TREC runs and judgements."""
    folder = Path(
        os.environ.get("PYTERRIER_ASL_DATA")
        or Path(__file__).resolve().parents[2] / "shared" / "data"
    )
    if not folder.is_dir():
        _missing("data", f"there is no folder {folder}; set PYTERRIER_ASL_DATA")
    return folder


@pytest.fixture(scope="session")
def vaswani():
    """ir_datasets' vaswani; its files must be in ir_datasets' home."""
    import ir_datasets

    home = Path(os.environ.get("IR_DATASETS_HOME", Path.home() / ".ir_datasets"))
    if not (home / "vaswani").is_dir():
        _missing("data", f"there is no {home / 'vaswani'}")
    return ir_datasets.load("vaswani")


@pytest.fixture(scope="session")
def java() -> None:
    """A running Java with Terrier in it."""
    try:
        import pyterrier as pt

        if not pt.java.started():
            pt.java.init()
    except Exception as error:  # whatever is missing, the reason is the message
        _missing("java", f"Java or Terrier cannot be had: {type(error).__name__}: {error}")


@pytest.fixture(scope="session")
def registry(tmp_path_factory) -> None:
    """A package registry, or a cache, from which pip can install."""
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "setuptools"]
    done = subprocess.run(
        fetch, cwd=tmp_path_factory.mktemp("registry"), capture_output=True, text=True
    )
    if done.returncode:
        _missing("registry", f"pip cannot fetch packages: {done.stderr.strip()[-200:]}")


@pytest.fixture(scope="session")
def expansion() -> None:
    """RM3 and Bo1 of PyTerrier that take a TerrierIndex."""
    import pyterrier as pt

    if pt.__version__ in ("1.0.0", "1.0.1"):
        pytest.skip("PyTerrier's query expansion takes no TerrierIndex before 1.0.2")


@pytest.fixture(scope="session")
def vectors(data: Path) -> dict:
    """Worked examples of every measure, beside the data."""
    path = data.parent / "vectors.json"
    if not path.is_file():
        _missing("data", f"there is no {path}")
    return json.loads(path.read_text())
