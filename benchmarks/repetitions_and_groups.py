"""How often do tests of repetitions and of groups err where there is nothing to find?

    python benchmarks/repetitions_and_groups.py --draws 300

Real values by query (TREC-8, DL 2020) of pairs of runs, topics drawn anew, so that the truth is
known. Repetitions: both systems are one run with noise, of which a part is shared by all queries of
a repetition; naive is the t-test of the means. Groups: the mean difference of the run is taken away
in all queries, or left, and groups are drawn at random; naive are t-tests in each group, corrected
by Holm ("any group"), and "significant in one and not in another". The tests use the same data.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from scipy import stats

from pyterrier_asl import evaluate
from pyterrier_asl.statistics.groups import group_differences
from pyterrier_asl.statistics.repetitions import compare_repetitions
from pyterrier_asl.statistics.tests import correct

DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", "../shared/data"))
COLLECTIONS = {
    "TREC-8": ("trec8-adhoc", "qrels.txt.gz", "AP"),
    "DL 2020": ("dl20-passage", "qrels.txt", "nDCG@10"),
}


def values_of(folder: str, qrels: str, measure: str) -> np.ndarray:
    """The values of every fourth run, shape (S, Q)."""
    files = sorted((DATA / folder / "runs").iterdir())[::4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = evaluate(files, DATA / folder / qrels, [measure])
    return frame.pivot(index="name", columns="qid", values=measure).to_numpy()


def repetitions(values: np.ndarray, draws: int, rng: np.random.Generator) -> None:
    """Prints the share of false differences of a run from itself, with noise of repetitions."""
    for number in (2, 3, 5):
        wrong = np.zeros(2)
        for _ in range(draws):
            run = values[rng.integers(len(values))]
            run = run[rng.integers(0, len(run), len(run))]
            shared = rng.normal(0, 0.02, (2, number, 1))
            a, b = run + shared + rng.normal(0, 0.05, (2, number, len(run)))
            naive = stats.ttest_rel(b.mean(axis=0), a.mean(axis=0)).pvalue
            wrong += [compare_repetitions(a, b).comparison.p <= 0.05, naive <= 0.05]
        ours, of_means = wrong / draws
        print(f"  {number} repetitions: {ours:.3f}, t of the means {of_means:.3f}")


def groups(values: np.ndarray, draws: int, rng: np.random.Generator, parts: int) -> None:
    """Prints the share of groups named, and of dependence on groups that mean nothing."""
    wrong = np.zeros(4)
    for _ in range(draws):
        a, b = values[rng.choice(len(values), 2, replace=False)]
        topics = rng.integers(0, len(a), len(a))
        raw = (b - a)[topics]
        codes = rng.permutation(np.arange(len(a)) % parts)
        null = raw - (b - a).mean()
        in_groups = [null[codes == group] for group in range(parts)]
        p = correct([stats.ttest_1samp(d, 0).pvalue for d in in_groups]).p
        plain = [stats.ttest_1samp(raw[codes == group], 0).pvalue for group in range(parts)]
        is_mixed = 0 < sum(of_group <= 0.05 for of_group in plain) < parts
        any_group = (group_differences(null, codes, 1).p <= 0.05).any()
        depends = group_differences(raw, codes, 1).depends <= 0.05
        wrong += [any_group, (p <= 0.05).any(), depends, is_mixed]
    ours, by_holm, depends, mixed = wrong / draws
    print(
        f"  {parts} groups: any group named {ours:.3f} (t and Holm {by_holm:.3f}), depends on the "
        f"group {depends:.3f} (significant in one and not in another {mixed:.3f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=300)
    draws = parser.parse_args().draws
    for name, source in COLLECTIONS.items():
        values, rng = values_of(*source), np.random.default_rng(0)
        print(f"{name}: {values.shape[0]} runs, {values.shape[1]} topics, level .05")
        repetitions(values, draws, rng)
        for parts in (3, 6):
            groups(values, draws, rng, parts)


if __name__ == "__main__":
    main()
