"""Generated input gives the value of the loops or a clear error; found faults have tests.

``tests/tools/fuzz.py`` runs any number of such cases.
"""

import math
from random import Random

import brute_force
import hypothesis.strategies as st
import ir_measures
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from _cases import DOORS, FAULTS, MEASURES, check, make_case
from hypothesis import HealthCheck, given, settings

import pyterrier_asl as asl
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge
from pyterrier_asl.measures.formula import formula
from pyterrier_asl.measures.provider import JudgedRunEvaluator


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_any_case_gives_the_loops_values_or_the_error_that_is_due(random):
    check(make_case(random))


@pytest.mark.slow
def test_cases_are_of_all_sorts():
    """A thousand cases from one seed have all kinds of inputs and outcomes."""
    came, doors = set(), set()
    for number in range(1000):
        case = make_case(Random(f"0-{number}"))
        came.add(check(case))
        doors.add(case.door)
    assert doors == set(DOORS)
    assert came > FAULTS.keys() and "values" in came


#: By measure, values beyond the range of each parameter.
BEYOND = {
    "ASL": {"cutoff": 0, "g": 2**31, "rel": -1, "missing": "last", "judged_only": 1},
    "nASL": {"cutoff": True, "g": 0},
    "LexiP": {"cutoff": 10**400, "rel": math.inf},
    "P_Rareness": {"cutoff": 2**31, "pool": 7},
    "AP_Rareness": {"alpha": 1 + 2**-52, "member": 0, "depth": 0, "normalized": 1},
    "TBG": {"halflife": 0, "missing_length": 1.1e9, "lengths": "nowhere", "rel": 1j}
    | dict.fromkeys(("p_save", "p_click_rel", "p_click_nonrel"), -0.1)
    | dict.fromkeys(("time_base", "time_per_word", "time_summary"), 1.1e9),
}


@pytest.mark.parametrize(("name", "param"), [(name, p) for name in BEYOND for p in BEYOND[name]])
def test_parameters_out_of_range_name_the_parameter(name, param):
    with pytest.raises(ValueError, match=f"{name}: {param} must be"):
        MEASURES[name](**{param: BEYOND[name][param]})


def test_a_deep_cutoff_does_not_overflow():
    qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 1}}
    deepest = 2**31 - 1
    assert (asl.ASL @ deepest).calc_aggregate(qrels, {"q": {"a": 1.0}}) == (1 + 3 * deepest) / 4


def test_lengths_have_limits_and_values_at_the_limits_are_finite():
    with pytest.raises(ValueError, match="lengths from 0 to 1e.09: document 'a' has 1e.308"):
        asl.TBG(lengths=asl.DocLengths.from_dict({"a": 1e308})).calc_aggregate(
            {"q": {"a": 1}}, {"q": {"a": 1.0}}
        )
    # the limits are allowed
    extreme = asl.TBG(missing_length=1e9, time_per_word=1e9, p_click_nonrel=0, halflife=5e-324)
    value = extreme.calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"x": 3, "a": 2, "b": 1}})
    assert value == 0


@pytest.mark.parametrize(
    ("value", "kind"),
    [(["a"], pa.list_(pa.string())), (b"\xff", pa.binary()), (True, pa.bool_()), (1, pa.date32())],
)
def test_arrow_columns_that_are_no_ids(value, kind):
    table = pa.table({"qid": pa.array([value], kind), "docno": ["a"], "label": [1]})
    with pytest.raises(ValueError, match="query id of the qrels must be text or whole numbers"):
        Judgements(table)


def test_categories_of_several_kinds_are_text():
    qids = pd.Series(pd.Categorical([7, "007", 7], categories=["007", 7]))
    judgements = Judgements(pd.DataFrame({"qid": qids, "docno": ["a", "b", "c"], "label": 1}))
    assert judgements.qid_text.to_pylist() == ["7", "007"] and judgements.qids == [7, "007"]


def test_a_row_of_another_kind_is_named():
    with pytest.raises(TypeError, match="rows of the qrels need .*, but row 1 is"):
        Judgements([ir_measures.Qrel("q", "a", 1), ("q", "b", 1)])


