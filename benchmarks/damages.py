"""Does `compare` name the damage to a run, and no cause for a run without damage?

    python benchmarks/damages.py                            # some 12 minutes on one core
    python benchmarks/damages.py --collection TREC-8 --pairs 12 --undamaged 100

Each damage of :data:`KINDS` changes 5, 10, 25, 50 and 100 % of the documents or queries of one run
of a real pair of two groups, A and B in turn. A damage is counted if it changes the mean of the
measure by a tenth of the difference of the damaged pair. Damages that `compare` refuses to read are
not counted, unless they are meant to be refused. *Named* means that the expected cause is reported.

The first table has the shares of named damages. The second table has the causes found for damages
of 25 % and more. The third table has the causes found in undamaged pairs. The tests use the same
data (``PYTERRIER_ASL_DATA``).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from pyterrier_asl import compare
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.measuring import values_of
from pyterrier_asl.io.columns import Columns
from pyterrier_asl.io.values import arrow_text, take
from pyterrier_asl.judging.judged_run import JudgedRun, judge_whole
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import codes
from pyterrier_asl.measures.names import parse_measure

DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", "../shared/data"))
COLLECTIONS = {
    "TREC-8": ("trec8-adhoc", "qrels.txt.gz"),
    "DL 2020": ("dl20-passage", "qrels.txt"),
    "Robust 2003": ("robust03", "qrels.txt"),
}
SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)


@dataclass
class Damaged:
    """A run to be damaged.

    Attributes:
        table: its rows, query by query, best first.
        queries: the query number of each row.
        ranks: its rank, from 0.
        chosen: the queries chosen, shape (Q,).
        share: the share of queries or documents to damage.
        random: a generator.
    """

    table: Columns
    queries: np.ndarray
    ranks: np.ndarray
    chosen: np.ndarray
    share: float
    random: np.random.Generator

    @property
    def rows(self) -> np.ndarray:
        """The rows of the chosen queries, as a mask."""
        return self.chosen[self.queries]


Damage = Callable[[Damaged], Columns]


# Document ids


def ids(write: Callable[[str], str]) -> Damage:
    """The chosen documents have another id, in every query."""

    def damage(run: Damaged) -> Columns:
        numbers, different = codes(run.table.docno)
        chosen = run.random.random(len(different)) < run.share
        new = [
            write(docno) if is_chosen else docno
            for docno, is_chosen in zip(different.to_pylist(), chosen)
        ]
        return replace(run.table, docno=take(arrow_text(new), numbers))

    return damage


def pad(docno: str) -> str:
    """Adds zeros before the first number."""
    at = next((i for i, c in enumerate(docno) if c.isdigit()), len(docno))
    return docno[:at] + "0000" + docno[at:]


def digest(docno: str) -> str:
    return hashlib.md5(docno.encode()).hexdigest()


# Queries


def without(run: Damaged, gone: np.ndarray) -> Columns:
    return run.table.take(np.flatnonzero(~gone))


def cut(depth: int) -> Damage:
    return lambda run: without(run, run.rows & (run.ranks >= depth))


def cut_share(run: Damaged) -> Columns:
    """Each ranking loses the chosen share of its documents, from the end."""
    sizes = np.bincount(run.queries, minlength=len(run.chosen))[run.queries]
    return without(run, run.ranks >= np.maximum(1, sizes * (1 - run.share)))


def itself(run: Damaged) -> Columns:
    """The query is the first document of its ranking."""
    first = np.flatnonzero(run.rows & (run.ranks == 0))
    table = run.table
    qid = take(table.qid, first)
    return Columns(
        pa.concat_arrays([table.qid, qid]),
        pa.concat_arrays([table.docno, qid]),
        np.concatenate((table.value, table.value[first] + 1)),
        None,
    )


# Scores


def scores(write: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Damage:
    """The chosen queries have other scores; arguments are scores and ranks of a query."""

    def damage(run: Damaged) -> Columns:
        value = run.table.value.copy()
        bounds = np.searchsorted(run.queries, np.arange(len(run.chosen) + 1))
        for q in np.flatnonzero(run.chosen):
            part = slice(bounds[q], bounds[q + 1])
            if bounds[q] < bounds[q + 1]:
                value[part] = write(value[part], run.ranks[part])
        return replace(run.table, value=value)

    return damage


def rounded(levels: int) -> Damage:
    def write(value: np.ndarray, _: np.ndarray) -> np.ndarray:
        low, high = value.min(), value.max()
        return np.round((value - low) / max(high - low, 1e-12) * levels)

    return scores(write)


def twice(run: Damaged) -> Columns:
    """Rows of the chosen documents occur twice."""
    numbers, different = codes(run.table.docno)
    again = np.flatnonzero((run.random.random(len(different)) < run.share)[numbers])
    return run.table.take(np.concatenate((np.arange(len(numbers)), again)))


#: By kind of damage: its function and the expected cause.
KINDS: dict[str, tuple[Damage, str]] = {
    "prefix v2-": (ids(lambda d: f"v2-{d}"), "ids"),
    "prefix of a path": (ids(lambda d: f"/data/{d}"), "ids"),
    "prefix 7": (ids(lambda d: f"7{d}"), "ids"),
    "suffix .html": (ids(lambda d: f"{d}.html"), "ids"),
    "suffix of passages": (ids(lambda d: f"{d}#{len(d) % 3 + int(digest(d)[0], 16)}"), "ids"),
    "case": (ids(str.swapcase), "ids"),
    "separators": (ids(lambda d: d.replace("-", "_")), "ids"),
    "zeros added": (ids(pad), "ids"),
    "unanswered": (cut(0), "unanswered queries"),
    "cut at 10": (cut(10), "cut rankings"),
    "cut at 100": (cut(100), "cut rankings"),
    "cut by a share": (cut_share, "cut rankings"),
    "the query itself": (itself, "the query itself"),
    "constant": (scores(lambda value, _: np.zeros_like(value)), "ties"),
    "10 levels": (rounded(10), "ties"),
    "saturated": (scores(lambda value, _: np.minimum(value, np.median(value))), "ties"),
    "rows twice": (twice, "times"),
}


# Pairs


def group_of(name: str) -> str:
    """The group of a run, by the beginning of its name."""
    return name[:3].casefold()


def pairs_of(names: list[str], number: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of runs of different groups, in random order."""
    pairs = [
        (a, b)
        for a in range(len(names))
        for b in range(len(names))
        if group_of(names[a]) != group_of(names[b])
    ]
    return [pairs[i] for i in random.permutation(len(pairs))[:number]]


