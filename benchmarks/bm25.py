"""The speed of BM25 by a TermIndex, Terrier and, if it is installed, PISA.

Each engine retrieves the top 1000 for the 93 queries of vaswani as a frame. The table has median
times of repeated calls on one thread, after one call that is not counted (it compiles and loads).
Engines index and tokenise by their defaults, so the rankings differ a little. The last column is
the ratio to the time of Terrier.

    python benchmarks/bm25.py [--runs 7]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import ir_datasets
import pandas as pd
import pyterrier as pt

from pyterrier_asl.retrieval.feedback import RobertsonPRF
from pyterrier_asl.retrieval.index import TermIndex

DATASET = ir_datasets.load("vaswani")


def documents() -> Iterator[dict[str, str]]:
    for doc in DATASET.docs_iter():
        yield {"docno": doc.doc_id, "text": doc.text}


def queries() -> pd.DataFrame:
    rows = [(query.query_id, query.text.strip()) for query in DATASET.queries_iter()]
    return pd.DataFrame(rows, columns=["qid", "query"])


def term_index(folder: Path) -> Any:
    return TermIndex.from_documents(documents(), path=folder / "terms", verbose=False)


def terrier(folder: Path) -> Any:
    index = pt.terrier.TerrierIndex(folder / "terrier")
    index.indexer().index(documents())
    return index


def pisa(folder: Path) -> Any:
    from pyterrier_pisa import PisaIndex

    index = PisaIndex(str(folder / "pisa"), text_field="text", threads=1)
    index.index(documents())
    return index


ENGINES: dict[str, Callable[[Path], Any]] = {
    "Terrier": terrier,
    "PISA": pisa,
    "TermIndex": term_index,
}


def seconds(call: Callable[[], Any], runs: int) -> float:
    call()
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def measure(folder: Path, runs: int) -> pd.DataFrame:
    """One row per installed engine and task."""
    topics = queries()
    rows: list[tuple[str, str, float, int]] = []
    for name, build in ENGINES.items():
        start = time.perf_counter()
        try:
            index = build(folder)
        except ImportError as missing:
            print(f"{name} is left out: {missing}")
            continue
        rows.append((name, "index", time.perf_counter() - start, DATASET.docs_count()))
        bm25 = index.bm25(num_results=1000)
        pipelines = {"BM25": bm25}
        if name != "PISA":  # PISA cannot look up the terms of a document
            pipelines["BM25 >> RobertsonPRF >> BM25"] = bm25 >> RobertsonPRF(index) >> bm25
        for task, pipeline in pipelines.items():
            taken = seconds(partial(pipeline, topics), runs)
            rows.append((name, task, taken, len(pipeline(topics))))
    table = pd.DataFrame(rows, columns=["engine", "task", "seconds", "rows"])
    terriers = table[table["engine"] == "Terrier"].set_index("task")["seconds"]
    table["times as fast as Terrier"] = table["task"].map(terriers) / table["seconds"]
    return table.sort_values(["task", "engine"], ignore_index=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--runs", type=int, default=7, help="timed runs, of which the median counts"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = measure(Path(folder), arguments.runs)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3f}"))


if __name__ == "__main__":
    main()
