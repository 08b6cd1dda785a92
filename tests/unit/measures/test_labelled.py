"""Values if one unjudged document is relevant, against loops over labelled qrels (kinds.py)."""

from random import Random

import ir_measures
import labellings
import pytest

from pyterrier_asl import DocLengths, RarenessPool
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.labellings import labelled_measures
from pyterrier_asl.unjudged.pairs import values_if_only_relevant

pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 8")

RANDOM, DOCUMENTS = Random(3), [f"d{i}" for i in range(6)]
WORDS = {doc: 100.0 * (1 + place) for place, doc in enumerate(DOCUMENTS)}
QRELS = {
    f"q{n}": {
        doc: RANDOM.randint(-1, 3) for doc in RANDOM.sample([*DOCUMENTS, "e"], RANDOM.randint(1, 6))
    }
    for n in RANDOM.sample(range(20), 20)
}
#: The rankings of two runs, and of two others, which are a pool.
X, Y, ONE, TWO = (
    {qid: RANDOM.sample(DOCUMENTS, RANDOM.randint(1, 6)) for qid in QRELS} for _ in range(4)
)

MEASURES = {
    **{name: {} for name in "P@3 R@3 RR@3 Success@3 AP@4 AP nDCG@3 nDCG LexiP@3".split()},
    **{name: {} for name in "RBP(p=0.8,rel=1) ASL@4 nASL@4 P_Rareness@3 AP_Rareness@3".split()},
    "ASL(missing='eq3')@4": {"missing": "eq3"},
    "ASL(g=2)@4": {"g": 2},
    "TBG": {"lengths": WORDS},
    "AP_Rareness(alpha=1, normalized=True)@4": {"alpha": 1, "normalized": True},
}


def scored(rankings):
    return {q: {doc: -place for place, doc in enumerate(docs)} for q, docs in rankings.items()}


RUNS = Evaluation.of({"x": scored(X), "y": scored(Y)}, QRELS)


@pytest.mark.parametrize("text", MEASURES)
def test_values_if_a_document_of_either_run_is_relevant(text):
    measure, options = ir_measures.parse_measure(text), MEASURES[text]
    if "TBG" in text:
        measure = measure(lengths=DocLengths.from_dict(WORDS, name="words"))
    if "Rareness" in text:
        pool = RarenessPool.from_runs({"one": scored(ONE), "two": scored(TWO)})
        measure, options = measure(pool=pool, member=False), {**options, "member": False}
    labelled = labelled_measures(RUNS, {"": measure})[""]
    judgements = labelled.judgements
    for side, rankings in zip(labelled.sides, (X, Y), strict=True):
        found = values_if_only_relevant(labelled, side).tolist()
        for at, value in zip(labelled.documents.tolist(), found, strict=True):
            qid, docno = judgements.qids[judgements.queries[at]], judgements.docnos[at].as_py()
            own = {"pool": [ONE[qid], TWO[qid]]} if "Rareness" in text else {}
            loop = labellings.value_of(measure.NAME, measure.params.get("cutoff"), **options, **own)
            expected = loop(rankings[qid], {**QRELS[qid], docno: 1})
            assert value == pytest.approx(expected, abs=1e-9), (qid, docno)
