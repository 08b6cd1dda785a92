"""Analyses by name and paper, and the values of their options (registry.py, readers.py)."""

import inspect
import subprocess
import sys

import pandas as pd
import pytest

import pyterrier_asl.analysis
from pyterrier_asl.analysis.registry import PAPERS, QUESTIONS, analyses, find_analyses
from pyterrier_asl.cli import readers
from pyterrier_asl.cli.analyze import attributes_line

NAMES = pyterrier_asl.analysis.__all__


def test_importing_the_package_imports_no_analysis():
    code = (
        "import sys, pyterrier_asl.analysis; "
        "print([m for m in sys.modules if m.startswith(('pyterrier_asl.analysis.', 'scipy.stats', "
        "'statsmodels', 'altair', 'numba'))])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_only_what_has_no_default_is_required_and_commands_can_pass_it():
    required = {analysis.name: analysis.required for analysis in analyses()}
    assert required["ties"] == {"runs"}
    assert required["tie-probability"] == {"n", "relevant", "ranks"}
    inputs = {"runs", "qrels", "qid", "pools", "groups", "judges", "old", "new"}
    assert set().union(*required.values()) == inputs | {"n", "relevant", "ranks"}


@pytest.mark.parametrize("analysis", analyses(), ids=lambda one: one.name)
def test_every_analysis_is_imported_from_the_package_and_has_the_parameters_of_its_function(
    analysis,
):
    name = analysis.function.__name__
    assert name in NAMES and name in dir(pyterrier_asl.analysis)
    assert getattr(pyterrier_asl.analysis, name) is analysis.function
    own = inspect.signature(analysis.function).parameters
    assert set(own) == set(analysis.parameters)
    code = analysis.function.__wrapped__.__code__
    written = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    assert list(own) == list(written), "without *args and **kwargs"
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


#: A function, texts, and what they are read as.
READ = [
    (readers.read_numbers(int), "1,2 4", [1, 2, 4]),
    (readers.read_numbers(float), "0.5, 1", [0.5, 1.0]),
    (readers.read_judges_by_name, ["m=x", "n=a=b"], {"m": "x", "n": "a=b"}),
    (
        readers.read_judges_of_tracks,
        ["t=m=x", "u=m=y", "t=n=z"],
        {"t": dict(m="x", n="z"), "u": dict(m="y")},
    ),
    (readers.read_grades, ["2"], 2.0),
    (readers.read_grades, ["1.5"], 1.5),
    (readers.read_grades, ["m=2"], {"m": 2.0}),
    (readers.read_grades, ["m=2", "n=0.5"], {"m": 2, "n": 0.5}),
    (readers.read_runs_of_tracks, ["bm25"], "bm25"),
    (readers.read_runs_of_tracks, ["t=bm25"], {"t": "bm25"}),
    (readers.read_runs_of_tracks, ["t=bm25", "u=tf"], {"t": "bm25", "u": "tf"}),
]


@pytest.mark.parametrize(("read", "text", "value"), READ)
def test_values_of_options(read, text, value):
    found = read(text)
    assert found == value and type(found) is type(value)


def test_files_of_options(tmp_path):
    (tmp_path / "types").write_text("a\tmanual\nb\tauto\nc\tmanual\n")
    assert readers.read_pools(str(tmp_path / "types")) == {"manual": ["a", "c"], "auto": ["b"]}


def test_attributes_are_one_line_without_what_does_not_hold():
    frame = pd.DataFrame({"x": [1]})
    assert attributes_line(frame) == ""
    frame.attrs = {"weighted": False, "chosen": [], "runs": 0, "ASL": 2.34567, "names": ["a", "b"]}
    frame.attrs |= {"old": {"t": "bm25", "u": "tf"}, "is": True, "test": "t"}
    assert attributes_line(frame) == (
        "runs: 0; ASL: 2.346; names: a, b; old: bm25 of t, tf of u; is: True; test: t"
    )


def test_analyses_are_listed_by_question_then_by_paper_then_by_figure():
    listed = [(analysis.heading, analysis.figure, analysis.name) for analysis in analyses()]
    headings = [*QUESTIONS, *PAPERS]
    assert listed == sorted(listed, key=lambda one: (headings.index(one[0]), *one[1:]))
    assert [found for *_, name in listed for found in find_analyses(name)] == analyses()
    assert find_analyses("nothing") == []
    assert all(len(analysis.what) <= 70 and analysis.what.endswith("?") for analysis in analyses())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("diaz-table-3", ["ties"]),
        ("Alex Figure 5", ["search-length-distribution"]),
        ("alex-figure-2", ["run-quality", "headroom"]),
        ("trotman-figure-3", ["satisfaction"]),
        ("Türkmen Table 4", ["rare-documents"]),
        ("alex-appendix-a.1", ["effective-share"]),
        ("diaz-table", []),
    ],
)
def test_analyses_are_found_by_figure(name, found):
    assert [analysis.name for analysis in find_analyses(name)] == found
