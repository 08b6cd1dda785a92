"""A small collection for tuning, and the sweep compared with the pipeline in random settings."""

import numpy as np
import pandas as pd
from ir_measures import AP, RR, P, R, Success, nDCG

from pyterrier_asl import ASL, TBG, DocLengths, LexiP, TermIndex, nASL
from pyterrier_asl.tuning.objective import Objective, make_task
from pyterrier_asl.tuning.space import Space
from pyterrier_asl.tuning.sweep import Sweep

RANKED = [
    AP, AP @ 5, AP(rel=2), RR, P @ 5, R @ 10, Success @ 1, nDCG, nDCG @ 5,
    AP(judged_only=True), ASL @ 1000, ASL(g=2, rel=2) @ 20, ASL(missing="eq3"),
    ASL(judged_only=True), nASL @ 50, LexiP,
]  # fmt: skip


class Collection:
    """Documents of few words, so that many scores tie; docnos are not ordered as docids."""

    def __init__(self, seed: int = 0, num_docs: int = 120) -> None:
        rng = np.random.default_rng(seed)
        words = [f"w{i}" for i in range(40)]
        often = 1 / np.arange(2, 42)
        texts = [
            " ".join(rng.choice(words, rng.integers(1, 12), p=often / often.sum()))
            for _ in range(num_docs)
        ]
        docnos = [f"d{i}" for i in rng.permutation(num_docs)]
        self.docs = pd.DataFrame({"docno": docnos, "text": texts})
        documents = self.docs.to_dict("records")
        self.index = TermIndex.from_documents(documents, stemmer=None, verbose=False)
        queries = [" ".join(rng.choice(words, 3)) for _ in range(12)]
        queries[3] = "unknown words"  # retrieves nothing
        self.topics = pd.DataFrame({"qid": [f"q{i}" for i in range(12)], "query": queries})
        rows = [
            (f"q{q}", docno, int(rng.integers(-1, 4)))
            for q in range(1, 14)  # q0 is not judged; q12 and q13 are not topics
            for docno in [*rng.choice(docnos, 25, False), "elsewhere"]
        ]
        self.qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
        self.lengths = DocLengths(docnos, rng.integers(0, 900, num_docs), name="random")

    @property
    def measures(self):
        more = [TBG(lengths=self.lengths), TBG(lengths=self.lengths, rel=2, halflife=60) @ 7]
        return [*RANKED, *more]


def compare(stage, collection, measures, count, seed=0):
    """The largest difference between sweep and pipeline in ``count`` random settings."""
    space = Space(stage.params)
    task = make_task(collection.topics, collection.qrels, measures[0], measures[1:])
    sweep = Sweep(stage.pipeline, space, task)
    pipeline = Objective(stage.pipeline, space, task)
    rng = np.random.default_rng(seed)
    worst, values = 0.0, set()
    for _ in range(count):
        setting = space.setting(rng.random(len(space.parameters)))
        swept = sweep(setting)
        before = space.current()
        expected = pipeline(setting)
        space.set(before)
        assert swept.keys() == expected.keys()
        worst = max(worst, *(abs(swept[name] - expected[name]) for name in swept))
        values.add(swept[task.metric])
    assert len(values) > count / 5  # settings change the value
    return worst
