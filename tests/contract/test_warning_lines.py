"""Warnings name the line of the user's code, from any depth of the package."""

import warnings

import numpy as np
import pandas as pd
import pytest

from pyterrier_asl import AP_Rareness, Experiment, RarenessPool, audit, evaluate, ranks
from pyterrier_asl.analysis import run_quality
from pyterrier_asl.judging.judged_run import judge
from pyterrier_asl.judging.judgements import Judgements

QIDS = [f"q{number}" for number in range(12)]
QRELS = {qid: {"a": 1, "b": 0, "c": 2} for qid in QIDS}
OTHER = {qid: {"a": 1, "b": 1, "c": 0} for qid in QIDS}
DRAW = np.random.default_rng(1)
RUNS = {
    name: {qid: dict(zip("abc", map(float, DRAW.random(3)))) for qid in QIDS}
    for name in ("x", "y", "z")
}
CONSTANT = {qid: {**{f"d{n}": 1.0 for n in range(30)}, "a": 1.0} for qid in QIDS}
TWICE = pd.DataFrame({"qid": "q0", "docno": ["a", "a"], "score": [1.0, 2.0]})
JUDGED_TWICE = pd.DataFrame({"qid": "q0", "docno": ["a", "a"], "label": [1, 0]})
TOPICS = pd.DataFrame({"qid": QIDS, "query": "x"})
FRAMES = [
    pd.DataFrame(
        [(qid, docno, score) for qid, docs in run.items() for docno, score in docs.items()],
        columns=["qid", "docno", "score"],
    ).assign(rank=0)
    for run in RUNS.values()
]
LABELS = pd.DataFrame(
    [(qid, docno, label) for qid, docs in QRELS.items() for docno, label in docs.items()],
    columns=["qid", "docno", "label"],
)

CALLS = {
    "Judgements": lambda: Judgements(JUDGED_TWICE),
    "judge, twice": lambda: judge(Judgements(QRELS), TWICE),
    "judge, none judged": lambda: judge(Judgements(QRELS), {"q0": {"z": 1.0}}),
    "judge, constant": lambda: judge(Judgements(QRELS), CONSTANT),
    "evaluate, constant": lambda: evaluate({"x": CONSTANT}, QRELS, "AP"),
    "evaluate, few": lambda: evaluate(RUNS, QRELS, AP_Rareness @ 5),
    "ranks": lambda: ranks(RUNS, QRELS, "AP"),
    "audit": lambda: audit(RUNS, dict(list(QRELS.items())[:8]), "AP", OTHER),
    "RarenessPool": lambda: RarenessPool.from_runs(RUNS),
    "analysis": lambda: run_quality(RUNS, QRELS),
    "Experiment": lambda: Experiment(FRAMES, TOPICS, LABELS, [AP_Rareness @ 5]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_warning_names_the_line_that_called_the_package(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # of objects that other tests left
        call()
    assert caught, "this call warns"
    for warning in caught:
        assert warning.filename == __file__, warning
        assert warning.lineno == call.__code__.co_firstlineno
