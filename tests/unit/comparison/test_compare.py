"""What is compared: measures, preferences, collections, contradictory qrels."""

import numpy as np
import pandas as pd
import pytest
from ir_measures import RR
from scipy.stats import binomtest

from pyterrier_asl import compare

QUERIES = [f"q{i}" for i in range(6)]
QRELS = {qid: {"a": 1, "b": 1, "n": 0} for qid in QUERIES}
LIVE = {qid: {"a": 3, "b": 2, "n": 1} for qid in QUERIES}
#: Unjudged documents above the relevant documents: possibly better.
OTHER = {qid: {f"x{i % 2}": 4 - 2.5 * (i % 3), "a": 3, "b": 2} for i, qid in enumerate(QUERIES)}


def test_differences_begin_with_the_largest_loss_by_the_first_measure():
    """The relevant documents of q3, q0 and q2 are at ranks 3, 2 and 1, and all are at 2 before.

    By the last measure the order is the reverse: q2 has fewer documents than before, q3 more.
    """
    qrels = {qid: {"a": 1} for qid in ("q0", "q2", "q3")}
    before = {qid: {"x": 2, "a": 1} for qid in qrels}
    now = {"q0": {"x": 2, "a": 1}, "q2": {"a": 1}, "q3": {"x": 3, "y": 2, "a": 1}}
    runs = {"live": before, "new": now, "old": before}
    found = compare(runs, qrels, ["RR", "ASL", "NumRet"]).differences()
    assert found["NumRet"].tolist()[:3] == [1, 0, -1]
    assert found["run"].tolist() == ["new"] * 3 + ["old"] * 3
    assert found["qid"].tolist()[:3] == ["q3", "q0", "q2"]
    assert found["RR"].tolist() == pytest.approx([1 / 3 - 1 / 2, 0, 1 / 2, 0, 0, 0])
    assert found["ASL"].tolist() == [1, 0, -1, 0, 0, 0]
    by_asl = compare(runs, qrels, ["ASL", "NumRet"]).differences()["ASL"]  # a loss is an increase
    assert by_asl.tolist() == [1, 0, -1, 0, 0, 0]


def test_preferences_are_tested_where_they_are_named_or_no_measure_is():
    runs = {"live": LIVE, "new": OTHER, "other": {q: {"b": 1} for q in QUERIES}}
    for measures, rows in [
        ("RR rrLP", ["RR", "rrLP"]),
        (("sgnLP", "RR"), ["RR", "sgnLP"]),
        (("rrLP",), ["rrLP"]),
    ]:
        assert compare(runs, QRELS, measures).table["measure"].unique().tolist() == rows
    assert compare(runs, QRELS).table["measure"].tolist()[-2:] == ["rrLP", "sgnLP"]
    guarded = compare(runs, QRELS, conditions=["AP worse", "rrLP worse"])
    assert guarded.table["measure"].unique().tolist() == ["AP", "rrLP"]


def run_at(ranks: list[str]) -> dict[str, dict[str, float]]:
    """A run whose relevant documents, of each query, are at these ranks from 1 to 9."""
    return {
        f"q{q}": {"abc"[of.index(n)] if n in of else f"x{n}": -float(n) for n in "123456789"}
        for q, of in enumerate(ranks)
    }


