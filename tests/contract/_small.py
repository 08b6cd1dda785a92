"""A collection of twelve queries and four runs, in which every option makes a difference."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

QUERIES = [f"q{number}" for number in range(12)]
DOCS = [f"d{number}" for number in range(60)]
DEPTH = 14

#: The quality of each run above chance; the order of names is not the order of values.
QUALITY = {"charlie": 0.8, "alpha": 2.0, "delta": 1.4, "bravo": 2.3}


@cache
def collection(
    seed: int = 1, *, close: bool = False
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Runs by name, with ties and the id of the query as a document, and their qrels.

    Queries and rows are in no order; the first collection has two queries less than the others.

    Args:
        seed: of the grades and the runs.
        close: whether all runs have the same quality.
    """
    queries = QUERIES if seed == 1 else [*QUERIES, "q12", "q13"]
    true, rng = (np.random.default_rng([seed, number]) for number in (0, 1))
    true = true.choice([0, 0, 0, 0, 1, 1, 2, 3], (len(queries), len(DOCS)))
    runs = {}
    for name, quality in QUALITY.items():
        rows = []
        for qid, grades in zip(queries, true):
            quality = 0.4 if close else quality
            scores = np.round(quality * grades + rng.normal(0, 1.6, len(DOCS)), 1)
            best = np.argsort(-scores)[:DEPTH]
            rows += [(qid, DOCS[doc], scores[doc]) for doc in best]
            rows.append((qid, qid, scores[best[4]] + 0.05))  # the query itself
        run = pd.DataFrame(rows, columns=["qid", "docno", "score"])
        runs[name] = run.sample(frac=1, random_state=len(runs), ignore_index=True)
    at_query, at_doc = np.nonzero(rng.random(true.shape) < 0.75)
    qrels = pd.DataFrame(
        {
            "qid": [queries[q] for q in at_query],
            "docno": [DOCS[d] for d in at_doc],
            "label": true[at_query, at_doc],
        }
    )
    return runs, qrels.sample(frac=1, random_state=seed, ignore_index=True)


def repeated(seed: int = 1) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """The collection with documents that occur twice in the ranking of a query, in two runs."""
    runs, qrels = collection(seed)
    twice = {
        name: pd.concat([run, run.groupby("qid").nth(2).assign(score=-9.0)], ignore_index=True)
        for name, run in runs.items()
        if name in ("alpha", "bravo")
    }
    return {**runs, **twice}, qrels


@cache
def judged_by(agrees: float) -> pd.DataFrame:
    """Judgements of the same documents that agree on this share of them, in another order."""
    qrels = collection()[1]
    rng = np.random.default_rng([1, int(100 * agrees)])
    drawn = rng.choice(qrels["label"], len(qrels))
    same = rng.random(len(qrels)) < agrees
    judged = qrels.assign(label=np.where(same, qrels["label"], drawn))
    return judged.sample(frac=1, random_state=6)


def _run_of(rankings: dict[str, list[str]]) -> pd.DataFrame:
    """A run from the rankings of its queries."""
    rows = [
        (qid, doc, float(-rank)) for qid, docs in rankings.items() for rank, doc in enumerate(docs)
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


def circular() -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Three runs that have a document of grade 1 at ranks 6, 7, 8 of each third of the queries.

    By the sign of the first difference each run is preferred to the next on two thirds of the
    queries. All runs have a document of grade 2 at rank 9.
    """
    top, rest = DOCS[:5], DOCS[8:12]
    runs = {}
    for shift, name in enumerate(("charlie", "alpha", "delta")):
        at = [(number + shift) % 3 for number in range(len(QUERIES))]
        below = {qid: DOCS[5 : 5 + n] + ["d50"] + DOCS[5 + n : 7] for qid, n in zip(QUERIES, at)}
        runs[name] = _run_of({qid: [*top, *docs, "d51", *rest] for qid, docs in below.items()})
    qrels = [row for qid in QUERIES for row in ((qid, "d50", 1), (qid, "d51", 2))]
    return runs, pd.DataFrame(qrels, columns=["qid", "docno", "label"])


def uncommon() -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Charlie finds two documents, each with one other run, and alpha a third document alone.

    Alpha's document is the rarest of all runs. Of charlie and alpha alone, charlie finds more.
    """
    found = {"charlie": ["d1", "d2"], "alpha": ["d3"], "delta": ["d1"], "bravo": ["d2"]}
    runs = {
        name: _run_of({qid: [*docs, *DOCS[10:20]] for qid in QUERIES})
        for name, docs in found.items()
    }
    qrels = [(qid, doc, 1) for qid in QUERIES for doc in ("d1", "d2", "d3")]
    return runs, pd.DataFrame(qrels, columns=["qid", "docno", "label"])


@cache
def labels(seed: int = 1) -> pd.DataFrame:
    """Documents without a label that runs rank among the first three: all have grade 2."""
    runs, qrels = collection(seed)
    ranked = [run.sort_values("score", ascending=False) for run in runs.values()]
    first = pd.concat(run.groupby("qid").head(3) for run in ranked)
    pairs = first[["qid", "docno"]].drop_duplicates()
    judged = pairs.merge(qrels, how="left", on=["qid", "docno"])
    unjudged = judged[judged["label"].isna() & judged["docno"].str.startswith("d")]
    return unjudged[["qid", "docno"]].assign(label=2).reset_index(drop=True)


@cache
def folder() -> Path:
    """A folder for files, deleted after the tests."""
    return Path(tempfile.mkdtemp(prefix="small-"))
