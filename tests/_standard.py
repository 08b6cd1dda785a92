"""The standard measures, and a comparison of one run with the providers of ir_measures."""

from collections import defaultdict

import numpy as np
from ir_measures import AP, RR, P, R, SetR, Success, nDCG

from pyterrier_asl.judging.matching import judge
from pyterrier_asl.measures.formula import formula

GAINS = {-1: 1, 0: 2, 1: 0, 2: 5}

#: Measures whose values equal pytrec_eval's for every run.
MEASURES = [
    AP, AP @ 10, AP @ 100, AP(rel=2), AP(judged_only=True), AP(judged_only=True) @ 20, RR,
    RR(rel=2), RR(judged_only=True), P @ 1, P @ 5, P @ 20, P @ 100, P @ 2000, P(rel=2) @ 10,
    P(judged_only=True) @ 10, R @ 10, R @ 1000, R(rel=2) @ 100, R(judged_only=True) @ 100, nDCG,
    nDCG @ 1, nDCG @ 10, nDCG @ 2000, nDCG(judged_only=True), nDCG(judged_only=True) @ 20,
    Success @ 1, Success @ 10, Success(rel=2) @ 5, Success(judged_only=True) @ 1, SetR, SetR(rel=2),
]  # fmt: skip
#: nDCG with gains: separate, because ir_measures then uses them in nDCG without gains, too.
GAINED = [nDCG(gains=GAINS), nDCG(gains=GAINS) @ 10, nDCG(gains=GAINS, judged_only=True) @ 10]


def ours(measure, judgements, run) -> dict[str, float]:
    values = formula(measure).values(judge(judgements, run))
    return dict(zip(judgements.qid_text.to_pylist(), values.tolist()))


def theirs(evaluator, measures, run) -> dict:
    """Values of ir_measures by measure and query, 0 if it has no value."""
    values = defaultdict(dict)
    for metric in evaluator.iter_calc(run):
        values[metric.measure][metric.query_id] = metric.value
    return values


def compare(measures, evaluator, judgements, run) -> float:
    """The largest difference on one run, over measures and queries."""
    expected, judged, worst = theirs(evaluator, measures, run), judge(judgements, run), 0.0
    qids = judgements.qid_text.to_pylist()
    for measure in measures:
        values = formula(measure).values(judged)
        reference = np.array([expected[measure].pop(qid) for qid in qids])
        assert not expected[measure], f"{measure} has queries that the qrels have not"
        difference = np.abs(values - reference)
        where = int(difference.argmax())
        assert difference[where] <= 1e-9, (
            f"{measure}, query {qids[where]}: {values[where]!r}, not {reference[where]!r}"
        )
        worst = max(worst, float(difference[where]))
    return worst