def test_the_queries_that_every_measure_of_ranks_decides_are_counted():
    qrels = {f"q{q}": dict.fromkeys("abc", 1) for q in range(6)} | {"last": {"a": 0}}
    runs = {
        "live": run_at(["14", "25", "3", "34", "129", "5"]),
        "new": run_at(["13", "245", "3", "25", "128", "6"]),  # more, more, equal, open, more, less
        "same": run_at(["14", "25", "3", "34", "129", "5"]),
        "bad": run_at(["", "26", "4", "35", "139", ""]),
        "open": run_at(["2", "16", "", "29", "239", "789"]),
    }
    compared = compare(runs, qrels, "AP")
    counts = compared.preferences.set_index("run")
    numbers = [[3, 1, 2, 1], [0, 0, 7, 0], [0, 6, 1, 0], [0, 3, 1, 3]]
    assert counts.iloc[:, :4].to_numpy().tolist() == numbers
    p = [binomtest(3, 4).pvalue, np.nan, binomtest(0, 6).pvalue, binomtest(0, 3).pvalue]
    assert counts["p_dominance"].tolist() == pytest.approx(p, nan_ok=True)
    assert [note for note in compared.remarks() if "Every measure" in note] == [
        "Every measure of ranks prefers new in 3 queries and live in 1; 2 are equal, in 1 it "
        "depends on the measure.",
        "Every measure of ranks prefers same in no query and live in none; 7 are equal.",
        "Every measure of ranks prefers bad in no query and live in 6; 1 is equal.",
        "Every measure of ranks prefers open in no query and live in 3; 1 is equal, in 3 it "
        "depends on the measure.",
    ]
    one = compare({"a": run_at(["2"]), "b": run_at(["1"])}, {"q0": {"a": 1}}, "AP")
    assert "Every measure of ranks prefers b in 1 query and a in none." in one.remarks()


def test_p_is_corrected_over_the_runs_of_each_measure():
    runs = {"live": LIVE, "new": OTHER, "equal": LIVE, "half": {q: {"b": 1} for q in QUERIES}}
    table = compare(runs, QRELS, ["AP", "P@1"], correction="bonferroni").table
    ap, p1 = (table[table["measure"] == name].set_index("run") for name in ("AP", "P@1"))
    assert ap["family"].tolist() == [2, 2, 2] and np.isnan(ap.loc["half", "p"])
    assert ap.loc["equal", ["p", "p_corrected"]].tolist() == [1, 1]
    assert ap.loc["new", "p_corrected"] == pytest.approx(min(1, 2 * ap.loc["new", "p"]))
    assert p1["family"].tolist() == [3, 3, 3]


def test_a_condition_can_have_a_measure_by_the_name_that_it_was_given():
    """A name of ir_measures, too, is the measure that was given this name."""
    runs, measures = {"live": LIVE, "new": OTHER}, {"mine": RR, "AP": RR @ 1}
    compared = compare(runs, QRELS, measures, conditions=["mine worse by .1", "AP worse by .3"])
    assert compared.table["measure"].tolist() == ["mine", "AP"]
    assert [verdict.outcome.name for verdict in compared.verdicts] == ["FAIL", "FAIL"]
    other = compare(runs, QRELS, ["AP"], conditions=["map worse", "RR better"])
    assert other.table["measure"].tolist() == ["AP", "RR"]
    with pytest.raises(ValueError, match="'other': there is no such measure"):
        compare(runs, QRELS, measures, conditions="other worse")


def judged(*grades):
    """Qrels with several rows for document a of the first query, with these grades."""
    rows = [(q, d, grade) for q, docs in QRELS.items() for d, grade in docs.items()]
    rows += [("q0", "a", grade) for grade in grades]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


@pytest.mark.parametrize("grades", [(0,), (0, 1), (2, 1)])
def test_a_guard_cannot_test_with_qrels_that_contradict_themselves(grades):
    runs, last = {"live": LIVE, "new": OTHER}, f"{grades[-2:][0]:g}"
    compared = compare(runs, judged(*grades), ["RR"], conditions=["RR worse"], allow_missing=True)
    [verdict] = compared.verdicts
    said = "the qrels judge 1 document twice, differently: the last label counts (e.g. 'a', "
    assert verdict.outcome.name == "ERROR" and f"no test can be made: {said}" in verdict.message
    assert compared.notes[-1].startswith(said) and last in compared.notes[-1]


def test_a_grade_that_occurs_twice_is_no_contradiction():
    found = compare({"live": LIVE, "new": OTHER}, judged(1), ["RR"], conditions=["RR worse"])
    assert found.verdicts[0].outcome.name == "FAIL"
