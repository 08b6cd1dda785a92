"""Do intervals of ranks hold as often as they say, and what do they take?

    python benchmarks/ranks.py coverage --samples 200     # Robust 2003, DL 2020, TREC-8
    python benchmarks/ranks.py speed                      # 129 x 50, with bounds, and 1,000 x 1,000

The topics of a collection are the population, of which samples are drawn with replacement. *Equal*:
every system's mean is made 0, so that any ordered pair is an error. *Real*: ranks are those over
all topics; counted is how often all intervals hold their rank at once, and how often a pair is in
the wrong order. *5 + 95*: two collections of so many topics, all systems equal over both; beside it
the error of pooling the topics. The data are those of the tests (``PYTERRIER_ASL_DATA``).
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
from pyterrier_asl.measures.names import parse_measure
from pyterrier_asl.statistics.rank_intervals import rank_intervals

DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", "../shared/data"))
COLLECTIONS = {
    "Robust 2003": ("robust03", "qrels.txt"),
    "DL 2020": ("dl20-passage", "qrels.txt"),
    "TREC-8": ("trec8-adhoc", "qrels.txt.gz"),
}
MEASURES = ("AP", "nDCG@10", "nASL@100", "P@10")


def values_of(runs: Evaluation, measure: str) -> np.ndarray:
    """Higher is better."""
    sign = -1 if higher_is_better(parse_measure(measure)) is False else 1
    return sign * runs.values(measure)


def rates(values: np.ndarray, topics: int, samples: int, draws: int) -> dict[str, float]:
    """How often something is wrong where all systems are equal, and where they differ."""
    generator, means = np.random.default_rng(topics), values.mean(axis=1)
    equal = values - means[:, np.newaxis]
    truth = 1 + (means > means[:, np.newaxis] + 1e-9).sum(axis=1)
    last = len(means) - (means < means[:, np.newaxis] - 1e-9).sum(axis=1)
    wrong = means[:, np.newaxis] < means - 1e-9  # the row's system is worse than the column's
    errors, covered, reversals, widths, first = [], [], [], [], []
    for seed in range(samples):
        at = generator.integers(0, values.shape[1], topics)
        options = {"draws": draws, "seed": seed, "possibly_best": False}
        errors.append(rank_intervals(equal[:, at], **options).better.any())
        board = rank_intervals(values[:, at], **options)
        covered.append(((board.low <= truth) & (board.high >= last)).all())
        reversals.append((board.better & wrong).any())
        widths.append(np.mean(board.high - board.low + 1))
        first.append((board.low == 1).sum())
    return {
        "equal: any pair ordered": np.mean(errors),
        "real: all intervals hold": np.mean(covered),
        "real: any wrong order": np.mean(reversals),
        "width": np.median(widths),
        "possibly first": np.median(first),
    }


def of_two_sizes(values: np.ndarray, samples: int, draws: int) -> dict[str, float]:
    """The error with 5 topics of one half of the topics and 95 of the other, and of pooling."""
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


def coverage(samples: int, draws: int, names: list[str]) -> None:
    rows = []
    for name in names or COLLECTIONS:
        folder, qrels = COLLECTIONS[name]
        runs = Evaluation.of(DATA / folder / "runs", DATA / folder / qrels)
        for measure in MEASURES:
            values = values_of(runs, measure)
            for topics in (25, 50):
                about = {"collection": name, "measure": measure, "topics": topics}
                row = about | rates(values, topics, samples, draws)
                rows.append(row | of_two_sizes(values, samples, draws) if topics == 50 else row)
                print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False), flush=True)
    frame = pd.DataFrame(rows)
    rate = "equal: any pair ordered"
    summary = frame.groupby(["collection", "topics"])[rate].agg(["mean", "max"])
    print(f"\n{rate}, {samples} samples:\n{summary.round(3).to_string()}")
    holds = frame["real: all intervals hold"]
    print(f"real differences: all intervals hold in {holds.min():.3f} to {holds.max():.3f}")


# Speed


def plainly(values: np.ndarray, draws: int) -> float:
    """The first critical value, pair by pair in double precision: what speed is compared with."""
    systems, topics = values.shape
    signs = 1 - 2 * np.random.default_rng(0).integers(0, 2, (draws, topics))
    residuals = (values - values.mean(axis=1, keepdims=True)) / topics
    residuals *= np.sqrt(topics / (topics - 1))
    sums = residuals @ signs.T
    error = np.array([((residuals - row) ** 2).sum(axis=1) for row in residuals])
    mean = error.sum() / (systems * (systems - 1))
    largest = np.zeros(draws)
    for j in range(systems):
        total = sums[j + 1 :] - sums[j]
        size = np.sqrt((error[j, j + 1 :, np.newaxis] - total**2 / topics + mean) / 2)
        np.maximum(largest, np.abs(total / size).max(axis=0, initial=0), out=largest)
    return float(np.sort(largest)[int(np.ceil(0.95 * draws)) - 1])


def board(systems: int, topics: int) -> np.ndarray:
    """Values of systems that differ."""
    generator = np.random.default_rng(1)
    means = generator.normal(0.5, 0.1, (systems, 1)) + generator.normal(0, 0.2, topics)
    return np.clip(means + generator.normal(0, 0.12, (systems, topics)), 0, 1)


def timed(what: str, work: object) -> float:
    start = time.perf_counter()
    work()  # type: ignore[operator]
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{what:48} {seconds:8.2f} s   peak {peak:.2f} GB", flush=True)
    return seconds


def speed(draws: int, large: bool) -> None:
    small = board(129, 50)
    ours = timed("129 x 50", lambda: rank_intervals(small, draws=draws))
    plain = timed("129 x 50, one step pair by pair", lambda: plainly(small, draws))
    print(f"one plain step takes {plain / ours:.2f} times as long as all steps")
    if large:
        values = board(1000, 1000)
        ours = timed("1,000 x 1,000", lambda: rank_intervals(values, draws=draws))
        plain = timed("1,000 x 1,000, one step pair by pair", lambda: plainly(values, draws))
        print(f"one plain step takes {plain / ours:.2f} times as long as all steps")
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
    parser.add_argument("--large", action="store_true", help="also 1,000 x 1,000")
    arguments = parser.parse_args()
    if arguments.what == "speed":
        speed(arguments.draws, arguments.large)
    else:
        coverage(arguments.samples, arguments.draws, arguments.collection)


if __name__ == "__main__":
    main()