def rows_of(run: JudgedRun) -> tuple[Columns, np.ndarray, np.ndarray]:
    """The rows of a run in the order of its ranking, their queries and ranks from 0."""
    ranking = run.whole_ranking
    queries = np.repeat(np.arange(len(run.judgements)), np.diff(ranking.offsets))
    return run.table.take(ranking.rows), queries, np.arange(len(queries)) - ranking.offsets[queries]


def judgements_of(table: Columns) -> Judgements:
    """Damaged qrels."""
    columns = {"qid": table.qid, "docno": table.docno, "label": pa.array(table.value)}
    return Judgements(pa.table(columns), duplicates="best")


@dataclass
class Bench:
    """The runs of a collection and the counts of their damages."""

    name: str
    runs: Evaluation
    measure: Any

    def __post_init__(self) -> None:
        """Builds judgements that allow repeated documents, and judgements that refuse them."""
        qrels = self.runs.judgements
        self.judgements = [Judgements.of(qrels, policy) for policy in ("best", "error")]

    def causes(self, a: JudgedRun, b: JudgedRun) -> pd.DataFrame:
        runs = Evaluation(["A", "B"], [a, b], a.judgements, a.judgements)
        return compare(runs, a.judgements, [self.measure]).causes

    def undamaged(
        self, number: int, random: np.random.Generator, leave_out: int = 0
    ) -> Iterator[dict[str, Any]]:
        """Causes of pairs; with qrels without the labels that only the group of B has."""
        for pair in pairs_of(self.runs.names, number, random):
            runs = [self.runs.runs[i] for i in pair]
            if leave_out:
                judgements = self._without_group(group_of(self.runs.names[pair[1]]), leave_out)
                runs = [judge_whole(judgements, run.table) for run in runs]
            start = time.process_time()
            found = self.causes(runs[0], runs[1])
            seconds = time.process_time() - start
            names = f"{self.runs.names[pair[0]]} {self.runs.names[pair[1]]}"
            base = {"collection": self.name, "pair": names, "seconds": seconds}
            yield base | {"causes": found.to_dict("records")}

    def _without_group(self, group: str, depth: int) -> Judgements:
        """Qrels without the documents that only one group has among its first ones."""
        qrels = self.runs.judgements
        ours, others = np.zeros((2, len(qrels.grades)), dtype=bool)
        for name, run in zip(self.runs.names, self.runs.runs):
            (ours if group_of(name) == group else others)[run.pairs[run.ranks <= depth]] = True
        table = qrels.table.take(np.flatnonzero(others | ~ours))
        return judgements_of(table)

    def damaged(
        self, number: int, random: np.random.Generator, only: list[str]
    ) -> Iterator[dict[str, Any]]:
        values = self.runs.values(self.measure)
        for at, pair in enumerate(pairs_of(self.runs.names, number, random)):
            where = at % 2
            old = self.runs.runs[pair[where]]
            table, queries, ranks = rows_of(old)
            for kind, (damage, expected) in KINDS.items():
                if only and kind not in only:
                    continue
                for share in SHARES:
                    size = len(self.runs.judgements)
                    chosen = np.zeros(size, dtype=bool)
                    chosen[random.permutation(size)[: max(1, round(share * size))]] = True
                    given = Damaged(table, queries, ranks, chosen, share, random)
                    result = self._one(pair, where, values, damage(given), expected)
                    base = {"collection": self.name, "kind": kind, "share": share}
                    names = f"{self.runs.names[pair[0]]} {self.runs.names[pair[1]]}"
                    yield base | {"pair": names, "expected": expected} | result

    def _one(
        self, pair: tuple[int, int], where: int, values: np.ndarray, table: Columns, expected: str
    ) -> dict[str, Any]:
        before = values[pair[where]].mean()
        try:
            judged = judge_whole(self.judgements[expected == "times"], table)
        except ValueError as error:
            named = expected in str(error)  # otherwise compare looks for no cause
            return {"change": before * named, "difference": 0, "found": ["error"], "named": named}
        after = values_of([self.measure], judged)[0]
        runs = [self.runs.runs[i] for i in pair]
        both = [values[i] for i in pair]
        runs[where], both[where] = judged, after
        causes = self.causes(runs[0], runs[1])
        found = list(dict.fromkeys(causes["cause"]))
        return {
            "change": after.mean() - before,
            "difference": (both[1] - both[0]).mean(),
            "found": found,
            "named": expected in found,
        }


