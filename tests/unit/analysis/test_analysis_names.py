"""The analyses by their names: all at one place, imported when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pyterrier_asl.analysis
from pyterrier_asl.analysis.registry import analyses

NAMES = pyterrier_asl.analysis.__all__


def python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("one", analyses(), ids=lambda one: one.name)
def test_every_analysis_can_be_imported_from_the_package(one):
    name = one.function.__name__
    assert name in NAMES and name in dir(pyterrier_asl.analysis)
    assert getattr(pyterrier_asl.analysis, name) is one.function


def test_listing_the_analyses_imports_no_library_of_charts_or_statistics():
    code = (
        "import sys; from pyterrier_asl.analysis.registry import analyses; analyses(); "
        "print([m for m in sys.modules if m in ('scipy.stats', 'statsmodels', 'altair')])"
    )
    assert python(code) == "[]"


def test_importing_the_package_imports_no_analysis():
    code = (
        "import sys, pyterrier_asl.analysis; "
        "print([m for m in sys.modules if m.startswith(('pyterrier_asl.analysis.', 'scipy.stats', "
        "'statsmodels', 'altair', 'numba'))])"
    )
    assert python(code) == "[]"


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="attribute nothing"):
        pyterrier_asl.analysis.nothing  # noqa: B018


@pytest.mark.parametrize("analysis", analyses(), ids=lambda one: one.name)
def test_only_what_has_no_default_is_required(analysis):
    own = {"qrels", "runs", "qid", "pools", "groups", "judges", "n", "relevant", "ranks", "old"}
    assert analysis.required <= own | {"new", "assessors", "lengths"}
