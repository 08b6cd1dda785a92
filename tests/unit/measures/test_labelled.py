"""Values under labellings of unjudged documents, against loops over labelled qrels (kinds.py)."""

import ir_measures
import labellings
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyterrier_asl import DocLengths, RarenessPool
from pyterrier_asl.evaluation.labellings import Labelled, unjudged_of
from pyterrier_asl.judging.judged_run import judge_part
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.measures.formula import LabelledRankings
from pyterrier_asl.scoring.arrays import cumulate

pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 8")

DOCUMENTS = [f"d{i}" for i in range(6)]
WORDS = {doc: 100.0 * (1 + place) for place, doc in enumerate(DOCUMENTS)}
POOL = [DOCUMENTS[2:], DOCUMENTS[3:] + DOCUMENTS[:3]]

MEASURES = {
    **{name: {} for name in "P@3 R@3 RR@3 Success@3 AP@4 AP nDCG@3 nDCG LexiP@3".split()},
    **{name: {} for name in "RBP(p=0.8,rel=1) ASL@4 nASL@4".split()},
    "ASL(missing='eq3')@4": {"missing": "eq3"},
    "ASL(g=2)@4": {"g": 2},
    "TBG": {"lengths": WORDS},
    "P_Rareness@3": {"pool": POOL},
    "AP_Rareness@3": {"pool": POOL},
    "AP_Rareness(alpha=1, normalized=True)@4": {"pool": POOL, "alpha": 1, "normalized": True},
}


def scored(docs):
    return {"q": {doc: -place for place, doc in enumerate(docs)}}


def made(text):
    """A measure, and the loop that computes its values."""
    options = MEASURES[text]
    measure = ir_measures.parse_measure(text)
    if "lengths" in options:
        measure = measure(lengths=DocLengths.from_dict(WORDS, name="words"))
    if "pool" in options:
        runs = {f"run{i}": scored(docs) for i, docs in enumerate(options["pool"])}
        measure = measure(pool=RarenessPool.from_runs(runs), member=False)
        options = {**options, "member": False}
    k = measure.params.get("cutoff")
    return measure, k, labellings.value_of(text.partition("(")[0].partition("@")[0], k, **options)


rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1)
grades = st.dictionaries(st.sampled_from([*DOCUMENTS, "e"]), st.integers(-1, 3), min_size=1)


@pytest.mark.parametrize("text", MEASURES)
@settings(max_examples=20)
@given(docs=rankings, judged=grades)
def test_values_under_every_labelling(text, docs, judged):
    measure, k, value = made(text)
    labelled = Labelled(
        unjudged_of([judge_part(Judgements({"q": judged}), scored(docs))], [measure]), measure
    )
    run, computes = labelled.sides[0], labelled.measure
    candidates, gains = computes.candidates(run)
    documents = labellings.unjudged([docs], judged, k)
    # One unjudged document is relevant, perhaps one that the run does not retrieve.
    new = [{"not retrieved"}, *({doc} for doc in documents)]
    chosen = [
        [
            i
            for i, (rank, grade) in enumerate(zip(candidates.ranks, candidates.grades))
            if grade >= 0 or docs[rank - 1] in some
        ]
        for some in new
    ]
    every = sum(chosen, [])
    values = computes.labelled_values(
        run,
        LabelledRankings(
            np.zeros(len(new), dtype=np.int64),
            candidates.ranks[every],
            gains[every],
            cumulate(np.array([len(some) for some in chosen])),
            np.repeat(run.relevant.total + 1, len(new)),
        ),
    )
    expected = [value(docs, {**judged, **dict.fromkeys(some, 1)}) for some in new]
    assert values.tolist() == pytest.approx(expected, abs=1e-9)
