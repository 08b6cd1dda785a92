"""``pyterrier-asl analyze``: each name is its function's table, and options reach the function."""

import inspect
import json
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _calls import analyze as call
from _calls import analyzed as rows
from _files import write_qrels, write_run

from pyterrier_asl import DocLengths
from pyterrier_asl.analysis import registry
from pyterrier_asl.analysis.legends import LEGENDS
from pyterrier_asl.analysis.registry import Analysis

ANALYSES = registry.analyses()
QUERIES = ["q1", "q2", "q3", "q4", "q5", "q6"]
DOCNOS = [f"d{number}" for number in range(10)]


def made_up() -> tuple[dict, dict]:
    draw = np.random.default_rng(3)
    grades = {q: {d: int(draw.integers(0, 3)) for d in DOCNOS[:7]} for q in QUERIES}
    runs = {
        name: {q: {d: float(draw.normal()) for d in draw.permutation(DOCNOS)[:6]} for q in QUERIES}
        for name in ("a", "b", "c", "d")
    }
    return grades, runs


QRELS, RUNS = made_up()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("analyze")
    write_qrels(QRELS, path / "qrels")
    grades = {q: dict(zip(of, (np.arange(7) % 2 + [*of.values()]) % 3)) for q, of in QRELS.items()}
    write_qrels(grades, path / "other")
    (path / "runs").mkdir()
    for name, run in RUNS.items():
        write_run(run, path / "runs" / f"{name}.run")
    (path / "groups").write_text("a.run\tX\nb\tX\nc\tY\nd\tY\n")
    (path / "types").write_text("a\tmanual\nb\tautomatic\nc\tmanual\nd\tautomatic\n")
    DocLengths.from_dict(dict.fromkeys(DOCNOS, 100), name="hundred").save(path / "words.parquet")
    return path


@pytest.fixture
def files(folder, monkeypatch) -> Path:
    """The folder the command is run in: qrels, other (judgements), runs/, and tables."""
    monkeypatch.chdir(folder)
    return folder


#: Options that an analysis requires, or that make it fast.
SAID = {
    "compare-techniques": {"--old": "a", "--new": "b"},
    "preference-levels": {"--documents": "9", "--relevant": "1,5"},
    "tie-probability": {"--documents": "9", "--relevant": "1,5", "--ranks": "1 2"},
    "synthetic-systems": {"--qid": "q2", "-k": "3"},
    "rareness-by-pool": {"--types": "types"},
    "rareness-without-own-group": {"--groups": "groups"},
    "assessor-scores": {"--judge": "second=other"},
    "compare-with-assessors": {"--judge": "second=other"},
    "human-range": {"--judge": "second=other", "--types": "types"},
    "preference-discrimination": {"--draws": "20"},
    "stability": {"--draws": "20"},
    "agreement-by-number-of-systems": {"--draws": "20"},
    "missing-labels": {"--draws": "2", "--fractions": ".5,1"},
    "missing-queries": {"--draws": "2"},
    "ties-with-missing-labels": {"--draws": "2", "--fractions": ".5,1"},
    "lengths-by-rank": {"--lengths": "words.parquet"},
}
#: Analyses without rows for these runs.
EMPTY = ("cycles",)


def arguments(analysis: Analysis) -> list[str]:
    said = [word for pair in SAID.get(analysis.name, {}).items() for word in pair]
    return [analysis.name, *analysis.takes, *said]


# The registry


def test_every_table_and_figure_of_the_analyses_has_a_name():
    folder = Path(registry.__file__).parent
    made = set()
    for path in folder.glob("[a-z]*.py"):
        if path.stem == "registry":
            continue
        module = import_module(f"pyterrier_asl.analysis.{path.stem}")
        for name, one in vars(module).items():
            if inspect.isfunction(one) and one.__module__ == module.__name__ and name[0] != "_":
                signature = inspect.signature(one)
                about = next(iter(signature.parameters), "") in ("runs", "qrels", "judges")
                if about and signature.return_annotation == "pd.DataFrame":
                    made.add(one)
    assert made == {one.function for one in ANALYSES if one.takes}


# Tables


