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
from pyterrier_asl.analysis.registry import LEGENDS, Analysis
from pyterrier_asl.cli import options

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


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """The folder the command is run in: qrels, other (judgements), runs/, and tables."""
    monkeypatch.chdir(tmp_path)
    write_qrels(QRELS, "qrels")
    grades = {q: dict(zip(of, (np.arange(7) % 2 + [*of.values()]) % 3)) for q, of in QRELS.items()}
    write_qrels(grades, "other")
    Path("runs").mkdir()
    for name, run in RUNS.items():
        write_run(run, f"runs/{name}.run")
    (tmp_path / "groups").write_text("a.run\tX\nb\tX\nc\tY\nd\tY\n")
    (tmp_path / "types").write_text("a\tmanual\nb\tautomatic\nc\tmanual\nd\tautomatic\n")

    DocLengths.from_dict(dict.fromkeys(DOCNOS, 100), name="hundred").save("words.parquet")
    return tmp_path


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
    given = {"qrels": ["qrels"], "runs": ["runs"]}
    said = [word for pair in SAID.get(analysis.name, {}).items() for word in pair]
    return [analysis.name, *(word for what in analysis.takes for word in given[what]), *said]


# The registry


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_what_is_said_of_an_analysis(analysis):
    assert analysis.what.endswith("?") and len(analysis.what) <= 70
    for name in analysis.required - {"runs", "qrels"}:
        assert name not in options.PYTHON_ONLY, "what is required can be typed"


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_each_name_gives_its_table_with_a_legend_of_columns_that_are_no_words(files, analysis):
    found = rows(*arguments(analysis))
    assert found or analysis.name in EMPTY
    text = call(*arguments(analysis)).stdout
    assert text.splitlines()[0] == f"{analysis.what} ({analysis.source})"
    assert len(text.splitlines()) >= len(found) + 4 or analysis.hidden
    each = rows(*arguments(analysis), "--each") if analysis.name == "reordering" else []
    for name in {name for of in (found, each) for row in of for name in row}:
        is_measure = re.fullmatch(r"(P|R|AP|ASL|Judged)(\(.*\))?(@\d+)?", name)
        assert re.fullmatch(r"[a-z]{3,}|to", name) or is_measure or name in LEGENDS, name
    columns = [line for line in text.splitlines() if line][1].split()
    assert all(f"{name}: {LEGENDS[name]}" in text for name in columns if name in LEGENDS)


@pytest.mark.parametrize("name", ["ties", "cycles"])
def test_a_table_has_the_same_rows_and_columns_in_every_format(files, name):
    [analysis] = (one for one in ANALYSES if one.name == name)
    found = rows(*arguments(analysis))
    tsv = call(*arguments(analysis), "-o", "tsv").stdout.splitlines()
    assert len(tsv) == len(found) + 1
    assert not found or tsv[0].split("\t") == list(found[0])
    assert r"\toprule" in call(*arguments(analysis), "-o", "latex").stdout


def same(found: list[dict], frame: pd.DataFrame) -> None:
    expected = json.loads(frame.to_json(orient="records", double_precision=15))
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True)


def test_each_judge_has_a_minimum_grade_of_its_own(files):
    from pyterrier_asl.analysis import assessor_scores

    rel = {"second": 1, "qrels": 2}
    said = ["--judge", "second=other", "--judge-rel", "second=1", "--judge-rel", "qrels=2"]
    expected = assessor_scores("qrels", {"second": "other"}, judge_rel=rel)
    same(rows("assessor-scores", "qrels", *said), expected)
    said = ["--judge", "second=other", "--judge-rel", "2"]
    assert rows("assessor-scores", "qrels", *said) == rows(
        "assessor-scores", "qrels", "--judge", "second=other", "--judge-rel", "second=2"
    )


REQUIRED = [
    (one, name) for one in ANALYSES for name in sorted(one.required - {"runs", "qrels", "judges"})
]


@pytest.mark.parametrize("one, name", REQUIRED, ids=lambda x: getattr(x, "name", x))
def test_a_required_option_that_is_missing_is_named(files, one, name):
    given = {"qrels": ["qrels"], "runs": ["runs"]}
    result = call(one.name, *(word for what in one.takes for word in given[what]))
    assert result.exit_code == 2 and "Missing option '--" in result.stderr


TRACKS = ["-t", "one", "qrels", "runs", "--track", "two", "other", "runs"]


def test_several_tracks(files):
    from pyterrier_asl.analysis.techniques import compare_techniques

    tracks = {"one": ("runs", "qrels"), "two": ("runs", "other")}
    techniques = rows(
        "compare-techniques", *TRACKS, "--old", "a", "--new", "one=b", "--new", "two=c"
    )
    same(techniques, compare_techniques(tracks, old="a", new={"one": "b", "two": "c"}))


@pytest.mark.parametrize("analysis", [one for one in ANALYSES if one.tracks], ids=lambda a: a.name)
def test_every_analysis_of_tracks_is_shown_and_drawn_of_two(files, monkeypatch, analysis):
    pytest.importorskip("altair")
    said = [word for pair in SAID.get(analysis.name, {}).items() for word in pair]
    spec = drawn(monkeypatch, analysis.name, *TRACKS, *said)
    assert explained(spec)
    if analysis.name != "reordering":
        assert '"two"' in json.dumps(spec["datasets"]) or "two" in json.dumps(spec)
        assert "two" in call(analysis.name, *TRACKS, *said).stdout
    assert "-t dl19 dl19.qrels dl19-runs/" in call(analysis.name, "--help").stdout


