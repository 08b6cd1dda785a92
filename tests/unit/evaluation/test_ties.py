"""The values over all orders of equal scores, against enumeration of the orders."""

import math
from itertools import groupby, permutations, product
from random import Random

import ir_measures
import numpy as np
import pytest
from _calls import call
from _files import write_qrels, write_run
from ir_measures import RR, Success

from pyterrier_asl import TBG, Qrels, evaluate, ties

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ENDS = ["low", "expected", "value", "high"]
#: With an expected value in closed form.
CLOSED = [
    *("P(rel=2)@2", "P(judged_only=True)@2", "R@3", "R(rel=2)@2", "RR", "RR(rel=2)@3"),
    *("RR(judged_only=True)@2", "Success@2", "Success(rel=2)@3", "AP", "AP(rel=2)@3"),
    *("AP(judged_only=True)@2", "nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@2"),
    *("nDCG(gains={1: 3, 2: 1, 0: 2})@2", "nDCG(judged_only=True)@3", "RBP(p=0.6, rel=2)"),
    *("RBP(p=0.8, rel=1)@2", "ASL", "ASL@3", "ASL(rel=2)@2", "ASL(missing='after')@2"),
    *("ASL(missing='eq3')@3", "ASL(judged_only=True)@2", "nASL(rel=2)@3", "nASL@2"),
]
OPEN = ["LexiP", "LexiP(rel=2)@3", "ERR@3", "ERR", "ASL(g=2)@3", "nASL(g=1)@2"]
MEASURES = [*CLOSED, *OPEN]


def orders(run: dict[str, float]) -> list[list[str]]:
    """All rankings of a run."""
    by_score = sorted(run, key=run.__getitem__, reverse=True)
    groups = [permutations(docs) for _, docs in groupby(by_score, key=run.__getitem__)]
    return [[doc for group in order for doc in group] for order in product(*groups)]


def test_all_orders_are_enumerated():
    """A query for each order, without ties."""
    random = Random(7)
    run, qrels, every, grades = {}, {}, {}, {}
    for qid in (f"q{n}" for n in random.sample(range(24), 24)):
        docs = random.sample("abcdefg", random.randint(2, 5))
        run[qid] = {doc: random.choice([1.0, 1 + 1e-9, 2.0]) for doc in docs}
        judged = {docs[0], *random.sample("abcdefg", random.randint(1, 5))}
        qrels[qid] = {doc: random.choice([-1, 0, 1, 1, 2]) for doc in sorted(judged)}
        rounded = {doc: float(np.float32(score)) for doc, score in run[qid].items()}
        for number, ranking in enumerate(orders(rounded)):
            every[f"{qid}-{number}"] = {doc: -rank for rank, doc in enumerate(ranking)}
            grades[f"{qid}-{number}"] = qrels[qid]
    values = evaluate({"all": every}, grades, MEASURES)
    by_query = values.groupby(values["qid"].str.partition("-")[0])[MEASURES]
    table = ties(run, qrels, MEASURES, by_query=True)
    own = evaluate(run, qrels, MEASURES).set_index("qid")
    for measure, of_measure in table.set_index("qid").groupby("measure"):
        low, mean, high = (
            getattr(by_query, of)()[measure].loc[of_measure.index] for of in ("min", "mean", "max")
        )
        assert of_measure["low"].tolist() == pytest.approx(low.tolist(), abs=1e-12), measure
        assert of_measure["high"].tolist() == pytest.approx(high.tolist(), abs=1e-12), measure
        assert of_measure["value"].tolist() == own.loc[of_measure.index, measure].tolist()
        if measure in CLOSED:
            expected = of_measure["expected"]
            assert expected.tolist() == pytest.approx(mean.tolist(), abs=1e-12), measure
            assert (of_measure["low"] <= expected).all() and (expected <= of_measure["high"]).all()
        else:
            assert of_measure["expected"].isna().all()
    assert (table["low"] <= table["value"]).all() and (table["value"] <= table["high"]).all()
    without = [
        qid for qid, docs in run.items() if len({*map(np.float32, docs.values())}) == len(docs)
    ]
    fixed = table[table["qid"].isin(without) & table["measure"].isin(CLOSED)]
    assert len(without) > 1 and (fixed[ENDS].nunique(axis=1) == 1).all()


def test_worked_cases(ties_vectors):
    cases = {f"q{n}": case for n, case in enumerate(ties_vectors["cases"])}
    run, qrels = ({q: case[of] for q, case in cases.items()} for of in ("run", "qrels"))
    measures = list(dict.fromkeys(measure for case in cases.values() for measure in case["values"]))
    rows = ties(run, qrels, measures, by_query=True).to_dict("records")
    table = {(row["qid"], row["measure"]): row for row in rows}
    for qid, case in cases.items():
        for measure, of in case["values"].items():
            columns = [end for end in ENDS if end != "expected" or "LexiP" not in measure]
            expected = [of[column] for column in columns]
            found = [table[qid, measure][column] for column in columns]
            assert found == pytest.approx(expected, abs=1e-9), (qid, measure)


