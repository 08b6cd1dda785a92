"""Values of options of analyses as text, and what is printed of the attributes of a table.
Tests of registry.py, inputs.py, asl_options.py, tables.py."""

import pandas as pd
import pytest

from pyterrier_asl.analysis.registry import PAPERS, QUESTIONS, analyses, find_analyses
from pyterrier_asl.cli import readers
from pyterrier_asl.cli.analyze import attributes_line

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
    ("name", "takes"),
    [("ties", ("qrels", "runs")), ("assessor-scores", ("qrels",)), ("tie-probability", ())],
)
def test_inputs_of_commands(name, takes):
    [analysis] = find_analyses(name)
    assert analysis.takes == takes


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