def test_notes_name_the_runs_that_were_chosen_for_want_of_a_name(files):
    names = ["--a", "a", "--b", "b"]
    both, second, none = (
        call("search-length-changes", "qrels", "runs", *names[:end]).stdout.splitlines()[-1]
        for end in (0, 2, 4)
    )
    assert re.search(r"; chosen: \w+, \w+; runs", both)
    assert re.search(r"; chosen: \w+; runs", second) and "chosen" not in none


def test_notes_say_how_it_was_tested(files):
    text = call("compare-techniques", "qrels", "runs", "--old", "a", "--new", "b").stdout
    assert text.splitlines()[-1].startswith("test: t; correction: holm; alpha: 0.05; family: 4")


# Charts


def drawn(monkeypatch, *said: str) -> dict:
    """The Vega-Lite in the page that a command saves, which Altair has validated."""
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "vl_convert", None)  # adds megabytes of scripts to the page
        result = call(*said, "--chart", "drawn.html", "-o", "tsv")
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines()[-1] == "wrote drawn.html"
    page = Path("drawn.html").read_text()
    return json.JSONDecoder().raw_decode(page, re.search(r"spec = (?={)", page).end())[0]


def explained(spec: dict, title_ends: str = "") -> bool:
    title = spec["title"]
    return title["text"].endswith(title_ends) and len(" ".join(title["subtitle"])) > 40


def test_charts_as_pictures(files):
    pytest.importorskip("vl_convert")
    assert (
        call("search-length-distribution", "qrels", "runs", "--chart", "drawn.svg").exit_code == 0
    )
    assert (files / "drawn.svg").read_text().startswith("<svg")


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


def test_a_figure_is_a_name_of_its_analysis(files):
    assert rows("diaz-table-3", "qrels", "runs") == rows("ties", "qrels", "runs")


def test_the_list_names_the_command_of_the_table_of_clarke():
    listed = call("--list").stdout
    assert "pyterrier-asl tune" in listed.partition("Clarke 2019:")[2]


def test_the_depth_of_rareness_is_printed_and_in_help(files):
    whole = call("rare-documents", "qrels", "runs").stdout
    assert whole.splitlines()[-1] == "depth: the whole ranking"
    top = call("rare-documents", "qrels", "runs", "--depth", "2").stdout
    assert top.splitlines()[-1] == "depth: the first 2"
    for name in ("rare-documents", "rare-finds"):
        text = " ".join(call(name, "--help").stdout.split())
        assert "rareness of P_Rareness@100. [default: the whole ranking, as in Table 4]" in text


def test_help_has_the_analyses_and_each_its_options():
    text = call("--help").stdout
    assert "analyze ties dl20.qrels" in text and "stability" in text and "turkmen-table-2" in text
    text = " ".join(call("reordering", "--help").stdout.split())
    assert "step by step, from AP to ASL?" in text
    assert "2022, Table 2. Other names: alex-table-2." in text
    margin = "The least difference of a better system, relative to the mean of the worse system."
    assert f"--margin FLOAT {margin} [default: 0.1]" in text  # the sentence of the docstring
    assert "--draws" not in text


BOTH = ["qrels", "runs"]


@pytest.mark.parametrize(
    "said, message",
    [
        (["tie"], "no analysis is called 'tie': did you mean ties?"),
        (["alex-figure-1"], "did you mean run-quality or headroom?"),
        (["clarke-table-2"], "pyterrier-asl tune makes it"),
        (["zzz"], "no analysis is called 'zzz': see analyze --list"),
        (["stability", *BOTH, "--fuzz", "nan"], "fuzz is nan: it must be a number from 0"),
        (["reordering", *BOTH, "--margin", "-1"], "margin is -1.0: it must be a number"),
        (["discriminative-power", *BOTH, "--level", "1"], "level is 1.0, but it is a"),
        (["preference-discrimination", *BOTH, "--level", " "], "no level of significance"),
        (["agreement-by-number-of-systems", *BOTH, "--sizes", "1"], "from 2 on, not 1"),
        (["ties", *BOTH, "--rel", "-1"], "rel is -1.0: it must be a number from 0"),
        (["compare-techniques", *BOTH, "--old", "a", "--new", "z"], "there is no run 'z'"),
        (["ties", "", "runs"], "an argument is empty, perhaps a variable"),
        (["ties", "qrels"], "Missing argument 'RUN...'"),
        (["ties", "qrels", "gone"], "there is no file or folder gone"),
        (["ties", *BOTH, "--draws", "3"], "No such option"),
        (["agreement-by-alpha", *BOTH, "--alphas", "high"], "'high' is no list of numbers"),
        (["agreement-by-number-of-systems", *BOTH, "--sizes", ".5"], "no list of whole numbers"),
        (["headroom"], "give QRELS and RUN..., or --track for each track"),
        (["headroom", "qrels"], "Missing argument 'RUN...'"),
        (["headroom", *BOTH, *TRACKS], "or --track for each track"),
        (["headroom", *TRACKS[:4], *TRACKS[:4]], "track 'one' is given twice"),
        (["satisfaction", *TRACKS, "--judge", "x=other"], "judges can be given for one track"),
        (["headroom", *TRACKS, "--rel", "three=2"], "rel names 'three', which is none of the tr"),
        (["compare-techniques", *TRACKS, "--old", "one=a", "--new", "b"], "no run of track 'two'"),
        (["assessor-scores", "qrels", "--judge", "other"], "'other' is not NAME=QRELS"),
        (["discriminative-power", *BOTH, "--test", "z"], "test 'z' is unknown"),
        (["headroom", *BOTH, "--chart", "c.doc"], "c.doc must end in one of .html"),
        (["headroom", *BOTH, "--chart", "no/c.svg"], "there is no folder no"),
    ],
)
def test_what_cannot_be_analyzed(files, said, message):
    result = call(*said)
    assert result.exit_code == 2, result.output
    assert message in result.stderr.splitlines()[-1]
