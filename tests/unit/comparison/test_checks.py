"""A guard does not pass with a damaged baseline; comparisons name missing queries."""

import pandas as pd
import pytest

from pyterrier_asl import compare, read_scores

QUERIES = [f"q{number:02}" for number in range(20)]
DOCS = [f"d{number:03}" for number in range(60)]
QRELS = {qid: {docno: int(docno < "d005") for docno in DOCS[:30]} for qid in QUERIES}


def run_of(ranking, queries=QUERIES):
    return {qid: {docno: -float(at) for at, docno in enumerate(ranking)} for qid in queries}


LIVE = run_of(DOCS)
#: Worse: one to three irrelevant documents come first; in the last query it is better.
NEW = {
    qid: run_of([*DOCS[5 : 6 + n % 3], *DOCS[:5], *DOCS[6 + n % 3 :]], [qid])[qid]
    for n, qid in enumerate(QUERIES)
}
LIVE["q19"], NEW["q19"] = NEW["q19"], LIVE["q19"]

EQUAL = {qid: dict.fromkeys(DOCS, 1.0) for qid in QUERIES}
DAMAGED = {
    "five queries": {qid: LIVE[qid] for qid in QUERIES[:5]},
    "half of the queries": {qid: LIVE[qid] for qid in QUERIES[::2]},
    "one score": EQUAL,
    "one score for a quarter": LIVE | {q: EQUAL[q] for q in QUERIES[:5]},
    "half of the ids": run_of([d if i % 2 else f"x/{d}" for i, d in enumerate(DOCS)]),
}
REASONS = {
    "five queries": "live does not answer 15 of 20 queries (e.g. 'q05')",
    "half of the queries": "live does not answer 10 of 20 queries (e.g. 'q01')",
    "one score": "live has the same score for all documents of 20 of 20 queries (e.g. 'q00')",
    "one score for a quarter": "live has the same score for all documents of 5 of 20 queries",
    "half of the ids": "live writes 15 document ids in another form ('x/d000' for 'd000')",
}


def verdicts(live, new, *conditions, qrels=QRELS, **options):
    return compare({"live": live, "new": new}, qrels, conditions=conditions, **options).verdicts


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("condition", ["sgnLP worse p<.05", "AP possibly worse by .1 p<.05"])
def test_a_damaged_baseline_is_an_error(damage, condition):
    if "queries" not in damage:  # of the new run, too
        [verdict] = verdicts(LIVE, DAMAGED[damage], condition)
        assert verdict.outcome.name == "ERROR"
        assert REASONS[damage].replace("live", "new") in verdict.message
    [verdict] = verdicts(DAMAGED[damage], NEW, condition)
    assert verdict.outcome.name == "ERROR" and REASONS[damage] in verdict.message
    [allowed] = verdicts(DAMAGED[damage], NEW, condition, allow_missing=True)
    assert ("--allow-missing" in verdict.message) is ("queries" in damage)
    if "queries" not in damage:
        assert allowed.outcome.name == "ERROR"
        return
    other = ("is 1 in each of 20 queries", "no run can be worse by 0.1")
    assert allowed.outcome.name != "ERROR" or any(why in allowed.message for why in other)


def test_ids_in_another_form_than_the_baseline_has_are_an_error_of_the_run():
    """The qrels do not show it: they judge no document from d030 on."""
    new = run_of([docno if docno < "d030" else f"x/{docno}" for docno in DOCS])
    runs = {"live": LIVE, "new": new, "same": LIVE}
    compared = compare(runs, QRELS, ["AP"], conditions="AP worse")
    said = "new writes 30 document ids in another form ('x/d030' for 'd030'): write them alike"
    assert compared.notes == [said] and compared.doubts == {("new", "AP"): said, ("same", "AP"): ""}
    assert [verdict.outcome.name for verdict in compared.verdicts] == ["ERROR", "PASS"]


# Undamaged baselines


def test_queries_that_no_run_answers_are_no_damage():
    fewer = [{q: run[q] for q in QUERIES[:15]} for run in (LIVE, NEW)]
    compared = compare(dict(zip(("live", "new"), fewer)), QRELS, ["AP"], conditions=["AP better"])
    assert [verdict.outcome.name for verdict in compared.verdicts] == ["PASS"]
    assert compared.notes == [
        f"{name} does not answer 5 of 20 queries (e.g. 'q15'); each counts with the worst value"
        for name in ("live", "new")
    ]


SHORT, BOTTOM = run_of(DOCS[:1]), run_of([DOCS[5]])
#: Of one judged document per query, which is first or second; the other documents differ.
LITTLE = run_of(["d000", *DOCS[1:10]]), run_of(["d050", "d000", *DOCS[51:59]])


@pytest.mark.parametrize(
    ("live", "new", "condition", "outcome"),
    [
        (SHORT, BOTTOM, "AP worse", "FAIL"),  # short rankings of both runs, or a short measure
        (SHORT, NEW, "P@1 worse", "FAIL"),
        (run_of(DOCS[:30]), NEW, "AP worse", "FAIL"),
        (LIVE | run_of(DOCS[:1], QUERIES[:4]), NEW, "AP worse p<.05", "FAIL"),  # of few queries
        (LIVE | {q: EQUAL[q] for q in QUERIES[:4]}, NEW, "AP worse p<.05", "PASS"),
        (*LITTLE, "RR worse", "FAIL"),
    ],
)
def test_what_real_runs_have_is_no_damage(live, new, condition, outcome):
    qrels = {qid: {"d000": 1} for qid in QUERIES} if "RR" in condition else QRELS
    [verdict] = verdicts(live, new, condition, qrels=qrels)
    assert verdict.outcome.name == outcome


def test_scores_that_were_filled_are_missing_all_the_same():
    """If missing scores are 0, a baseline with five topics is worse than any run."""
    rows = [("live", q, 0.9) for q in QUERIES[:5]] + [("new", q, 0.5) for q in QUERIES]
    table = pd.DataFrame(rows, columns=["name", "qid", "AP"])
    scores = read_scores(table, missing=0)
    [verdict] = compare(scores, conditions=["AP worse"]).verdicts
    assert verdict.outcome.name == "ERROR"
    assert "live lacks 15 scores of AP that new has; restore the baseline" in verdict.message
    [verdict] = compare(scores, conditions=["AP worse"], allow_missing=True).verdicts
    assert verdict.outcome.name == "PASS"
    back = compare(scores, baseline="new", conditions=["AP worse"]).verdicts
    assert [v.outcome.name for v in back] == ["FAIL", "FAIL"]
    assert "live lacks scores of 15 queries that new has, e.g. 'q05'" in back[1].message


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("damaged", ["live", "new"])
def test_ranks_that_contradict_scores_are_an_error(damaged):
    """The scores are distances, which rise with the rank."""
    rows = [(q, d, -s, n) for q, docs in NEW.items() for n, (d, s) in enumerate(docs.items())]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])
    runs = {"live": LIVE, "new": NEW, damaged: frame}
    for allowed in (False, True):
        [verdict] = verdicts(runs["live"], runs["new"], "AP worse", allow_missing=allowed)
        assert verdict.outcome.name == "ERROR"
        assert f"the ranks of {damaged} contradict the scores" in verdict.message
