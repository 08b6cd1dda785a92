"""Three Terrier pipelines on vaswani by ten measures, in one experiment.

The pipelines are BM25 and BM25 with pseudo-relevance feedback by RM3 and by Bo1. The example needs
Java (``pip install '.[terrier]'`` installs it) and Terrier, which PyTerrier downloads.

    python examples/terrier_prf.py [FOLDER]

FOLDER keeps the index for later calls. Without it the index is built in a temporary folder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import ir_datasets
import pandas as pd
import pyterrier as pt
from ir_measures import AP, RR, R, nDCG

from pyterrier_asl import ASL, TBG, AP_Rareness, LexiP, RarenessPool, nASL

COLLECTION = "vaswani"


def terrier_index(folder: Path) -> pt.terrier.TerrierIndex:
    """An index with Terrier's defaults: stopwords removed, Porter's stemmer."""
    index = pt.terrier.TerrierIndex(folder / f"{COLLECTION}.terrier")
    if not index.built():
        documents = ir_datasets.load(COLLECTION).docs_iter()
        index.indexer().index({"docno": doc.doc_id, "text": doc.text} for doc in documents)
    return index


def topics_and_qrels() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The queries and qrels of the collection, as frames for PyTerrier."""
    dataset = ir_datasets.load(COLLECTION)
    topics = pd.DataFrame(
        [(query.query_id, query.text) for query in dataset.queries_iter()],
        columns=["qid", "query"],
    )
    qrels = pd.DataFrame(
        [(qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in dataset.qrels_iter()],
        columns=["qid", "docno", "label"],
    )
    return topics, qrels


def experiment(folder: Path) -> pd.DataFrame:
    """One row per system, one column per measure."""
    index = terrier_index(folder)
    bm25 = index.bm25()
    systems = {
        "BM25": bm25,
        "BM25 >> RM3": bm25 >> pt.rewrite.RM3(index) >> bm25,
        "BM25 >> Bo1": bm25 >> pt.rewrite.Bo1QueryExpansion(index) >> bm25,
    }
    topics, qrels = topics_and_qrels()
    # The pool consists of the three systems. Fewer than eight say little about rareness.
    pool = RarenessPool.from_systems(systems, topics, depth=100)
    measures = [
        *[AP, nDCG @ 10, RR, R @ 1000],
        *[ASL @ 1000, nASL @ 1000, ASL(g=10) @ 1000, LexiP],
        *[TBG(lengths=f"irds:{COLLECTION}"), AP_Rareness(pool=pool) @ 100],
    ]
    table: pd.DataFrame = pt.Experiment(
        list(systems.values()), topics, qrels, measures, names=list(systems)
    )
    return table


def main() -> None:
    if len(sys.argv) > 1:
        table = experiment(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            table = experiment(Path(folder))
    print(table.set_index("name").T.round(4).to_string())


if __name__ == "__main__":
    main()