def counts(row: dict[str, Any]) -> bool:
    """Whether a damage changes the measure by a tenth of the difference."""
    return bool(abs(row["change"]) > max(0.1 * abs(row["difference"]), 1e-9))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", action="append", choices=list(COLLECTIONS))
    parser.add_argument("--pairs", type=int, default=34, help="damaged pairs per collection")
    parser.add_argument("--undamaged", type=int, default=334, help="undamaged pairs per collection")
    parser.add_argument(
        "--leave-out",
        type=int,
        default=0,
        help="undamaged: leave out labels that only the group of B has among so many first ones",
    )
    parser.add_argument("--kind", action="append", default=[], choices=list(KINDS))
    parser.add_argument("--measure", default="AP")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    measure = parse_measure(arguments.measure)
    damaged, undamaged = [], []
    for name in arguments.collection or COLLECTIONS:
        folder, qrels = COLLECTIONS[name]
        runs = Evaluation.of(DATA / folder / "runs", DATA / folder / qrels)
        bench = Bench(name, runs, measure)
        random = np.random.default_rng(arguments.seed)
        undamaged += bench.undamaged(arguments.undamaged, random, arguments.leave_out)
        damaged += bench.damaged(arguments.pairs, random, arguments.kind)
    report(pd.DataFrame(damaged), undamaged)


def report(frame: pd.DataFrame, undamaged: list[dict[str, Any]]) -> None:
    """Prints the tables."""
    if len(frame):
        counted = frame[[counts(row) for row in frame.to_dict("records")]]
        named = counted.groupby(["kind", "share"], sort=False)["named"].agg(["mean", "size"])
        texts = [f"{100 * row['mean']:.0f} ({row['size']:.0f})" for _, row in named.iterrows()]
        table = pd.Series(texts, named.index).unstack("share")
        print("Named, in % of the damages that change the measure (their number)")
        print(table.reindex(counted["kind"].unique()).to_string(), flush=True)
        for what, least, most in (("25 % and more", 0.25, 1), ("10 %", 0.1, 0.1), ("5 %", 0, 0.05)):
            part = counted[(counted["share"] >= least) & (counted["share"] <= most)]
            by = part.groupby("collection", sort=False)["named"].mean().round(3).to_dict()
            print(f"{what}: {part['named'].mean():.3f} of {len(part)} named; {by}")
        print("\nWhat damages of 25 % and more were taken for, besides, in %")
        part = counted[counted["share"] >= 0.25]
        rows = {
            kind: {
                name: round(100 * n / len(group))
                for name, n in Counter(
                    x for row in group["found"] for x in dict.fromkeys(row)
                ).items()
            }
            for kind, group in part.groupby("kind", sort=False)
        }
        print(pd.DataFrame(rows).T.fillna(0).astype(int).to_string(), flush=True)
    print("\nCauses found in pairs that nothing was done to")
    total = len(undamaged)
    rows = Counter(name for row in undamaged for name in {c["cause"] for c in row["causes"]})
    for name, number in rows.most_common():
        print(f"{name:22} {number:5} of {total} pairs")
    errors = [row for row in undamaged if any(not c["comparable"] for c in row["causes"])]
    print(f"of the ERROR kind: {len(errors)} of {total} pairs")
    for row in errors:
        for cause in row["causes"]:
            if not cause["comparable"]:
                print(f"  {row['collection']} {row['pair']}: {cause['evidence']}")
    print(
        f"median {1000 * np.median([row['seconds'] for row in undamaged]):.0f} ms of CPU per pair"
    )


if __name__ == "__main__":
    main()
