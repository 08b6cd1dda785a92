"""The coverage of intervals of ranks, and their time and memory.

    python benchmarks/ranks.py coverage --samples 200     # Robust 2003, DL 2020, TREC-8
    python benchmarks/ranks.py speed                      # 61 to 1,000 systems, with bounds

Samples are drawn with replacement from the topics of a collection, which are the population.
*Equal*: the mean of every system is shifted to 0, so that each ordered pair is an error; the level
is .05. *Real*: the true ranks are the ranks over all topics. The columns are the share of samples
in which all intervals contain the true ranks, and the share with a pair in the wrong order.
*5 + 95*: two collections of 5 and 95 topics with all systems equal over both, and the error if the
topics are pooled. The tests use the same data (``PYTERRIER_ASL_DATA``).
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd

from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.leaderboard.ranks import ranks
from pyterrier_asl.measures.directions import higher_is_better
from pyterrier_asl.measures.parsing import parse_measure
from pyterrier_asl.statistics.rank_intervals import VARIANCES, rank_intervals

DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", "../shared/data"))
COLLECTIONS = {
    "Robust 2003": ("robust03", "qrels.txt"),
    "DL 2020": ("dl20-passage", "qrels.txt"),
    "TREC-8": ("trec8-adhoc", "qrels.txt.gz"),
}
MEASURES = ("AP", "nDCG@10", "P@10", "RR", "nASL@100")


def values_of(runs: Evaluation, measure: str) -> np.ndarray:
    """The values of a measure, with signs such that higher is better."""
    sign = -1 if higher_is_better(parse_measure(measure)) is False else 1
    return sign * runs.values(measure)


def levels(values: np.ndarray, topics: int, samples: int, draws: int) -> dict[str, float]:
    """The share of samples in which any pair is ordered although all systems are equal."""
    generator = np.random.default_rng(topics)
    equal = values - values.mean(axis=1, keepdims=True)
    errors: dict[str, list[bool]] = {variance: [] for variance in VARIANCES}
    for seed in range(samples):
        at = generator.integers(0, values.shape[1], topics)
        for variance, wrong in errors.items():
            options = {"draws": draws, "seed": seed, "variance": variance}
            board = rank_intervals(equal[:, at], possibly_best=False, **options)
            wrong.append(bool(board.better.any()))
    return {f"equal, {variance}": float(np.mean(wrong)) for variance, wrong in errors.items()}


def rates(values: np.ndarray, topics: int, samples: int, draws: int) -> dict[str, float]:
    """The share of samples with a wrong interval or order; the true order is over all topics."""
    generator, means = np.random.default_rng(topics), values.mean(axis=1)
    truth = 1 + (means > means[:, np.newaxis] + 1e-9).sum(axis=1)
    last = len(means) - (means < means[:, np.newaxis] - 1e-9).sum(axis=1)
    worse = means[:, np.newaxis] < means - 1e-9  # the row's system is worse than the column's
    rows = []
    for seed in range(samples):
        at = generator.integers(0, values.shape[1], topics)
        board = rank_intervals(values[:, at], draws=draws, seed=seed)
        assert board.possibly_best is not None
        rows.append(
            {
                "real: all intervals hold": ((board.low <= truth) & (board.high >= last)).all(),
                "real: any wrong order": (board.better & worse).any(),
                "width": np.mean(board.high - board.low + 1),
                "could be the best": board.possibly_best.sum(),
                "the best could be": board.possibly_best[truth == 1].all(),
            }
        )
    return pd.DataFrame(rows).astype(float).mean().to_dict()


def of_two_sizes(values: np.ndarray, samples: int, draws: int) -> dict[str, float]:
    """The error with 5 topics from one half of the topics and 95 from the other, and if pooled."""
    generator, half = np.random.default_rng(5), values.shape[1] // 2
    means = [values[:, :half].mean(axis=1), values[:, half:].mean(axis=1)]
    equal = values - np.mean(means, axis=0)[:, np.newaxis]
    stratified, pooled = [], []
    for seed in range(samples):
        small = generator.integers(0, half, 5)
        large = generator.integers(half, values.shape[1], 95)
        sample = equal[:, np.concatenate((small, large))]
        options = {"draws": draws, "seed": seed, "possibly_best": False}
        by_collection = rank_intervals(sample, collections=["a"] * 5 + ["b"] * 95, **options)
        stratified.append(by_collection.better.any())
        pooled.append(rank_intervals(sample, **options).better.any())
    return {"5 + 95": np.mean(stratified), "5 + 95 pooled": np.mean(pooled)}


def coverage(samples: int, draws: int, names: list[str], real: bool) -> None:
    rows = []
    for name in names or COLLECTIONS:
        folder, qrels = COLLECTIONS[name]
        runs = Evaluation.of(DATA / folder / "runs", DATA / folder / qrels)
        for measure in MEASURES:
            values = values_of(runs, measure)
            for topics in (25, 50):
                row = {"collection": name, "measure": measure, "topics": topics}
                row |= levels(values, topics, samples, draws)
                if real and topics == 50:
                    row |= rates(values, topics, samples, draws)
                    row |= of_two_sizes(values, samples, draws)
                rows.append(row)
                print(pd.DataFrame([row]).round(3).to_string(index=False), flush=True)
    frame = pd.DataFrame(rows)
    columns = [f"equal, {variance}" for variance in VARIANCES]
    for by in ("measure", "collection"):
        print(f"\n{samples} samples:\n{frame.groupby([by, 'topics'])[columns].mean().round(3)}")


# Speed


def board(systems: int, topics: int) -> np.ndarray:
    """Values of systems with different means."""
    generator = np.random.default_rng(1)
    means = generator.normal(0.5, 0.1, (systems, 1)) + generator.normal(0, 0.2, topics)
    return np.clip(means + generator.normal(0, 0.12, (systems, topics)), 0, 1)


def timed(what: str, work: object) -> float:
    start, processor = time.perf_counter(), time.process_time()
    work()  # type: ignore[operator]
    seconds, used = time.perf_counter() - start, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{what:40} {seconds:8.2f} s, CPU {used:8.2f} s   peak {peak:.2f} GB", flush=True)
    return seconds


def speed(draws: int, large: bool) -> None:
    for systems in (61, 129, 1000):
        values = board(systems, 50)
        timed(f"{systems:,} x 50", lambda values=values: rank_intervals(values, draws=draws))
    if large:
        values = board(1000, 1000)
        timed("1,000 x 1,000", lambda: rank_intervals(values, draws=draws))
    small = board(129, 50)
    generator = np.random.default_rng(2)
    lower = small[:, np.newaxis] - small - generator.uniform(0, 0.1, (129, 129, 50))
    timed("129 x 50, bounds given", lambda: rank_intervals(lower=lower, draws=draws))
    runs = Evaluation.of(DATA / "trec8-adhoc" / "runs", DATA / "trec8-adhoc" / "qrels.txt.gz")
    for measure in ("ASL@100", "nDCG@10"):
        timed(
            f"TREC-8, {measure}, with its bounds",
            lambda measure=measure: ranks(runs, measures=measure, unjudged=True, draws=draws),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["coverage", "speed"])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--collection", action="append", choices=list(COLLECTIONS))
    parser.add_argument("--real", action="store_true", help="also with real differences")
    parser.add_argument("--large", action="store_true", help="also 1,000 x 1,000")
    arguments = parser.parse_args()
    if arguments.what == "speed":
        speed(arguments.draws, arguments.large)
    else:
        coverage(arguments.samples, arguments.draws, arguments.collection, arguments.real)


if __name__ == "__main__":
    main()
