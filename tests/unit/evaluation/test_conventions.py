"""The convention of values that another program computes: worked examples, inputs, sentences."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from _calls import call
from _files import write_qrels, write_run

from pyterrier_asl import explain, read_scores
from pyterrier_asl.evaluation.explanation import WORDS, words_of
from pyterrier_asl.scoring.conventions import parts_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

QUERIES = "of the qrels"


def run_of(rows):
    return pd.DataFrame(rows, columns=["qid", "docno", "rank", "score"])


@pytest.mark.slow
def test_every_worked_example(explain_vectors):
    """The conventions, the queries, the numbers of values that fit, and the nearest convention."""
    wrong = []
    for case in explain_vectors["cases"]:
        collection, answer = explain_vectors["collections"][case["collection"]], case["answer"]
        runs = {name: run_of(collection["runs"][name]) for name in case["values"]}
        found = explain(runs, collection["qrels"], case["measure"], case["values"])
        by_query = isinstance(next(iter(case["values"].values())), dict)
        if answer["explained"]:
            gives = found.conventions, found.queries, found.fit
            fit = (answer["fit"], answer["of"]) if "fit" in answer else None
            queries = answer.get("queries", QUERIES) if by_query else None
            expected = answer["conventions"], queries, fit
        else:
            nearest = found.table["convention"].tolist().index(words_of(found.near[0]))
            row = found.table.iloc[nearest]
            gives = found.conventions, found.near[0], found.more_changes, round(row["mean"], 6)
            more = answer.get("fits with more changes")
            mean = round(np.mean(answer["nearest gives"]), 6)
            expected = [], answer["nearest"], more, pytest.approx(mean, abs=2e-6)
        if gives != expected:
            wrong.append((case["title"], gives, expected))
    assert not wrong and len(explain_vectors["cases"]) > 50


def test_the_options_are_those_of_the_worked_examples(explain_vectors):
    for measure, options in explain_vectors["note"]["options"].items():
        kind, _, cutoff = measure.partition("@")
        parts = parts_of(kind, int(cutoff) if cutoff else None, [1, 2, 3], ranks=True)
        del options["queries"]
        assert parts == options and list(parts) == list(options)


def test_every_option_has_words_of_its_own():
    for measure in ("nDCG", "AP", "RR", "P", "R"):
        for part, options in parts_of(measure, 7, [1, 2.5], ranks=True).items():
            texts = [words_of({part: option}) for option in options[1:]]
            assert len({*texts}) == len(texts) and all("{" not in text for text in texts)
            assert part in WORDS


# By hand. The grades of the run: q1 0 3 - 1 (tied with -), q2 2 1; 1 / log2(3) = .6309.
QRELS = {"q2": {"e": 1, "d": 2}, "q1": {"x": 0, "b": 3, "c": 1, "n": 2}, "q3": {"n": 1}}
RUN = {"q1": {"x": 5.0, "b": 4.0, "c": 1.0, "z": 1.0}, "q2": {"d": 2.0, "e": 1.0}}
L3, L5 = math.log2(3), math.log2(5)
OURS = (3 / L3 + 1 / L5) / (3 + 2 / L3 + 1 / 2)
EXPONENTIAL = (7 / L3 + 1 / L5) / (7 + 3 / L3 + 1 / 2)


def test_values_come_as_dicts_frames_files_or_tables(tmp_path):
    """0.5000 in a file has four decimals, though it is the number 0.5."""
    by_query = {"q1": f"{EXPONENTIAL:.4f}", "q2": "1.0000", "q3": "0.0000"}
    assert abs(EXPONENTIAL - OURS) > 0.01
    lines = [f"ndcg\t{qid}\t{value}\n" for qid, value in reversed(by_query.items())]
    (tmp_path / "theirs.txt").write_text("".join([*lines, "ndcg\tall\t0.1\n"]))
    frame = pd.DataFrame({"qid": [*by_query], "score": [*by_query.values()], "text": "x"})
    numbers = {"q1": EXPONENTIAL, "q2": np.float32(1), "q3": 0}
    for values in (by_query, frame, tmp_path / "theirs.txt", str(tmp_path / "theirs.txt"), numbers):
        found = explain(RUN, QRELS, "ndcg", values)
        assert found.conventions == [{"gain": "2^grade - 1"}]
        assert found.explained and found.queries == QUERIES
    scores = read_scores(pd.DataFrame({"qid": [*numbers], "ndcg": [*numbers.values()]}))
    assert explain(RUN, QRELS, "nDCG", scores).conventions == [{"gain": "2^grade - 1"}]
    rounded = {qid: float(value) for qid, value in by_query.items()}
    found = explain(RUN, QRELS, "nDCG", rounded)
    assert not found.explained and "as text" in found.sentences()[1]


def test_decimals_are_of_the_value_with_the_most():
    half = {"q1": "0.5", "q2": "1", "q3": "0"}  # RR; by grade 3 alone q2 has 0
    assert explain(RUN, QRELS, "RR", half).conventions == [{}]
    assert explain(RUN, QRELS, "RR", {**half, "q1": "0.53"}).conventions == []
    assert explain(RUN, QRELS, "RR", {**half, "q1": "0.4"}).conventions == []
    assert explain(RUN, QRELS, "RR", 0.5).conventions == [{}]
    assert explain(RUN, QRELS, "RR", 0.5000001).conventions == []
    found = explain(RUN, QRELS, "RR", "0.7500")
    assert found.conventions == [{"queries": "answered"}]
    assert found.sentences()[0].startswith(
        "RR of run is computed with a mean over the answered queries: the mean fits to 4 decimals, "
    )


def test_several_runs_are_one_question():
    """b alone has trec_eval's value, but the convention of a gives it as well."""
    runs = {"b": {"q1": {"z": 2.0, "b": 1.0}}, "a": {"q1": {"x": 2.0, "b": 1.0}}}
    values, qrels = {"a": {"q1": "0.5000"}, "b": {"q1": "0.5000"}}, {"q1": {"x": 2, "b": 3}}
    assert explain(runs["b"], qrels, "RR", values["b"]).conventions == [{}]
    assert {} not in explain(runs["a"], qrels, "RR", values["a"]).conventions
    table = pd.DataFrame({"name": ["a", "b"], "qid": "q1", "RR": 0.5})
    for of_both in (values, table):
        found = explain(runs, qrels, "RR", of_both)
        assert {"relevant from": 3} in found.conventions and {} not in found.conventions
        assert found.by_query["name"].tolist() == ["a", "b"]


