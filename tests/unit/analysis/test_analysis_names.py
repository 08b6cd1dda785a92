"""The names of the analyses: all in one module, imported on first use (registry.py)."""

import inspect
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


def test_importing_the_package_imports_no_analysis():
    code = (
        "import sys, pyterrier_asl.analysis; "
        "print([m for m in sys.modules if m.startswith(('pyterrier_asl.analysis.', 'scipy.stats', "
        "'statsmodels', 'altair', 'numba'))])"
    )
    assert python(code) == "[]"


def test_only_what_has_no_default_is_required_and_commands_can_pass_it():
    required = {analysis.name: analysis.required for analysis in analyses()}
    assert required["ties"] == {"runs"}
    assert required["tie-probability"] == {"n", "relevant", "ranks"}
    inputs = {"runs", "qrels", "qid", "pools", "groups", "judges", "old", "new"}
    assert set().union(*required.values()) == inputs | {"n", "relevant", "ranks"}


@pytest.mark.parametrize("analysis", analyses(), ids=lambda one: one.name)
def test_the_parameters_match_the_function_itself(analysis):
    own = inspect.signature(analysis.function).parameters
    assert set(own) == set(analysis.parameters)
    assert not {parameter.kind for parameter in own.values()} & {
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    }
    code = analysis.function.__wrapped__.__code__
    written = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    assert list(own) == list(written)
    described = analysis.function.__doc__
    assert [name for name in own if f"\n    {name}: " not in described] == []


@pytest.mark.slow
def test_a_type_checker_sees_the_parameters(tmp_path):
    api = pytest.importorskip("mypy.api")
    (tmp_path / "calls.py").write_text(
        "from pyterrier_asl.analysis import headroom, ties\n"
        "reveal_type(ties)\n"
        "ties({}, {}, cutof=10)\n"
        "headroom({}, cutoff='ten')\n"
        "ties({}, {}, rel=2, cutoff=10)\n"
    )
    told, _, _ = api.run([str(tmp_path / "calls.py"), "--cache-dir", str(tmp_path / "cache")])
    here = [line.partition("calls.py:")[2] for line in told.splitlines() if "calls.py:" in line]
    (revealed,) = (line for line in here if "Revealed type" in line)
    assert "rel: Union[builtins.float, None] =" in revealed or "rel: float | None =" in revealed
    errors = [line for line in here if ": error: " in line]
    assert errors[0].startswith('3: error: Unexpected keyword argument "cutof"')
    assert errors[1].startswith('4: error: Argument "cutoff"')
    assert len(errors) == 2
