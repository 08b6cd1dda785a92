"""The speed of evaluation, as ratios to ir_measures on the same frames in the same process.

    python benchmarks/evaluation.py                       # 6,980 queries x 1000, some minutes
    python benchmarks/evaluation.py --queries 200         # a minute
    python benchmarks/evaluation.py --growth              # 200 -> 2,000 -> 20,000 queries

Inputs are generated from a seed. The calls of this package and of ir_measures alternate. The table
has medians and their ratio. "First call" is the first call in a new process, with its imports.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

DOCUMENTS = 8_841_823
DEPTH = 1000
JUDGED = 215
POOL = 8


def generate(queries: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A sorted run with the size and ids of MS MARCO, and qrels for half of its documents."""
    rng = np.random.default_rng(seed)
    qids = rng.permutation(1_100_000)[:queries].astype(str)
    docs = rng.integers(DOCUMENTS, size=(queries, DEPTH + JUDGED // 2)).astype(str)
    scores = np.sort(rng.random((queries, DEPTH)) * 30, axis=1)[:, ::-1]
    run = pd.DataFrame(
        {
            "query_id": np.repeat(qids, DEPTH),
            "doc_id": docs[:, :DEPTH].ravel(),
            "score": scores.ravel(),
            "doc_len": rng.integers(20, 200, queries * DEPTH).astype(float),
        }
    )
    judged = docs[:, -JUDGED:]
    qrels = pd.DataFrame(
        {"query_id": np.repeat(qids, JUDGED), "doc_id": judged.ravel()}
    ).drop_duplicates()
    qrels["relevance"] = rng.choice([0, 1, 2, 3], len(qrels), p=[0.7, 0.15, 0.1, 0.05])
    return run.drop_duplicates(["query_id", "doc_id"]), qrels


def pool_of(run: pd.DataFrame, seed: int) -> Any:
    """A pool of the run and seven other rankings of its first 300 documents."""
    from pyterrier_asl import RarenessPool

    rng = np.random.default_rng(seed)
    candidates = run[run.groupby("query_id", sort=False).cumcount() < 300]
    runs = {"run": run}
    for number in range(1, POOL):
        scores = candidates["score"] * rng.random(len(candidates))
        runs[f"other{number}"] = candidates.assign(score=scores)
    return RarenessPool.from_runs(runs, depth=100)


def as_objects(frame: pd.DataFrame) -> pd.DataFrame:
    """Text as Python strings that share query ids, as the readers and merges of pandas return."""
    shared: dict[str, str] = {}
    qids = [shared.setdefault(qid, qid) for qid in frame["query_id"]]
    return frame.astype({"doc_id": object}).assign(query_id=np.array(qids, dtype=object))


def measured(works: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The median time of each function, called in turn, after one round that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            begin = time.perf_counter()
            work()
            if turn or repeats == 0:
                times[name].append(time.perf_counter() - begin)
    return {name: median(each) for name, each in times.items()}


def row(work: str, ours: float, against: str, theirs: float) -> None:
    print(f"| {work} | {ours:.3f} s | {against} | {theirs:.2f} s | {theirs / ours:.1f}x |")


def frames(arguments: argparse.Namespace) -> None:
    """Measures of this package and [AP, RR] by ir_measures, on frames."""
    import ir_measures
    from ir_measures import AP, RR

    from pyterrier_asl import ASL, TBG, AP_Rareness, LexiP

    run, qrels = generate(arguments.queries, arguments.seed)
    ours = [ASL @ 1000, LexiP, AP_Rareness(pool=pool_of(run, arguments.seed)) @ 100, TBG]
    queries = run["query_id"].nunique()
    print(f"\n{len(run):,} rows, {queries:,} queries, qrels of {len(qrels):,} rows")
    print("\n| work | ours | against | | ratio |\n|---|---|---|---|---|")

    works = {
        "ours": lambda: ir_measures.calc_aggregate(ours, qrels, run),
    }
    if arguments.objects:  # the type of text in pandas 2
        run_, qrels_ = (as_objects(frame) for frame in (run, qrels))
        works["objects"] = lambda: ir_measures.calc_aggregate(ours, qrels_, run_)
    seconds = measured(works, arguments.repeats)
    rival = measured(
        {"rival": lambda: ir_measures.calc_aggregate([AP, RR], qrels, run)},
        arguments.rival_repeats,
    )["rival"]
    name = "ir_measures [AP, RR]"
    row("[ASL@1000, LexiP, AP_Rareness@100, TBG] on frames", seconds["ours"], name, rival)
    if "objects" in seconds:
        row("ours on frames of Python strings", seconds["objects"], name, rival)


def unordered(arguments: argparse.Namespace) -> None:
    """An unsorted frame with lengths, and a pool of three runs."""
    import ir_measures
    from ir_measures import AP, RR

    from pyterrier_asl import ASL, TBG, AP_Rareness, LexiP, RarenessPool

    run, qrels = generate(min(arguments.queries, 1000), arguments.seed)
    rng = np.random.default_rng(arguments.seed)
    run = run.iloc[rng.permutation(len(run))].reset_index(drop=True)
    pooled = {f"run{n}": run.assign(score=run["score"] * rng.random(len(run))) for n in range(2)}
    pool = RarenessPool.from_runs({"run": run, **pooled}, depth=100)
    ours = [ASL @ 1000, LexiP, AP_Rareness(pool=pool) @ 100, TBG]
    works = {
        "ours": lambda: ir_measures.calc_aggregate(ours, qrels, run),
        "rival": lambda: ir_measures.calc_aggregate([AP, RR], qrels, run),
    }
    seconds = measured(works, arguments.repeats)
    name = "ir_measures [AP, RR]"
    row(f"the four on {len(run):,} rows in no order", seconds["ours"], name, seconds["rival"])


def experiment(arguments: argparse.Namespace) -> None:
    """pt.Experiment on a small run."""
    import pyterrier as pt
    from ir_measures import AP, RR

    from pyterrier_asl import ASL, TBG, AP_Rareness, LexiP

    run, qrels = generate(200, arguments.seed)
    pool = pool_of(run, arguments.seed)
    results = run.rename(columns={"query_id": "qid", "doc_id": "docno"})
    results["query"], results["rank"] = "x", results.groupby("qid").cumcount()
    judgements = qrels.rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    topics = results[["qid", "query"]].drop_duplicates()

    def of(metrics: list[Any]) -> Callable[[], Any]:
        return lambda: pt.Experiment([results], topics, judgements, metrics)

    ours = [ASL @ 1000, LexiP, AP_Rareness(pool=pool) @ 100, TBG]
    seconds = measured({"ours": of(ours), "rival": of([AP, RR])}, 7)
    name = "[AP, RR] in it"
    row("200 queries in pt.Experiment: the four", seconds["ours"], name, seconds["rival"])


def first_call(arguments: argparse.Namespace) -> None:
    """The time of the first call in a new process."""
    print("\n| first call in a new process | rows | seconds |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for queries in (20, 2000):
            result = _alone(["--one", str(queries)], Path(folder) / "numba")
            print(f"| import pyterrier_asl | | {result['import']:.2f} |")
            print(
                f"| first [ASL@1000, LexiP] | {queries * DEPTH:,} "
                f"| {result['first']:.2f}, later {result['later']:.3f} |"
            )


def growth(arguments: argparse.Namespace) -> None:
    """Time and memory as queries grow tenfold."""
    print("\n| queries | rows | seconds | peak memory beyond the frames |\n|---|---|---|---|")
    for queries in (200, 2000, 20_000):
        result = _alone(["--one", str(queries)], None)
        print(
            f"| {queries:,} | {queries * DEPTH:,} | {result['later']:.3f} "
            f"| {result['memory'] / 1e6:.0f} MB |"
        )


def _alone(options: list[str], cache: Path | None) -> dict[str, float]:
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": str(cache)} if cache else {})}
    done = subprocess.run(
        [sys.executable, __file__, *options], env=environment, check=True, stdout=subprocess.PIPE
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def one(arguments: argparse.Namespace) -> None:
    """In a new process: generates, imports, evaluates, and prints time and memory."""
    import ir_measures

    run, qrels = generate(arguments.one, arguments.seed)
    result = {}
    begin = time.perf_counter()
    from pyterrier_asl import ASL, LexiP

    result["import"] = time.perf_counter() - begin
    before = _peak(reset=True)
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        ir_measures.calc_aggregate([ASL @ 1000, LexiP], qrels, run)
        times.append(time.perf_counter() - begin)
    result.update(first=times[0], later=min(times[1:]), memory=_peak() - before)
    print(json.dumps(result))


def _peak(reset: bool = False) -> int:
    """The peak memory of this process in bytes; ``reset`` starts a new peak (on Linux)."""
    if reset and Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")
    if Path("/proc/self/status").exists():
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=6980, help="queries of the large run")
    parser.add_argument("--repeats", type=int, default=5, help="repetitions of our work")
    parser.add_argument("--rival-repeats", type=int, default=0, help="0: one run that counts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--objects", action="store_true", help="frames of Python strings as well")
    parser.add_argument("--growth", action="store_true", help="only: how time and memory grow")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.one:
        one(arguments)
    elif arguments.growth:
        growth(arguments)
    else:
        frames(arguments)
        unordered(arguments)
        experiment(arguments)
        first_call(arguments)


if __name__ == "__main__":
    main()