@pytest.mark.slow
def test_a_million_relevant_documents():
    """The loops add the values in another order than the package."""
    n = 1_000_000
    docs = [f"d{i}" for i in range(n + n // 2)]
    grades = dict.fromkeys([*docs[::3], *docs[1::3]], 1)
    words = {doc: 1 + i % 700 for i, doc in enumerate(docs)}

    def frame(each):
        return pd.DataFrame({"query_id": "q", "doc_id": each, "score": -np.arange(len(each))})

    run = frame(docs).assign(doc_len=list(words.values()))
    with pytest.warns(UserWarning, match="fewer than 8"):
        pool = asl.RarenessPool.from_runs({"whole": run, "part": frame(docs[: n // 3])})
    judged = judge(Judgements({"q": grades}), run)
    of_pool, ap = brute_force.rareness(docs, grades, [docs, docs[: n // 3]], n, depth=len(docs))
    lengths = brute_force.asl(docs, grades)
    ranks = np.flatnonzero([doc in grades for doc in docs]) + 1
    expected = {
        asl.ASL: lengths,
        asl.ASL @ n: brute_force.asl(docs[:n], grades, k=n),
        asl.nASL(cutoff=2 * n): 1 - (lengths - 1) / (2 * n),
        asl.LexiP: brute_force.lexip(docs, grades),
        asl.TBG: brute_force.tbg(docs, grades, words),
        asl.P_Rareness(pool=pool, depth=len(docs)) @ n: of_pool,
        asl.AP_Rareness(pool=pool, depth=len(docs)) @ n: ap,
        ir_measures.AP: np.mean(np.arange(1, n + 1) / ranks),
        ir_measures.nDCG: np.divide(
            *(math.fsum(1 / np.log2(each + 1)) for each in (ranks, np.arange(1, n + 1)))
        ),
    }
    for measure, value in expected.items():
        found = formula(measure).values(judged).tolist()
        assert found == [pytest.approx(value, rel=1e-11)], measure


@pytest.mark.parametrize("scores", [(0.0, -0.0), (-0.0, 0.0), (1e-46, -1e-46), (1e39, 1e300)])
def test_scores_that_are_equal_in_32_bits_are_ordered_by_id(scores):
    assert asl.LexiP.calc_aggregate({"q": {"b": 1}}, {"q": dict(zip("ab", scores))}) == 1


def test_no_value_depends_on_the_other_queries():
    """Compares single queries with all queries in two orders; one query has very many documents."""
    rng = np.random.default_rng(3)
    queries, docs = [f"q{i}" for i in range(300)], [f"d{i}" for i in range(40)]
    qrels = {q: {d: int(rng.integers(0, 3)) for d in docs[::2]} for q in queries}
    words = {q: rng.choice([0.1, 0.3, 333.3], 40) for q in queries} | {"q7": [1e9] * 40}
    rows = [(q, d, rng.normal(), w) for q in queries for d, w in zip(docs, words[q])]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "doc_len"])
    measures = [asl.ASL, asl.nASL, asl.LexiP, asl.TBG, asl.ASL(g=3) @ 10]
    all_ = {(m.query_id, m.measure): m.value for m in ir_measures.iter_calc(measures, qrels, frame)}
    for q in queries[::37]:
        alone = ir_measures.iter_calc(measures, {q: qrels[q]}, frame[frame["query_id"] == q])
        for metric in alone:
            assert metric.value == pytest.approx(all_[q, metric.measure], abs=1e-13)
    turned = {q: qrels[q] for q in rng.permutation(queries).tolist()}
    means = ir_measures.calc_aggregate(measures, qrels, frame)
    again = ir_measures.calc_aggregate(measures, turned, frame.sample(frac=1, random_state=1))
    assert means == pytest.approx(again, abs=1e-12)


def test_means_do_not_depend_on_the_order_of_queries():
    scores = np.random.default_rng(2).random(3000).tolist()
    others = {f"d{rank}": rank / 8 for rank in range(8)}
    run = {f"q{i}": {**others, "a": score} for i, score in enumerate(scores)}
    orders = (list(run), list(run)[::-1], sorted(run, key=lambda qid: run[qid]["a"]))
    evaluators = [
        JudgedRunEvaluator([asl.LexiP], {qid: {"a": 1} for qid in order}) for order in orders
    ]
    means = [evaluator.calc_aggregate(run)[asl.LexiP] for evaluator in evaluators]
    assert len(set(means)) == 1
    assert [evaluator.calc(run).aggregated[asl.LexiP] for evaluator in evaluators] == means
    values = [1 / (1 + sum(other > score for other in others.values())) for score in scores]
    assert means[0] == pytest.approx(np.mean(values))
