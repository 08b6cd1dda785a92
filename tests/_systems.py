"""Small systems and a small collection, without Java and downloads."""

from functools import cache

import brute_force
import numpy as np
import pandas as pd
import pyterrier as pt

QUERIES = [f"q{i}" for i in range(1, 7)]


class Toy(pt.Transformer):
    """Returns fixed results, and counts its calls."""

    def __init__(self, name, results):
        self.name, self.results, self.calls = name, results, 0

    def transform(self, inp):
        pt.validate.query_frame(inp, ["query"])
        if len(inp):
            self.calls += 1
        # Equals inp.merge(self.results, on="qid"), in a third of the time.
        qids = self.results["qid"].to_numpy(object)
        asked, retrieved = np.nonzero(inp["qid"].to_numpy(object)[:, None] == qids)
        others = self.results.columns.difference(inp.columns, sort=False)
        return pd.DataFrame(
            {name: inp[name].to_numpy()[asked] for name in inp}
            | {name: self.results[name].to_numpy()[retrieved] for name in others}
        )

    def __repr__(self):
        return self.name


def topics(queries=QUERIES):
    """Topics of these queries."""
    return pd.DataFrame({"qid": list(queries), "query": [f"about {q}" for q in queries]})


def qrels(queries=QUERIES):
    """Ten judged documents per query; four are relevant, and one of these highly relevant."""
    return pd.DataFrame(
        [(q, f"d{d}", 2 if d == 0 else int(d < 4)) for q in queries for d in range(10)],
        columns=["qid", "docno", "label"],
    )


def results(seed, queries=QUERIES, depth=8):
    """A ranking of some of twelve documents for each query, in no order."""
    return _results(seed, tuple(queries), depth).copy()


@cache
def _results(seed, queries, depth):
    rng = np.random.default_rng(seed)
    rows = [
        (q, f"d{d}", float(score), 20 * (int(d) + 1))
        for q in queries
        for d, score in zip(rng.permutation(12)[:depth], rng.permutation(100))
    ]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score", "doc_len"])
    by_score = frame.groupby("qid")["score"].rank(ascending=False, method="first")
    return frame.assign(rank=by_score.astype(int) - 1)


def system(seed, **kwargs):
    """A system called by its seed."""
    return Toy(f"toy{seed}", results(seed, **kwargs))


def by_query(frame, value):
    """A run or qrels as dicts: query -> document -> score or label."""
    queries = frame.groupby("qid", sort=False)
    return {qid: dict(zip(of["docno"], of[value])) for qid, of in queries}


def expected(loop, frame, judged, queries=QUERIES):
    """Every query's value, by a loop over a ranking and the grades of its documents."""
    scores, grades = by_query(frame, "score"), by_query(judged, "label")
    return [loop(brute_force.ranking(scores.get(q, {}), grades[q]), grades[q]) for q in queries]
