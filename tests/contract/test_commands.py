"""Tables, forms, decimals, notes and texts that commands print, compared with the results.

The options of functions are in test_options.py; here are those that only commands have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import _options
import _small
import click
import pandas as pd
import pytest
from _calls import call, rows
from _datasets import register
from _files import write_qrels
from _reports import data_of
from ir_datasets.formats import GenericQuery
from test_options import assert_same_rows, rows_of

import pyterrier_asl as asl
from pyterrier_asl.cli import main

pytestmark = pytest.mark.filterwarnings("ignore")

MEASURE, TWO = "R@10", ("charlie", "bravo")
TEXT = {"q3": "waves", "q11": "a transistor"}


def given(*, two: bool = False, data: str = "plain", swapped: bool = True) -> tuple[Any, Any]:
    """Runs and qrels of frames; swapped: the rows are in another order than in the files."""
    runs, qrels = _options.frames(data)
    if swapped:
        runs, qrels = _options.inputs(_options.SETTINGS[0], data, {}, names=False, keep=("qid",))
    return {name: run for name, run in runs.items() if name in TWO or not two}, qrels


@cache
def words(command: str, data: str = "plain") -> tuple[str, ...]:
    """A command with its inputs and these options; ``two`` after its name: of two runs."""
    name, *options = command.split()
    paths = _options.words_of_inputs(_options.SETTINGS[0], data)
    if "two" in options:
        options.remove("two")
        paths = [paths[0], *(str(_options.files(data)[0][run]) for run in TWO)]
    shares = {"audit": {"m": 0.7}, "judges": {"x": 0.7, "y": 0.5}}.get(name, {})
    for judge, share in shares.items():
        path = write_qrels(_options.judged_by(share), _small.folder() / f"of-{judge}")
        options += ["--judge", f"{judge}={path}"]
    if name == "audit":
        paths[0] = str(write_qrels(_options.people(), _small.folder() / "people-of-audit"))
    if name == "judges":
        options += ["--draws", "30", "--reference", "r"]
    is_analysis = name == "analyze"
    return (name, *options, *paths) if is_analysis else (name, *paths, "-m", MEASURE, *options)


@cache
def result(name: str, two: bool = False, data: str = "plain") -> Any:
    """The result of the function of a command."""
    runs, qrels = given(two=two, data=data)
    if name == "judges":
        judges = _options.judges_of(0.7, 0.5)(_options.SETTINGS[0])
        return asl.judges(qrels, judges, runs, MEASURE, reference="r", draws=30)
    if name == "audit":
        return asl.audit(runs, _options.people(), MEASURE, _options.judged_by(0.7), name="m")
    return getattr(asl, name)(runs, qrels, MEASURE)


def ranked_means() -> pd.DataFrame:
    """The means, and the intervals of ranks, of the runs, a row per value."""
    table = result("ranks").table.rename(columns={"name": "run", "mean": MEASURE})
    table = table.rename(columns={"low": f"{MEASURE} rank low", "high": f"{MEASURE} rank high"})
    names = [MEASURE, f"{MEASURE} rank low", f"{MEASURE} rank high"]
    return table.melt(["run"], names, var_name="measure")


def with_texts(table: pd.DataFrame, at: int | None = None) -> pd.DataFrame:
    table = table.copy()
    texts = table["qid"].map(TEXT).fillna("")
    table.insert(table.shape[1] if at is None else at, "query", texts)
    return table


#: Command -> the table of the library.
TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "compare -q": lambda: result("compare").by_query,
    "compare two --show documents --all": lambda: result("compare", two=True).moved.drop(
        columns="run", errors="ignore"
    ),
    "compare two --show documents --topics TEXTS": lambda: with_texts(
        result("compare", two=True).moved.drop(columns="run", errors="ignore")
    ),
    "compare -q --topics TEXTS": lambda: with_texts(result("compare").by_query),
    "ranks --pairs": lambda: result("ranks").pairs(),
    "ranks --show queries": lambda: (
        result("ranks").values.T.rename_axis(index="qid", columns=None).reset_index()
    ),
    "evaluate --ranks": ranked_means,
    "holes two -q": lambda: result("holes", two=True).difference.by_query,
    "holes two -q --topics TEXTS": lambda: with_texts(
        result("holes", two=True).difference.by_query, at=1
    ),
    **{
        f"judges --show {name}": lambda name=name: getattr(result("judges"), name)
        for name in "agreement differences reversals confusion".split()
    },
}


@pytest.fixture
def texts(tmp_path) -> str:
    path = tmp_path / "texts"
    path.write_text("".join(f"{qid}\t{text}\n" for qid, text in TEXT.items()))
    return str(path)


@pytest.mark.parametrize("command", TABLES)
def test_a_table_is_that_of_the_result(command, texts):
    said = [texts if word == "TEXTS" else word for word in words(command)]
    assert_same_rows(rows(call(*said, "-o", "jsonl")), rows_of(TABLES[command]()))


@pytest.mark.parametrize("options", ["", "--ranks", "-q"])
@pytest.mark.parametrize("measure", [MEASURE, "ASL@10"])
def test_evaluate_sorts_values_with_their_runs(options, measure):
    said = [*words("evaluate"), "-m", "ASL@10", *options.split(), "-s", measure, "-o", "jsonl"]
    found = rows(call(*said))
    table = asl.evaluate(*given(), [MEASURE, "ASL@10"], long=True)
    means = table.groupby(["name", "measure"])["value"].mean()
    order = means.unstack()[measure].sort_values(ascending=measure != MEASURE).index.tolist()
    assert list(dict.fromkeys(row["run"] for row in found)) == order
    by_query = table.set_index(["name", "measure", "qid"])["value"].to_dict()
    expected = by_query | {(*key, "all"): value for key, value in means.items()}
    values = {(r["run"], r["measure"], r.get("query_id", "all")): r["value"] for r in found}
    values = {key: value for key, value in values.items() if "rank" not in key[1]}
    assert values == pytest.approx({key: expected[key] for key in values})
    if options == "--ranks":
        own = [row for row in found if MEASURE in row["measure"]]
        assert_same_rows(own, rows_of(ranked_means()))


#: Commands whose tables have numbers with decimals.
OF_NUMBERS = [
    "evaluate", "evaluate -q", "evaluate --ranks", "evaluate --ties", "compare", "compare -q",
    "ranks", "ranks --pairs", "ranks --show queries", "holes", "holes two", "holes two -q",
    "judges two", "judges two --show agreement", "judges two --show differences", "audit",
    "analyze run-quality",
]  # fmt: skip


@pytest.mark.parametrize("command", OF_NUMBERS)
def test_numbers_have_the_places_that_are_asked_for(command):
    for form in ("table", "latex", "tsv"):
        if command == "judges two" and form == "tsv":
            continue  # which table?
        done = call(*words(command), "-o", form, "-p", "7")
        assert done.exit_code == 0, done.stderr
        assert re.search(r"\d\.\d{7}\b", done.stdout), form


def test_the_grades_of_tracks_are_named():
    said = _options.words_of_inputs(_options.Setting("several"))
    done = call("analyze", "effective-share", *said, "--rel", "one=2", "--rel", "two=1")
    assert "rel: 2 of one, 1 of two" in done.stdout


@pytest.fixture
def datasets(monkeypatch) -> None:
    """Two datasets with their names in their texts."""
    qrels: dict[str, dict[str, int]] = {}
    for qid, docno, label in _options.frames()[1].itertuples(index=False):
        qrels.setdefault(qid, {})[docno] = int(label)
    for name in ("one", "two"):
        queries = [GenericQuery(qid, f"{name} {qid}") for qid in _small.QUERIES]
        docs = {docno: f"{name} {docno}" for docno in _options.TEXTS}
        register(monkeypatch, f"of/{name}", qrels, queries, docs)


def of_dataset(command: str, *more: str) -> list[str]:
    name, _, *rest = words(command)
    return [name, "irds:of/one", *rest, *more]


@pytest.mark.parametrize(("options", "expected"), [([], "one q3"), (["--topics"], "waves")])
def test_queries_are_shown_with_the_text_that_is_given_else_that_of_the_dataset(
    datasets, texts, options, expected
):
    options = [*options, texts] if options else []
    found = rows(call(*of_dataset("compare two -q", *options, "-o", "jsonl")))
    assert {row["query"] for row in found if row["qid"] == "q3"} == {expected}


def test_documents_to_judge_have_the_texts_of_the_named_dataset(datasets, texts, tmp_path):
    todo = tmp_path / "todo.jsonl"
    for options, query, text in (
        ([], "one q3", "one d"),
        (["--dataset", "irds:of/two"], "two q3", "two d"),
        (["--dataset", "irds:of/two", "--topics", texts], "waves", "two d"),
    ):
        todo.unlink(missing_ok=True)
        done = call(*of_dataset("holes two", "--export", str(todo), *options))
        assert done.exit_code == 0, done.stderr
        listed = [json.loads(line) for line in todo.read_text().splitlines()]
        assert {row["query"] for row in listed if row["qid"] == "q3"} == {query}
        of_docs = [row["text"] for row in listed if row["docno"].startswith("d")]
        assert of_docs and all(row.startswith(text) for row in of_docs)


def test_a_pool_is_that_of_the_function(tmp_path):
    path = tmp_path / "made"
    done = call("pool", *words("evaluate")[2:6], "-o", str(path), "--depth", "3", "--name", "mine")
    assert done.exit_code == 0, done.stderr
    runs = {name: given()[0][name] for name in _options.frames()[0]}
    made = asl.RarenessPool.from_runs(runs, depth=3, name="mine")
    assert repr(asl.RarenessPool.load(path)) == repr(made)


def test_a_page_is_that_of_the_function_with_all_options(tmp_path):
    pytest.importorskip("vl_convert", reason="reports need '.[report]'")
    options = {
        "measures": ["AP_Rareness@10", "TBG(missing_length=99)"],
        "judges": _options.judges_of(0.7, 0.5)(_options.SETTINGS[0]),
        "judge_rel": {"x": 2},
    }
    options |= {"topics": _options.TEXTS, "docs": _options.TEXTS, "groups": _options.GROUPS}
    options |= {"title": "A title", "note": "A note", "lengths": _options.lengths()}
    options |= {"people": ["x"], "rel": 2, "cutoff": 5, "alpha": 0.3}
    path = tmp_path / "page.html"
    command = main.get_command(click.Context(main), "report")
    of_qrels = {"drop_self": True, "labels": _small.labels()}
    said = _options.words_of(command, options | of_qrels)
    done = call("report", *_options.words_of_inputs(_options.SETTINGS[0]), *said, "-o", str(path))
    assert done.exit_code == 0, done.stderr
    runs, qrels = _options.files()
    page = asl.report(runs, asl.Qrels(qrels, **of_qrels), **options)
    shown = [
        re.sub(r"pyterrier-asl report [^\"<]*", "", one) for one in (path.read_text(), page.html)
    ]
    assert data_of(shown[0]) == data_of(shown[1])
    for text in ("A title", "A note", "text of q3", "text of d1"):
        assert all(text in f"{one} {data_of(one)}" for one in shown), text
    said = asl.report(runs, qrels, "P@5", command="a command").html
    assert "a command" in said and "a command" not in page.html
