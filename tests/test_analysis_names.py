"""The analyses by their names: all at one place, imported when they are asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import pyterrier_asl.analysis
from pyterrier_asl.analyses import ANALYSES

NAMES = pyterrier_asl.analysis.__all__
#: Functions whose file is called as they are.
ALIKE = sorted({
    function
    for module, function in (one.function.split(".") for one in ANALYSES)
    if module == function
})  # fmt: skip


def python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("name", sorted({one.function for one in ANALYSES}))
def test_every_analysis_can_be_imported_from_the_package(name):
    module, function = name.split(".")
    assert function in NAMES and function in dir(pyterrier_asl.analysis)
    there = getattr(import_module(f"pyterrier_asl.analysis.{module}"), function)
    assert getattr(pyterrier_asl.analysis, function) is there


def test_a_name_is_the_function_whatever_was_imported_before():
    assert "headroom" in ALIKE and "ties" in ALIKE
    file = "import pyterrier_asl.analysis.{0}; "
    one_of_it = "from pyterrier_asl.analysis.{0} import {0}; "
    for before in ("", file, one_of_it):
        code = "".join(
            f"{before.format(name)}from pyterrier_asl.analysis import {name}; "
            f"import pyterrier_asl.analysis.{name}; "
            f"from pyterrier_asl.analysis import {name} as again; "
            f"assert {name} is again and callable({name}), {name}\n"
            for name in ALIKE
        )
        python(code)


def test_importing_the_package_imports_no_analysis():
    code = (
        "import sys, pyterrier_asl.analysis; "
        "print([m for m in sys.modules if m.startswith(('pyterrier_asl.analysis.', 'scipy.stats', "
        "'statsmodels', 'altair', 'numba'))])"
    )
    assert python(code) == "[]"


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pyterrier_asl.analysis.nothing  # noqa: B018