def test_queries_are_listed_by_their_difference_from_ours():
    theirs = {"q1": EXPONENTIAL, "q2": 1.0, "other": 0.3}
    found = explain(RUN, QRELS, "nDCG", theirs, name="hybrid")
    table = found.by_query
    assert table["name"].eq("hybrid").all() and table["qid"].tolist() == ["q1", "q2", "q3"]
    assert table["ours"].tolist() == pytest.approx([OURS, 1.0, 0.0])
    assert table["difference"].tolist()[:2] == pytest.approx([EXPONENTIAL - OURS, 0.0])
    assert table["value"].isna().tolist() == [False, False, True]
    assert found.queries == "answered"
    assert found.sentences() == [
        "nDCG of hybrid is computed with exponential gains (2^grade - 1): all 2 values by query "
        "fit to 1e-06.",
        "1 value of queries that the qrels lack: ignored.",
        "1 query has no value: those that the run does not answer.",
        f"Ours, trec_eval's, is {(OURS + 1) / 2:.4f}.",
    ]
    mean = explain(RUN, QRELS, "nDCG", f"{(EXPONENTIAL + 1) / 3:.4f}").by_query
    assert mean["value"].isna().all()
    assert mean["difference"].tolist()[0] == pytest.approx(EXPONENTIAL - OURS)


def test_what_no_convention_gives_is_not_claimed():
    found = explain(RUN, QRELS, "nDCG", {"q1": 52.5, "q2": 100, "q3": 0})
    first, percent, _, ours = found.sentences()
    assert first.startswith("No convention that is known gives nDCG of run. The nearest, with ")
    assert "fits 1 of 3 values" in first and "divide percentages by 100" in percent
    assert ours.startswith("Ours, trec_eval's, is 0.") and not found.explained
    assert found.table["deviation"].is_monotonic_increasing or len(found.table) > 2


def test_the_command_explains_a_mean_and_scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_run(RUN, "a.run")
    write_run(RUN | {"q1": RUN["q1"] | {"c": 10.0}}, "b.run")
    write_qrels(QRELS, "qrels")
    mean = f"{(EXPONENTIAL + 1) / 3:.4f}"
    done = call("explain", "qrels", "a.run", "-m", "ndcg", "--value", mean)
    said = " ".join(done.stdout.split())
    assert said.startswith("ndcg of a is computed with exponential gains (2^grade - 1): the mean")
    assert f"Ours, trec_eval's, is {(OURS + 1) / 3:.4f}." in said
    assert "does not answer" in done.stderr
    (tmp_path / "theirs.csv").write_text(f"qid,value\nq1,{EXPONENTIAL:.4f}\nq2,1.0000\n")
    arguments = ("explain", "qrels", "a.run", "-m", "ndcg", "--scores", "theirs.csv")
    rows = [json.loads(line) for line in call(*arguments, "-o", "jsonl").stdout.splitlines()]
    assert [row["fit"] for row in rows] == [1, 2] and rows[1]["changes"] == 1
    rows = [json.loads(line) for line in call(*arguments, "-q", "-o", "jsonl").stdout.splitlines()]
    assert [row["qid"] for row in rows][0] == "q1" and len(rows) == 3
    arguments = "explain", "qrels", "a.run", "b.run", "-m", "RR", "--value", "a=.5000"
    two = call(*arguments)
    assert two.exit_code == 2 and "names 'b'" in two.stderr
    two = call(*arguments, "--value", "b=.6666667")
    assert two.exit_code == 0 and "all 2 means fit" in " ".join(two.stdout.split())
    for wrong in ([], ["--value", "1", "--scores", "theirs.csv"]):
        refused = call("explain", "qrels", "a.run", "-m", "RR", *wrong)
        assert refused.exit_code == 2 and "give --value or --scores" in refused.stderr