#: Columns whose names say all.
PLAIN = set(
    "run runs system systems group judge measure preference predictor change track qid docno grade "
    "documents topics queries draws samples test correction kind rank old new to".split()
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_each_name_gives_its_table_with_a_legend_of_columns_that_are_no_words(files, analysis):
    """The tables are those of the functions: contract/test_options_of_analyses.py."""
    head, _, columns, *lines = call(*arguments(analysis)).stdout.splitlines()
    assert head == f"{analysis.what} ({analysis.source})"
    assert lines.index("") > 1 or analysis.name in EMPTY
    names, texts = columns.replace(", ", ",").split(), LEGENDS[analysis.function.__name__]
    for name in names:
        is_measure = re.fullmatch(r"(P|R|AP|ASL|Judged)(\(.*\))?(@\d+)?", name)
        assert is_measure or name in PLAIN | {*texts}, name
        assert sum(line.startswith(f"{name}: ") for line in lines) == (name in texts), name


COMPARED = "compare-techniques --old a --new b"


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (COMPARED, "p_corrected: p, corrected for all"),
        (f"{COMPARED} --correction none", "p_corrected: p, as there is no correction"),
        (
            f"{COMPARED} --test wilcoxon",
            "effect: difference of the rank sums / their sum (wilcoxon)",
        ),
        (
            "system-preferences",
            "effect: (wins - losses) / both (sign); mean difference / standard "
            "deviation of differences (t)",
        ),
        ("system-preferences", "p_corrected: p, corrected for all pairs of the preference"),
        ("run-quality --rel 2", "ASL(rel=2)@g1-10: ASL of the first 10 relevant"),
        ("cycles --preference rrLP", "preference: rrLP"),
        ("search-length-changes", "low: least difference of the bin"),
        ("search-length-distribution", "low: shortest search length of the bin"),
        ("human-range --judge second=other", "low: MAP of the judge in the worst order"),
        ("rare-finds --few 1", "depth: the whole ranking; few: 1"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_column_has_the_legend_of_its_analysis_and_options(files, said, line):
    name, *options = said.split()
    assert f"\n{line}" in call(name, "qrels", "runs", *options).stdout


def same(found: list[dict], frame: pd.DataFrame) -> None:
    expected = json.loads(frame.to_json(orient="records", double_precision=15))
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True)


REQUIRED = [
    (one, name) for one in ANALYSES for name in sorted(one.required - {"runs", "qrels", "judges"})
]


@pytest.mark.parametrize("one, name", REQUIRED, ids=lambda x: getattr(x, "name", x))
def test_a_required_option_that_is_missing_is_named(files, one, name):
    result = call(one.name, *one.takes)
    assert result.exit_code == 2 and "Missing option '--" in result.stderr


TRACKS = ["-t", "one", "qrels", "runs", "--track", "two", "other", "runs"]


def test_several_tracks(files, monkeypatch):
    from pyterrier_asl.analysis.techniques import compare_techniques

    pytest.importorskip("altair")
    tracks = {"one": ("runs", "qrels"), "two": ("runs", "other")}
    said = ["compare-techniques", *TRACKS, "--old", "a", "--new", "one=b", "--new", "two=c"]
    same(rows(*said), compare_techniques(tracks, old="a", new={"one": "b", "two": "c"}))
    spec = drawn(monkeypatch, *said)
    assert '"two"' in json.dumps(spec) and len(" ".join(spec["title"]["subtitle"])) > 40


@pytest.mark.parametrize("analysis", [one for one in ANALYSES if one.tracks], ids=lambda a: a.name)
def test_every_analysis_of_tracks_is_shown_of_two(files, analysis):
    name, _, _, *said = arguments(analysis)
    shown = call(name, *TRACKS, *said)
    assert shown.exit_code == 0 and ("two" in shown.stdout or analysis.name == "reordering")
    assert "-t dl19 dl19.qrels dl19-runs/" in call(analysis.name, "--help").stdout


def test_notes_name_the_runs_that_were_chosen_for_want_of_a_name(files):
    names = ["--a", "a", "--b", "b"]
    both, second, none = (
        call("search-length-changes", "qrels", "runs", *names[:end]).stdout.splitlines()[-1]
        for end in (0, 2, 4)
    )
    assert re.search(r"; chosen: \w+, \w+; runs", both)
    assert re.search(r"; chosen: \w+; runs", second) and "chosen" not in none


# Charts

BOTH = ["qrels", "runs"]


def drawn(monkeypatch, *said: str) -> dict:
    """The Vega-Lite in the page that a command saves, which Altair has validated."""
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "vl_convert", None)  # adds megabytes of scripts to the page
        result = call(*said, "--chart", "drawn.html", "-o", "tsv")
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines()[-1] == "wrote drawn.html"
    page = Path("drawn.html").read_text()
    return json.JSONDecoder().raw_decode(page, re.search(r"spec = (?={)", page).end())[0]


# Help and errors


def test_list_begins_with_questions_and_names_figures():
    listed = call("--list").stdout
    text = "".join(listed.split())
    headings = [line.strip() for line in listed.splitlines() if line.endswith(":")]
    questions = [question.removesuffix("?") for question in registry.QUESTIONS]
    assert headings == [f"{heading}:" for heading in (*questions, *registry.PAPERS)]
    for one in ANALYSES:
        entry = f"{one.name}{one.what}({','.join(one.figures)})"
        assert entry.replace(" ", "") in text  # lines break at hyphens, too
    assert "pyterrier-asl tune" in listed.partition("Clarke 2019:")[2]


def test_a_figure_is_a_name_of_its_analysis(files):
    assert rows("diaz-table-3", *BOTH) == rows("ties", *BOTH)


def test_help_has_the_analyses_and_each_its_options():
    text = call("--help").stdout
    assert "analyze ties dl20.qrels" in text and "stability" in text and "turkmen-table-2" in text
    text = " ".join(call("reordering", "--help").stdout.split())
    assert "step by step, from AP to ASL?" in text
    assert "2022, Table 2. Other names: alex-table-2." in text
    margin = "The least difference of a better system, relative to the mean of the worse system."
    assert f"--margin FLOAT {margin} [default: 0.1]" in text  # the sentence of the docstring
    assert "--draws" not in text
