"""Growth of time and memory with the size of the input, one process per size.

    python benchmarks/growth.py                 # all works
    python benchmarks/growth.py holes judges    # some of them

Each size is twice the size before. The table has the seconds of processor time after imports, the
peak memory of the process, and both as ratios to the size before: 2 means that they grow in
proportion. One ratio is higher if compiled loops are loaded from this size on.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def evaluate(size: int) -> None:
    """Runs of 50 queries by 1,000 documents, as frames."""
    _evaluate(runs=size, queries=50, depth=1000)


def runs(size: int) -> None:
    """Runs of 250 queries by 100 documents."""
    _evaluate(runs=size, queries=250, depth=100)


def queries(size: int) -> None:
    """10 runs of queries by 100 documents."""
    _evaluate(runs=10, queries=size, depth=100)


def _evaluate(runs: int, queries: int, depth: int) -> None:
    import pandas as pd

    from pyterrier_asl import evaluate

    generator = np.random.default_rng(1)
    rows = queries * depth
    qids, ranks = np.divmod(np.arange(rows), depth)
    made = {
        f"run{number}": pd.DataFrame(
            {"qid": qids, "docno": generator.integers(0, 10**9, rows), "score": -ranks}
        ).drop_duplicates(["qid", "docno"])
        for number in range(runs)
    }
    judged = made["run0"].sample(rows // 10, random_state=1).assign(label=1)
    kept = {
        name: pd.concat((run, judged)).drop_duplicates(["qid", "docno"])
        for name, run in made.items()
    }
    measured(
        lambda: evaluate(kept, judged[["qid", "docno", "label"]], ["AP", "ASL@1000", "nDCG@10"])
    )


def holes(size: int) -> None:
    """AP of two runs of one query, for a number of unjudged documents."""
    from pyterrier_asl import holes

    generator = np.random.default_rng(1)
    a, b = (
        {"q": {f"d{doc}": float(-rank) for rank, doc in enumerate(generator.permutation(size))}}
        for _ in range(2)
    )
    qrels = {"q": {f"d{doc}": 1 for doc in range(0, size, 1000)}}
    measured(lambda: holes({"a": a, "b": b}, qrels, "AP"))


def boxes(size: int) -> None:
    """The t-test of queries whose differences are known only up to intervals."""
    from pyterrier_asl.statistics.boxes import box_test

    low = np.random.default_rng(1).normal(0.01, 0.3, size)
    measured(lambda: box_test(low, low + 0.1))


def judges(size: int) -> None:
    """Three judges of documents, each with a different grade per document."""
    from pyterrier_asl.cli import main

    generator = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name) / judge for judge in "abc"]
        for file in files:
            grades = (2 * generator.random(size)).round(9)
            file.write_text("".join(f"{n % 50} 0 d{n} {grade}\n" for n, grade in enumerate(grades)))
        first, *others = map(str, files)
        options = [option for file in others for option in ("--judge", f"{Path(file).name}={file}")]
        measured(lambda: main(["judges", first, *options], standalone_mode=False))


#: Functions, and their sizes.
WORKS = {
    evaluate: [10, 20, 40, 80],
    runs: [125, 250, 500, 1000],
    queries: [6_250, 12_500, 25_000, 50_000],
    holes: [5_000, 10_000, 20_000, 40_000],
    boxes: [10_000, 20_000, 40_000, 80_000],
    judges: [2_500, 5_000, 10_000, 20_000],
}


def measured(work) -> None:
    """Prints the seconds of processor time of a function and the peak memory to stderr."""
    begin = time.process_time()
    work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"MEASURED {time.process_time() - begin} {peak}", file=sys.stderr)


def main() -> None:
    names = {work.__name__: work for work in WORKS}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("works", nargs="*", help=f"some of {', '.join(names)}")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        names[arguments.works[0]](arguments.one)
        return
    print("| work | size | seconds | ratio | MB | ratio |\n|---|---|---|---|---|---|")
    for name in arguments.works or names:
        before = None
        for size in WORKS[names[name]]:
            command = [sys.executable, __file__, name, "--one", str(size)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            [line] = [line for line in done.stderr.splitlines() if line.startswith("MEASURED")]
            now = [float(number) for number in line.split()[1:]]
            ratios = [f"{new / old:.1f}" for new, old in zip(now, before)] if before else ["-", "-"]
            print(
                f"| {name} | {size:,} | {now[0]:.2f} | {ratios[0]} | {now[1]:.0f} | {ratios[1]} |"
            )
            before = now


if __name__ == "__main__":
    main()
