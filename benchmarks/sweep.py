"""How fast a setting is tried: the sweep against GridScan on Terrier, PISA, and the pipeline.

AP of Vaswani's 93 queries, 1000 results each. The median time per setting, one after another on one
thread, after one that is not counted (it compiles and loads); other settings each time. "twice"
runs two at once in threads. Engines tokenise as they do by default, so AP differs a little.

    python benchmarks/sweep.py [--settings 20]

PISA is measured where pyterrier_pisa is installed.
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
from pyterrier_asl.tuning.objective import Objective, PipelineObjective, make_task
from pyterrier_asl.tuning.space import Setting, Space
from pyterrier_asl.tuning.sweep import Sweep

DATASET = ir_datasets.load("vaswani")
TOPICS = pt.get_dataset("irds:vaswani").get_topics()
QRELS = pt.get_dataset("irds:vaswani").get_qrels()

#: From a setting to its AP.
Try = Callable[[Setting], float]


def documents() -> Iterator[dict[str, str]]:
    for doc in DATASET.docs_iter():
        yield {"docno": doc.doc_id, "text": doc.text}


def terrier(folder: Path) -> Try:
    """GridScan over a Terrier retriever; a scan of one setting, as it has no shortcuts for more."""
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


def median_seconds(run: Try, settings: Sequence[Setting]) -> tuple[float, float]:
    """The median time of a setting, and the AP of the last; the first one is not counted."""
    taken, value = [], float("nan")
    for setting in settings:
        start = time.perf_counter()
        value = run(setting)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:]), value


def seconds_in_threads(run: Try, settings: Sequence[Setting]) -> float:
    """The time of a setting where two are tried at once."""
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
        few = [*settings[:3], settings[-1]]  # for what takes long; the last is the same
        swept = _ap(Sweep(stage.pipeline, space, task))
        pipeline = _ap(PipelineObjective(stage.pipeline, space, task))
        yield stage.name, "sweep", *median_seconds(swept, settings)
        yield stage.name, "sweep, two at once", seconds_in_threads(swept, settings), float("nan")
        yield stage.name, "pipeline", *median_seconds(pipeline, few)
        if stage.name == "initial retrieval":
            yield from others(folder, stage.name, few)
        space.set(max(settings, key=swept))  # with which the next stage goes on
        for other in stage.handed_to:
            other.b, other.k1 = stage.pipeline.b, stage.pipeline.k1


def _ap(objective: Objective) -> Try:
    return lambda setting: objective(setting)["AP"]


def others(
    folder: Path, stage: str, settings: Sequence[Setting]
) -> Iterator[tuple[str, str, float, float]]:
    """The engines that are not ours."""
    for name, build in {"GridScan on Terrier": terrier, "PISA and ir_measures": pisa}.items():
        try:
            run = build(folder)
        except ImportError as error:
            print(f"without {name}: {error}")
            continue
        yield stage, name, *median_seconds(run, settings)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--settings", type=int, default=20)
    count = arguments.parse_args().settings
    with tempfile.TemporaryDirectory() as folder:
        table = pd.DataFrame(rows(Path(folder), count), columns=["stage", "by", "seconds", "AP"])
    sweep = table[table["by"] == "sweep"].set_index("stage")["seconds"]
    table["ms"] = (table.pop("seconds") * 1e3).round(2)
    table["of the sweep's"] = (table["ms"] / 1e3 / table["stage"].map(sweep)).round(1)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
