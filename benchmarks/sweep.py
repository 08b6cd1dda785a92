"""The time per setting in tuning: the sweep, GridScan on Terrier, PISA, and the pipeline.

A setting is evaluated by AP over the 93 queries of vaswani, 1000 results each. The table has the
median time per setting on one thread. All engines try the same settings in turn, so that other load
on the machine slows them alike. The first setting is not counted (it compiles and loads). "two at
once" is the sweep in two threads, per setting. Engines tokenise by their defaults, so AP differs a
little.

    python benchmarks/sweep.py [--settings 10] 2>/dev/null | tail -12

PISA is measured if pyterrier_pisa is installed. It prints its progress before the table.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ir_datasets
import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import AP

from pyterrier_asl import TermIndex
from pyterrier_asl.tuning import bm25_stages
from pyterrier_asl.tuning.objective import Objective, make_task
from pyterrier_asl.tuning.space import Setting, Space
from pyterrier_asl.tuning.sweep import Sweep

DATASET = ir_datasets.load("vaswani")
TOPICS = pt.get_dataset("irds:vaswani").get_topics()
QRELS = pt.get_dataset("irds:vaswani").get_qrels()

#: A function that returns the AP of a setting.
Try = Callable[[Setting], float]


def documents() -> Iterator[dict[str, str]]:
    for doc in DATASET.docs_iter():
        yield {"docno": doc.doc_id, "text": doc.text}


def terrier(folder: Path) -> Try:
    """GridScan over a Terrier retriever, one setting per scan, as more settings are not faster."""
    index = pt.terrier.TerrierIndex(folder / "terrier")
    index.indexer().index(documents())
    controls = {"bm25.b": 0.75, "bm25.k_1": 1.2}
    bm25 = pt.terrier.Retriever(
        index.index_ref(), wmodel="BM25", controls=controls, num_results=1000
    )

    def scan(setting: Setting) -> float:
        b, k1 = setting
        grid = {bm25: {"bm25.b": [b], "bm25.k_1": [k1]}}
        return float(pt.GridScan(bm25, grid, TOPICS, QRELS, ["map"])["map"][0])

    return scan


def pisa(folder: Path) -> Try:
    """PISA's BM25, evaluated by ir_measures."""
    from pyterrier_pisa import PisaIndex

    index = PisaIndex(str(folder / "pisa"), text_field="text", threads=1)
    index.index(documents())
    qrels = pt.model.to_ir_measures(QRELS)

    def run(setting: Setting) -> float:
        b, k1 = setting
        results = index.bm25(k1=k1, b=b, num_results=1000, threads=1)(TOPICS)
        return float(ir_measures.calc_aggregate([AP], qrels, pt.model.to_ir_measures(results))[AP])

    return run


def taking_turns(
    engines: dict[str, Try], settings: Sequence[Setting]
) -> Iterator[tuple[str, float, float]]:
    """The median time per setting and the AP of the last setting, for each engine."""
    taken: dict[str, list[float]] = {name: [] for name in engines}
    values = {}
    for setting in settings:
        for name, run in engines.items():
            start = time.perf_counter()
            values[name] = run(setting)
            taken[name].append(time.perf_counter() - start)
    for name, seconds in taken.items():
        yield name, statistics.median(seconds[1:]), values[name]


def in_threads(run: Try, settings: Sequence[Setting]) -> float:
    """The time per setting if two threads try settings."""
    with ThreadPoolExecutor(2) as pool:
        start = time.perf_counter()
        list(pool.map(run, settings))
        return (time.perf_counter() - start) / len(settings)


def rows(folder: Path, count: int) -> Iterator[tuple[str, str, float, float]]:
    """Stage, engine, seconds and AP."""
    index = TermIndex.from_documents(documents(), verbose=False)
    task = make_task(TOPICS, QRELS, AP)
    rng = np.random.default_rng(0)
    for stage in bm25_stages(index):
        space = Space(stage.params)
        settings = [space.setting(rng.random(len(space.labels))) for _ in range(count + 1)]
        sweep = _ap(Sweep(stage.pipeline, space, task))
        engines = {
            "sweep": sweep,
            "pipeline": _ap(Objective(stage.pipeline, space, task)),
            **(others(folder) if stage.name == "initial retrieval" else {}),
        }
        for row in taking_turns(engines, settings):
            yield stage.name, *row
        yield stage.name, "sweep, two at once", in_threads(sweep, settings * 5), float("nan")
        space.set(max(settings, key=sweep))  # the next stage uses it
        for other in stage.handed_to:
            other.b, other.k1 = stage.pipeline.b, stage.pipeline.k1


def _ap(objective: Objective) -> Try:
    return lambda setting: objective(setting)["AP"]


def others(folder: Path) -> dict[str, Try]:
    """The other engines that are installed."""
    found = {}
    for name, build in {"GridScan on Terrier": terrier, "PISA and ir_measures": pisa}.items():
        try:
            found[name] = build(folder)
        except ImportError as error:
            print(f"without {name}: {error}")
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--settings", type=int, default=10)
    count = arguments.parse_args().settings
    with tempfile.TemporaryDirectory() as folder:
        table = pd.DataFrame(rows(Path(folder), count), columns=["stage", "by", "seconds", "AP"])
    sweep = table[table["by"] == "sweep"].set_index("stage")["seconds"]
    table["ms"] = (table.pop("seconds") * 1e3).round(2)
    table["of the sweep's"] = (table["ms"] / 1e3 / table["stage"].map(sweep)).round(1)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
