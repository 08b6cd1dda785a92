"""What does a guard say of damaged runs, and of runs that nothing was done to?

    python tests/tools/damages.py --collection "DL 2020" --pairs 4 --undamaged 60
    python tests/tools/damages.py --equal 30

Each damage of :data:`KINDS` changes 10, 25, 50 and 100 % of the documents or queries of one run of
a real pair of two groups, the baseline and the run in turn. A damage is counted if it changes the
mean of the measure by a tenth of the difference of the damaged pair. The guard has the condition
``AP worse p<.05``: PASS lets the damage through, ERROR names it, FAIL stops the build.

``--equal`` draws pairs of equal quality: one run, and the same run with the values of half of the
queries exchanged with those of another run, so that the two have the same expected mean. The tests
use the same data (``PYTERRIER_ASL_DATA``).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pyterrier_asl import Qrels, compare, evaluate, read_qrels, read_runs

DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", "../shared/data"))
COLLECTIONS = {
    "TREC-8": ("trec8-adhoc", "qrels.txt.gz"),
    "DL 2020": ("dl20-passage", "qrels.txt"),
    "Robust 2003": ("robust03", "qrels.txt"),
}
SHARES = (0.1, 0.25, 0.5, 1.0)


class Damaged(NamedTuple):
    """A run to be damaged: its rows query by query, best first; which rows are of chosen queries;
    the rank of each row, from 0; the share of queries or documents to damage."""

    frame: pd.DataFrame
    chosen: np.ndarray
    ranks: np.ndarray
    share: float
    random: np.random.Generator


Damage = Callable[[Damaged], pd.DataFrame]


def ids(write: Callable[[str], str], column: str = "docno") -> Damage:
    """The chosen documents or queries have another id."""

    def damage(run: Damaged) -> pd.DataFrame:
        different = run.frame[column].unique()
        chosen = run.random.random(len(different)) < run.share
        chosen[0] = True
        new = {name: write(name) for name in different[chosen]}
        return run.frame.assign(**{column: run.frame[column].map(lambda name: new.get(name, name))})

    return damage


def part(docno: str) -> str:
    return f"{docno}#{int(hashlib.md5(docno.encode()).hexdigest(), 16) % 17}"


def full_width(docno: str) -> str:
    return docno.translate({ord("0") + n: ord("\N{FULLWIDTH DIGIT ZERO}") + n for n in range(10)})


def cut(depth: int) -> Damage:
    return lambda run: run.frame[~(run.chosen & (run.ranks >= depth))]


def cut_share(run: Damaged) -> pd.DataFrame:
    """Each ranking loses the chosen share of its documents, from the end."""
    sizes = run.frame.groupby("qid")["docno"].transform("size")
    return run.frame[run.ranks < np.maximum(1, sizes * (1 - run.share))]


def itself(run: Damaged) -> pd.DataFrame:
    """The query is the first document of its ranking."""
    first = run.frame[run.chosen & (run.ranks == 0)]
    return pd.concat([run.frame, first.assign(docno=first["qid"], score=first["score"] + 1)])


def scores(write: Callable[[np.ndarray], np.ndarray]) -> Damage:
    """The chosen queries have other scores."""

    def damage(run: Damaged) -> pd.DataFrame:
        by_query = run.frame[run.chosen].groupby("qid")["score"]
        new = by_query.transform(lambda s: write(s.to_numpy()))
        return run.frame.assign(score=new.reindex(run.frame.index).fillna(run.frame["score"]))

    return damage


def levels(value: np.ndarray) -> np.ndarray:
    low, high = value.min(), value.max()
    return np.round((value - low) / max(high - low, 1e-12) * 10)


def infinite(run: Damaged) -> pd.DataFrame:
    """The first score of the chosen queries is infinite, as after a division by zero."""
    return run.frame.assign(score=run.frame["score"].mask(run.chosen & (run.ranks == 0), np.inf))


#: By kind of damage.
KINDS: dict[str, Damage] = {
    "prefix v2-": ids(lambda d: f"v2-{d}"),
    "prefix of a path": ids(lambda d: f"/data/{d}"),
    "prefix 7": ids(lambda d: f"7{d}"),
    "suffix .html": ids(lambda d: f"{d}.html"),
    "suffix of passages": ids(part),
    "case": ids(str.swapcase),
    "separators": ids(lambda d: d.replace("-", "_")),
    "zeros added": ids(lambda d: re.sub(r"(\d)", r"0000\1", d, count=1)),
    "full-width digits": ids(full_width),
    "percent-encoded": ids(lambda d: f"%{ord(d[0]):02X}{d[1:]}"),
    "HTML entities": ids(lambda d: f"&#{ord(d[0])};{d[1:]}"),
    "bytes": ids(lambda d: f"b'{d}'"),
    "<...>": ids(lambda d: f"<{d}>"),
    "URI": ids(lambda d: f"https://www.{d[-1]}.org/{d[-2:]}/{d}.json"),
    ".0": ids(lambda d: f"{d}.0"),
    "query zeros": ids(lambda q: f"0{q}", "qid"),
    "query prefix": ids(lambda q: f"q{q}", "qid"),
    "unanswered": cut(0),
    "cut at 10": cut(10),
    "cut at 100": cut(100),
    "cut by a share": cut_share,
    "the query itself": itself,
    "constant": scores(np.zeros_like),
    "10 levels": scores(levels),
    "saturated": scores(lambda value: np.minimum(value, np.median(value))),
    "infinite": infinite,
    "rows twice": lambda run: pd.concat([run.frame, run.frame[run.chosen]]),
}


class Bench:
    """The runs of a collection, and their means."""

    def __init__(self, name: str, measure: str) -> None:
        folder, qrels = COLLECTIONS[name]
        self.measure, self.qrels = measure, read_qrels(DATA / folder / qrels)
        order = ["qid", "score", "docno"]
        self.runs = {
            name: run.sort_values(order, ascending=[True, False, False]).reset_index(drop=True)
            for name, run in read_runs(DATA / folder / "runs").items()
        }
        values = evaluate(self.runs, self.qrels, [measure])
        self.values = values.pivot(index="qid", columns="name", values=measure)

    def outcome(self, a: pd.DataFrame, b: pd.DataFrame) -> str:
        """The outcome of a guard; an input that is refused is an ERROR, too."""
        try:
            condition = f"{self.measure} worse p<.05"
            found = compare({"A": a, "B": b}, self.qrels, conditions=condition)
        except ValueError:
            return "ERROR"
        return max(found.verdicts, key=lambda v: v.outcome.value).outcome.name

    def pairs(self, number: int, random: np.random.Generator) -> list[list[str]]:
        """Pairs of runs of different groups, by the beginnings of their names, in random order."""
        groups = {name: name[:3].casefold() for name in self.runs}
        pairs = [[a, b] for a in groups for b in groups if groups[a] != groups[b]]
        return [pairs[at] for at in random.permutation(len(pairs))[:number]]

    def damaged(self, number: int, random: np.random.Generator) -> Iterator[dict[str, Any]]:
        """A row for each damage that changes the measure."""
        qrels, means = Qrels(self.qrels, duplicates="best"), self.values.mean()
        for at, pair in enumerate(self.pairs(number, random)):
            side, frame = at % 2, self.runs[pair[at % 2]]
            ranks, qids = frame.groupby("qid").cumcount().to_numpy(), frame["qid"].unique()
            for (kind, damage), share in product(KINDS.items(), SHARES):
                some = random.permutation(qids)[: max(1, round(share * len(qids)))]
                chosen = frame["qid"].isin(some).to_numpy()
                both = [self.runs[name] for name in pair]
                both[side] = damage(Damaged(frame, chosen, ranks, share, random))
                try:
                    mean = evaluate({"x": both[side]}, qrels, [self.measure])[self.measure].mean()
                except ValueError:
                    mean = 0.0
                change = abs(mean - means[pair[side]]) > 0.1 * abs(mean - means[pair[1 - side]])
                if change or kind in ("rows twice", "infinite"):
                    yield {"kind": kind, "share": share, "side": side, "is": self.outcome(*both)}

    def equal(self, number: int, random: np.random.Generator) -> Iterator[str]:
        """Outcomes of pairs of equal quality: for each query a coin decides which run is whose."""
        for pair in self.pairs(number, random):
            heads = set(self.values.index[random.random(len(self.values)) < 0.5])
            first, second = (self.runs[name] for name in pair)
            own, others = (run["qid"].isin(heads) for run in (first, second))
            mixed = pd.concat([first[own], second[~others]])
            yield self.outcome(mixed, pd.concat([second[others], first[~own]]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", action="append", choices=list(COLLECTIONS))
    parser.add_argument("--pairs", type=int, default=0, help="damaged pairs per collection")
    parser.add_argument("--undamaged", type=int, default=0, help="undamaged pairs per collection")
    parser.add_argument("--equal", type=int, default=0, help="pairs of equal quality")
    parser.add_argument("--measure", default="AP")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.collection or COLLECTIONS:
        bench = Bench(name, arguments.measure)
        print(name)
        if rows := [*bench.damaged(arguments.pairs, np.random.default_rng(arguments.seed))]:
            report(pd.DataFrame(rows))
        random = np.random.default_rng(arguments.seed)
        pairs = bench.pairs(arguments.undamaged, random)
        sound = [bench.outcome(*(bench.runs[name] for name in pair)) for pair in pairs]
        for what, found in ("undamaged", sound), ("equal", [*bench.equal(arguments.equal, random)]):
            if found:
                print(f"{what} pairs: {pd.Series(found).value_counts().to_dict()}", flush=True)


def report(frame: pd.DataFrame) -> None:
    """Prints the outcomes by kind, and by share of ERRORs."""
    counts = pd.crosstab(frame["kind"], frame["is"])
    counts = counts.reindex(columns=["PASS", "FAIL", "ERROR"], fill_value=0)
    errors = frame.assign(error=frame["is"] == "ERROR").groupby(["kind", "share"])["error"]
    shares = errors.agg(lambda found: f"{found.sum()}/{len(found)}").unstack("share")
    table = counts.join(shares.add_prefix("ERROR of "))
    print(table.reindex([kind for kind in KINDS if kind in counts.index]).fillna("").to_string())
    of_baseline = frame[frame["side"] == 0]
    passed = int((of_baseline["is"] == "PASS").sum())
    print(f"damaged baselines let through: {passed} of {len(of_baseline)}", flush=True)


if __name__ == "__main__":
    main()
