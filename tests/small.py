"""The small collections of all tests: runs and qrels in which an order or a default would show.

Runs, queries and documents come in no order, and no run is as long or as deep as another. Scores
tie; a quarter of the documents are unjudged, the others have grades from 0 to 3. One query of the
qrels is answered by no run and one has no relevant document; each run leaves out a query and
answers one that is not judged. The order of the names of systems is not that of their quality.

A test whose expected values are worked by hand keeps its tiny input beside them.
"""

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]

#: How well each system finds relevant documents; the best is bravo, the worst charlie.
QUALITY = {"delta": 1.2, "alpha": 0.8, "bravo": 2.6, "charlie": 0.3, "echo": 1.9}
#: The query that no run answers, and the query without relevant documents.
UNANSWERED, NOTHING = "q05", "q9"


def collection(
    queries: int = 12, systems: int = 4, seed: int = 1, complete: bool = False
) -> tuple[dict[str, Run], Qrels]:
    """Runs by the name of their system, and qrels.

    Args:
        queries: of the qrels, at least 4.
        systems: at most five have names; further ones are numbered.
        seed: of grades and scores.
        complete: whether each run answers all queries of the qrels, and no other.
    """
    return deepcopy(_collection(queries, systems, seed, complete))


@cache
def _collection(queries: int, systems: int, seed: int, complete: bool) -> tuple[Any, Any]:
    random = np.random.default_rng([seed, queries])
    numbered = [f"q{number}" for number in range(10, queries + 8)]
    qids = [*random.permutation([*numbered, UNANSWERED, NOTHING]).tolist()]
    docnos = [f"d{number}" for number in random.permutation(30)]
    grades = random.choice([0, 0, 0, 0, 0, 1, 1, 2, 3], (queries, len(docnos)))
    grades[qids.index(NOTHING)] = 0
    qualities = [*QUALITY.values(), *random.uniform(0, 2, systems)][:systems]
    runs = {}
    for name, quality in zip([*QUALITY, *(f"s{n}" for n in range(systems))], qualities):
        runs[name] = {}
        skipped = {UNANSWERED, str(random.choice(numbered))}
        for number in random.permutation(queries):
            scores = quality * grades[number] + random.normal(0, 1.2, len(docnos))
            kept = random.permutation(np.argsort(-scores)[: random.integers(4, 16)])
            if complete or qids[number] not in skipped:
                runs[name][qids[number]] = {docnos[at]: round(2 * scores[at]) / 2 for at in kept}
        if not complete:
            runs[name]["q99"] = {"d1": 1.5, "d7": 2.0}
    qrels = {
        qid: {docnos[at]: int(of[at]) for at in random.permutation(random.choice(30, 22, False))}
        for qid, of in zip(qids, grades)
    }
    return runs, qrels


RUNS, QRELS = collection()
#: One run of them.
RUN = RUNS["alpha"]

#: Queries of the qrels that :data:`JUDGE` lacks, and queries that the judge alone has.
LACKED, FURTHER = ("q11", "q14"), ("q99", "x1", "x2")


def _judge() -> Qrels:
    """An uneven judge: other queries than the qrels, other documents, and other grades."""
    random = np.random.default_rng(4)
    shared = [qid for qid in QRELS if qid not in LACKED]
    docnos = [f"d{number}" for number in range(30)]
    judge = {
        qid: {d: int(random.choice([g, g, 0, 3])) for d, g in QRELS[qid].items() if d != "d3"}
        for qid in random.permutation(shared)
    }
    return judge | {qid: dict.fromkeys(docnos[:9], 1) | {"d20": 3} for qid in FURTHER}


JUDGE = _judge()


def frame(table: dict[str, dict[str, Any]], value: str = "score", seed: int = 1) -> pd.DataFrame:
    """A run (or qrels, with 'label') as a frame, its rows in no order."""
    rows = [(qid, docno, number) for qid, of in table.items() for docno, number in of.items()]
    shuffled = pd.DataFrame(rows, columns=["qid", "docno", value]).sample(frac=1, random_state=seed)
    return shuffled.reset_index(drop=True)


#: The least input that can be evaluated, for calls whose values do not matter. No document ties,
#: one is unjudged.
ONE_RUN: Run = {"q": {"a": 1.0, "b": 3.0, "x": 2.0}, "p": {"b": 2.0}}
ONE_QRELS: Qrels = {"q": {"b": 0, "a": 1}, "p": {"a": 2, "b": 1}}
TWO_RUNS = {"y": ONE_RUN, "x": {"p": {"a": 4.0, "b": 1.0}, "q": {"a": 1.0, "y": 0.5}}}
