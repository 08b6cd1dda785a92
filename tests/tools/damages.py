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
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass
class Damaged:
    """A run to be damaged.

    Attributes:
        frame: its rows, query by query, best first.
        chosen: whether the query of each row is damaged.
        ranks: the rank of each row, from 0.
        share: the share of queries or documents to damage.
        random: a generator.
    """

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
        new = {name: write(name) for name, is_chosen in zip(different, chosen) if is_chosen}
        return run.frame.assign(**{column: run.frame[column].map(lambda name: new.get(name, name))})

    return damage


def pad(docno: str) -> str:
    """Adds zeros before the first number."""
    at = next((i for i, c in enumerate(docno) if c.isdigit()), len(docno))
    return docno[:at] + "0000" + docno[at:]


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
        frame = run.frame.copy()
        by_query = frame[run.chosen].groupby("qid")["score"]
        frame.loc[run.chosen, "score"] = by_query.transform(lambda s: write(s.to_numpy()))
        return frame

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
    "zeros added": ids(pad),
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


def group_of(name: str) -> str:
    """The group of a run, by the beginning of its name."""
    return name[:3].casefold()


def outcome_of(a: pd.DataFrame, b: pd.DataFrame, qrels: Any, measure: str) -> str:
    """The outcome of a guard; an input that is refused is an ERROR, too."""
    try:
        found = compare({"A": a, "B": b}, qrels, conditions=f"{measure} worse p<.05")
    except ValueError:
        return "ERROR"
    return max(found.verdicts, key=lambda v: v.outcome.value).outcome.name


@dataclass
class Bench:
    """The runs of a collection, and their means."""

    name: str
    measure: str

    def __post_init__(self) -> None:
        """Reads the runs."""
        folder, qrels = COLLECTIONS[self.name]
        self.qrels = read_qrels(DATA / folder / qrels)
        runs = read_runs(DATA / folder / "runs")
        order = ["qid", "score", "docno"]
        self.runs = {
            name: run.sort_values(order, ascending=[True, False, False]).reset_index(drop=True)
            for name, run in runs.items()
        }
        values = evaluate(self.runs, self.qrels, [self.measure])
        self.means = values.groupby("name")[self.measure].mean()
        self.values = values.pivot(index="qid", columns="name", values=self.measure)

    def pairs(self, number: int, random: np.random.Generator) -> list[tuple[str, str]]:
        """Pairs of runs of different groups, in random order."""
        pairs = [(a, b) for a in self.runs for b in self.runs if group_of(a) != group_of(b)]
        return [pairs[at] for at in random.permutation(len(pairs))[:number]]

    def damaged(self, number: int, random: np.random.Generator) -> Iterator[dict[str, Any]]:
        """A row for each damage that changes the measure."""
        qrels = Qrels(self.qrels, duplicates="best")
        for at, pair in enumerate(self.pairs(number, random)):
            frame = self.runs[pair[at % 2]]
            ranks, qids = frame.groupby("qid").cumcount().to_numpy(), frame["qid"].unique()
            for kind, damage in KINDS.items():
                for share in SHARES:
                    some = random.permutation(qids)[: max(1, round(share * len(qids)))]
                    chosen = frame["qid"].isin(some).to_numpy()
                    run = damage(Damaged(frame, chosen, ranks, share, random))
                    try:
                        values = evaluate({"x": run}, qrels, [self.measure])
                        mean = values[self.measure].mean()
                    except ValueError:
                        mean = 0.0
                    other = self.means[pair[1 - at % 2]]
                    change = abs(mean - self.means[pair[at % 2]])
                    if kind in ("rows twice", "infinite") or change > 0.1 * abs(mean - other):
                        both = [run if side == at % 2 else self.runs[pair[side]] for side in (0, 1)]
                        found = outcome_of(*both, self.qrels, self.measure)
                        yield {"kind": kind, "share": share, "side": "AB"[at % 2], "is": found}

    def equal(self, number: int, random: np.random.Generator) -> Iterator[str]:
        """Outcomes of pairs of equal quality: for each query a coin decides which run is whose."""
        for a, b in self.pairs(number, random):
            heads = set(self.values.index[random.random(len(self.values)) < 0.5])
            is_own = [self.runs[name]["qid"].isin(heads) for name in (a, b)]
            first, second = self.runs[a], self.runs[b]
            mixed = pd.concat([first[is_own[0]], second[~is_own[1]]])
            other = pd.concat([second[is_own[1]], first[~is_own[0]]])
            yield outcome_of(mixed, other, self.qrels, self.measure)


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
        rows = list(bench.damaged(arguments.pairs, np.random.default_rng(arguments.seed)))
        if rows:
            report(pd.DataFrame(rows))
        random = np.random.default_rng(arguments.seed)
        sound = [
            outcome_of(bench.runs[a], bench.runs[b], bench.qrels, bench.measure)
            for a, b in bench.pairs(arguments.undamaged, random)
        ]
        for what, found in ("undamaged", sound), ("equal", [*bench.equal(arguments.equal, random)]):
            if found:
                print(f"{what} pairs: {pd.Series(found).value_counts().to_dict()}", flush=True)


def report(frame: pd.DataFrame) -> None:
    """Prints the outcomes by kind, and by share of ERRORs."""
    counts = frame.groupby(["kind", "is"], sort=False).size().unstack("is", fill_value=0)
    counts = counts.reindex(columns=["PASS", "FAIL", "ERROR"], fill_value=0)
    shares = (
        frame.assign(error=frame["is"] == "ERROR")
        .groupby(["kind", "share"], sort=False)["error"]
        .agg(lambda found: f"{found.sum()}/{len(found)}")
        .unstack("share")
        .add_prefix("ERROR of ")
    )
    table = counts.join(shares).reindex([kind for kind in KINDS if kind in counts.index])
    print(table.fillna("").to_string())
    of_baseline = frame[frame["side"] == "A"]
    passed = int((of_baseline["is"] == "PASS").sum())
    print(f"damaged baselines let through: {passed} of {len(of_baseline)}", flush=True)


if __name__ == "__main__":
    main()