@pytest.mark.parametrize("relevant", [1, 3, 700])
def test_a_large_group_is_exact(relevant):
    size, above, cut = 900, 5, 60
    run = {f"x{n}": 2.0 for n in range(above)} | {f"d{n}": 1.0 for n in range(size)}
    grades = {f"d{n}": 1 for n in range(relevant)}
    none = [math.comb(size - relevant, j) / math.comb(size, j) for j in range(cut + 1)]
    places = cut - above
    rr = sum((none[j] - none[j + 1]) / (above + j + 1) for j in range(places))
    table = ties({"q": run}, {"q": grades}, [RR @ cut, Success @ cut])
    assert table["expected"].tolist() == pytest.approx([rr, 1 - none[places]], rel=1e-9)


RUN = {
    "q2": {"a": 3.0, "b": 1.0, "c": 1.0, "e": 1.0, "f": 0.0},
    "q1": {"a": 2.0, "b": 2.0},
    "q3": {"a": 2.0, "b": 1.0},
    "other": {"a": 1.0, "b": 1.0},
}
QRELS = {"q1": {"a": 1}, "q2": {"b": 1, "f": 2}, "q3": {"b": 1}, "unanswered": {"a": 1}}


def test_a_mean_is_of_the_queries_and_the_tied_documents_are_counted_to_the_cutoff():
    by_query = ties(RUN, QRELS, ["RR", "P@3"], by_query=True)
    assert by_query["qid"].tolist() == [qid for qid in QRELS for _ in range(2)]
    rr = by_query[by_query["measure"] == "RR"].set_index("qid")
    assert rr.loc["q1", ENDS].tolist() == [0.5, 0.75, 0.5, 1.0]
    mean = pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    assert rr.loc["q2", ENDS].tolist() == [0.25, mean, 0.25, 0.5]
    assert rr.loc["q3", ENDS].tolist() == [0.5] * 4
    assert rr.loc["unanswered", ENDS].tolist() == [0] * 4
    assert rr["tied"].tolist() == [1, 3 / 5, 0, 0]
    assert by_query[by_query["measure"] == "P@3"]["tied"].tolist() == [1, 2 / 3, 0, 0]
    means = ties({"x": RUN, "y": {"q1": {"a": 1}}}, QRELS, ["RR", "P@3"])
    assert means[["name", "measure"]].to_numpy().tolist() == [
        [name, measure] for name in "xy" for measure in ("RR", "P@3")
    ]
    assert means.loc[0, ENDS].tolist() == rr[ENDS].mean().tolist()
    assert means["tied"].tolist() == [5 / 9, 4 / 7, 0, 0]
    assert means.loc[2:, ENDS].nunique(axis=1).tolist() == [1, 1]


def test_what_depends_on_more_than_grades_has_no_range():
    measures = ["P_Rareness@2", "AP_Rareness", TBG(missing_length=9), "Bpref", "Judged@2", "infAP"]
    pooled = ["P_Rareness(member=True)@2"]
    table = ties({name: RUN for name in "abcdefgh"}, QRELS, [*measures, *pooled])
    assert table[["low", "expected", "high"]].isna().all(axis=None)
    values = evaluate({name: RUN for name in "abcdefgh"}, QRELS, [*measures, *pooled])
    assert table["value"][: len(measures) + 1].tolist() == pytest.approx(
        values[values["name"] == "a"].drop(columns=["name", "qid"]).mean().tolist()
    )


def test_tracks_and_options_reach_it():
    tracks = {"one": ({"x": RUN}, QRELS), "two": ({"x": RUN, "y": RUN}, {"q1": {"b": 2}})}
    table = ties(tracks, measures=["AP"], rel=2, common=True)
    assert table["track"].tolist() == ["one", "two"]
    assert table["measure"].tolist() == ["AP(rel=2)"] * 2
    assert table["high"].tolist() == [0.05, 1.0] and table["low"].tolist() == [0.05, 0.5]
    twice = [
        ir_measures.ScoredDoc("q1", doc, score) for doc, score in [("a", 1), ("b", 1), ("b", 0)]
    ]
    qrels = Qrels({"q1": {"b": 1}}, duplicates="best")
    assert ties({"x": twice}, qrels, "RR")["tied"].tolist() == [1]


def test_the_command_refuses_options_of_other_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_qrels(QRELS, "qrels")
    write_run(RUN, "x.run")
    for option in (["--ranks"], ["--sort", "RR"], ["-j", "2"]):
        refused = call("evaluate", "qrels", "x.run", "--ties", "-m", "RR", *option)
        assert refused.exit_code == 2 and "--ties" in refused.stderr
