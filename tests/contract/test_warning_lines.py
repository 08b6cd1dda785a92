"""Warnings name the line of the user's code, from any depth of the package."""

import warnings

import pandas as pd
import pytest
from small import collection, frame

from pyterrier_asl import AP_Rareness, Experiment, RarenessPool, evaluate
from pyterrier_asl.analysis import run_quality
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge

RUNS, QRELS = collection(systems=3, complete=True)
CONSTANT = {qid: dict.fromkeys(of, 1.0) for qid, of in QRELS.items()}
TWICE = pd.DataFrame({"qid": "q10", "docno": ["d1", "d1"], "score": [1.0, 2.0]})
JUDGED_TWICE = pd.DataFrame({"qid": "q10", "docno": ["d20", "d20"], "label": [1, 0]})
TOPICS = pd.DataFrame({"qid": list(QRELS), "query": "x"})
FRAMES = [frame(run).assign(rank=0) for run in RUNS.values()]

CALLS = {
    "contradiction": lambda: evaluate({"x": CONSTANT}, JUDGED_TWICE, "P@1"),
    "judge, twice": lambda: judge(Judgements(QRELS), TWICE),
    "judge, none judged": lambda: judge(Judgements(QRELS), {"q10": {"z": 1.0}}),
    "judge, constant": lambda: judge(Judgements(QRELS), CONSTANT),
    "evaluate, constant": lambda: evaluate({"x": CONSTANT}, QRELS, "AP"),
    "evaluate, few": lambda: evaluate(RUNS, QRELS, AP_Rareness @ 5),
    "RarenessPool": lambda: RarenessPool.from_runs(RUNS),
    "analysis": lambda: run_quality(RUNS, QRELS),
    "Experiment": lambda: Experiment(FRAMES, TOPICS, frame(QRELS, "label"), [AP_Rareness @ 5]),
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
