"""The coverage of intervals of audited judges, simulated with the topics of DL 2020.

    python benchmarks/audits.py --draws 1000

The 54 topics are the population. For *queries like these* 54 topics are drawn with replacement, and
people judge the first n. For *these queries* people judge n of the 54. All pairs of 15 runs are
compared. Coverage is the share of existing intervals, and separately of intervals without a warning
of few different values. Further tables: a machine with shuffled labels, ten equal runs, and tau.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyterrier_asl.assessment.judges import Judges
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.io.qrels import read_qrels
from pyterrier_asl.statistics.agreement import kendall_tau
from pyterrier_asl.statistics.intervals import centred_interval
from pyterrier_asl.statistics.prediction_powered import (
    TARGETS,
    differing_values,
    interval_widths,
    prediction_powered,
)
from pyterrier_asl.statistics.tests import correct

DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", "../shared/data"))
RUNS = 15
MEASURES = ("nDCG@10", "AP", "ASL@100", "RR")
#: The files of the judges, and the lowest relevant grade of each.
#: What a plan says where no number of queries is enough.
SAID = ("too few", "too few, false", "may be too few", "may be too few, false")
PEOPLE, MACHINES = ("dl20.nist", 2), (("dl20.umbrela-gpt4", 2), ("dl20.binary-llama3.2", 1))


def judgements(name: str) -> pd.DataFrame:
    """A judge's labels."""
    return read_qrels(DATA / "assessors" / "dl20" / f"{name}.txt.gz")


def made_bad(qrels: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The labels, shuffled among the documents of a topic in half of the topics."""
    draw = np.random.default_rng(seed)
    topics = draw.permutation(sorted(qrels["qid"].unique()))
    bad = qrels["qid"].isin(topics[: len(topics) // 2])
    shuffled = qrels[bad].groupby("qid")["label"].transform(draw.permutation)
    return qrels.assign(label=qrels["label"].where(~bad, shuffled))


def differences(values: np.ndarray) -> np.ndarray:
    """The differences of every two runs by query."""
    first, second = np.triu_indices(len(values), k=1)
    return values[first] - values[second]


def simulated(h: np.ndarray, f: np.ndarray, n: int, target: str, draws: int) -> dict[str, float]:
    """Coverage and width of the intervals of many differences, shape (pairs, queries)."""
    generator, queries = np.random.default_rng(n), h.shape[1]
    truth = h.mean(axis=1)
    covered = {"both": [], "people": [], "machine": []}
    widths, saved, differing = [], [], []
    for _ in range(draws):
        if target == TARGETS[0]:
            order = generator.integers(0, queries, queries)
        else:
            order = generator.permutation(queries)
        found = prediction_powered(h[:, order[:n]], f[:, order[:n]], f[:, order[n:]], target=target)
        for name, kept in covered.items():
            one = getattr(found, name)
            inside = (one.low <= truth) & (truth <= one.high)
            kept.append(np.where(np.isnan(one.low), np.nan, inside))
        both, people = found.both, found.people
        widths.append(np.nanmean(both.high - both.low) / np.nanmean(people.high - people.low))
        saved.append(np.nanmedian(found.saved))
        differing.append(found.differing)
    few = np.asarray(differing) < 5
    shares = {f"{name} covers": np.nanmean(kept) for name, kept in covered.items()}
    shares["no interval"] = np.isnan(covered["both"]).mean()
    shares["few different"] = few.mean()
    shares["both covers, not few"] = np.nanmean(np.where(few, np.nan, covered["both"]))
    if target != TARGETS[0]:
        shares["machine covers"] = np.nan
    # For these queries the interval of people only is narrower than Student's interval, too.
    left_out = 1.0 if target == TARGETS[0] else (1 - n / queries) ** 0.5
    return {
        **shares,
        "width / people": np.mean(widths),
        "people / Student": left_out,
        "width / Student": left_out * np.mean(widths),
        "queries saved": np.median(saved),
    }


def audits(runs: Evaluation, draws: int, bad: bool) -> pd.DataFrame:
    """A row for each target, machine, measure and n."""
    people, rel = judgements(PEOPLE[0]), PEOPLE[1]
    rows: list[dict[str, Any]] = []
    for name, least in MACHINES[:1] if bad else MACHINES:
        machine = judgements(name)
        sources = {"people": people, name: made_bad(machine, 1) if bad else machine}
        judges = Judges.of(sources, runs, judge_rel={"people": rel, name: least})
        for measure in MEASURES:
            values = judges.values(measure)
            h, f = (differences(values[judge]) for judge in sources)
            for target in TARGETS[:1] if bad else TARGETS:
                for n in (10, 20, 30):
                    row = {"target": target, "machine": name, "measure": measure, "n": n}
                    rows.append(row | simulated(h, f, n, target, draws))
    return pd.DataFrame(rows)


def naive_means(runs: Evaluation, draws: int) -> pd.DataFrame:
    """The coverage of means of runs by a bad machine alone, and by the audit."""
    name, least = MACHINES[0]
    sources = {"people": judgements(PEOPLE[0]), name: made_bad(judgements(name), 1)}
    judges = Judges.of(sources, runs, judge_rel={"people": PEOPLE[1], name: least})
    rows = [
        {"measure": measure, "n": n}
        | simulated(*judges.values(measure).values(), n, TARGETS[0], draws)
        for measure in MEASURES
        for n in (20, 30)
    ]
    return pd.DataFrame(rows)


def equal_runs(runs: Evaluation, draws: int) -> pd.DataFrame:
    """The share of audits of ten runs with equal means that name a better one, of n = 20."""
    people, (name, least) = judgements(PEOPLE[0]), MACHINES[0]
    sources = {"people": people, name: judgements(name)}
    judges = Judges.of(sources, runs, judge_rel={"people": PEOPLE[1], name: least})
    rows = []
    for measure in MEASURES[:3]:
        h, f = (own[:10] for own in judges.values(measure).values())
        h = h - h.mean(axis=1, keepdims=True) + h.mean()
        families = {"a baseline": (h[1:] - h[0], f[1:] - f[0])}
        families["all pairs"] = differences(h), differences(f)
        generator = np.random.default_rng(0)
        orders = [generator.integers(0, h.shape[1], h.shape[1]) for _ in range(draws)]
        for against, (a, b) in families.items():
            found = [prediction_powered(a[:, o[:20]], b[:, o[:20]], b[:, o[20:]]) for o in orders]
            p = np.array([one.both.p for one in found])
            corrected = np.array([correct(own, "holm").p for own in p])
            shares = {"uncorrected": p, "Holm": corrected}
            named = {how: np.nanmin(of, axis=1) <= 0.05 for how, of in shares.items()}
            rows.append(
                {"measure": measure, "against": against, "differences": len(a)}
                | {how: of.mean() for how, of in named.items()}
            )
    return pd.DataFrame(rows)


def plans(runs: Evaluation, draws: int, pilot: int = 10) -> pd.DataFrame:
    """Whether plans reach the width asked for, of each mean and difference and of the widest.

    The widths asked for are those of audits of 12, 15, 20 and 25 of the 54 queries on average, and
    .9 and 1.1 of the width of all queries, of which the first cannot be reached. A plan is wrong
    that all queries are too few if their interval is not wider.
    """
    people, rel = judgements(PEOPLE[0]), PEOPLE[1]
    rows: list[dict[str, Any]] = []
    for name, least in MACHINES:
        sources = {"people": people, name: judgements(name)}
        judges = Judges.of(sources, runs, judge_rel={"people": rel, name: least})
        for measure in MEASURES[:2]:
            values = [own[:10] for own in judges.values(measure).values()]
            h, f = (np.vstack((own, own[1:] - own[0])) for own in values)
            for target in TARGETS:
                about = {"machine": name, "measure": measure, "target": target}
                rows += [about | row for row in planned(h, f, target, pilot, draws)]
    return pd.DataFrame(rows)


def planned(
    h: np.ndarray, f: np.ndarray, target: str, pilot: int, draws: int
) -> list[dict[str, Any]]:
    """A row for plans of each row alone and of the widest: reached, and false sentences."""
    generator, queries = np.random.default_rng(pilot), h.shape[1]
    orders = [generator.permutation(queries) for _ in range(draws)]

    def widths(order: np.ndarray, n: int) -> np.ndarray:
        split = h[:, order[:n]], f[:, order[:n]], f[:, order[n:]]
        both = prediction_powered(*split, target=target).both
        return both.high - both.low

    of_all = widths(orders[0], queries)
    asked = [
        np.nanmean([widths(order, n) for order in orders[:20]], axis=0) for n in (12, 15, 20, 25)
    ]
    asked += [0.9 * of_all, 1.1 * of_all]
    kinds = ("each", "widest")
    counts = {kind: dict.fromkeys(("plans", "named", "reached", *SAID), 0) for kind in kinds}
    rises = 0
    for order in orders:
        split = h[:, order[:pilot]], f[:, order[:pilot]], f[:, order[pilot:]]
        kept = np.flatnonzero(differing_values(split[0]))
        of_rows = np.array(
            [interval_widths(*(of[at] for of in split), target=target) for at in kept]
        )
        rises += int(np.any(np.diff(of_rows, axis=2) > 1e-12))
        for width in asked:
            for kind, of_plan, most, true in (
                *(("each", own, width[at], [at]) for own, at in zip(of_rows, kept)),
                ("widest", of_rows.max(axis=0), width[kept].max(), kept),
            ):
                low, expected, high = of_plan
                count = counts[kind]
                count["plans"] += 1
                enough = np.flatnonzero(high[pilot - 3 :] <= most)
                if len(enough):
                    count["named"] += 1
                    count["reached"] += np.nanmax(widths(order, pilot + enough[0])[true]) <= most
                else:
                    says = SAID[0] if low[-1] > most else SAID[2]
                    count[says] += 1
                    count[f"{says}, false"] += of_all[true].max() <= most
    return [{"of": kind, "rising": rises, **counts[kind]} for kind in kinds]


def taus(runs: Any, draws: int, resamples: int) -> pd.DataFrame:
    """The coverage of intervals of tau; the true value is the mean over samples of n queries."""
    sources = {PEOPLE[0]: judgements(PEOPLE[0])} | {name: judgements(name) for name, _ in MACHINES}
    values = Judges.of(sources, runs).values(MEASURES[0])
    generator = np.random.default_rng(0)
    a = values[PEOPLE[0]]
    rows = []
    for name, _ in MACHINES:
        b = values[name]

        def tau(at: np.ndarray, b: np.ndarray = b) -> float:
            return kendall_tau(a[:, at].mean(axis=1).round(9), b[:, at].mean(axis=1).round(9))

        queries = a.shape[1]
        for n in (27, 54):
            samples = generator.integers(0, queries, (draws, n))
            observed = np.array([tau(at) for at in samples])
            inside, plain, widths = [], [], []
            for at, value in zip(samples, observed):
                again = np.array([tau(at[generator.integers(0, n, n)]) for _ in range(resamples)])
                interval = centred_interval(value, again)
                low, high = np.quantile(again, [0.025, 0.975])
                inside.append(interval.low <= observed.mean() <= interval.high)
                plain.append(low <= observed.mean() <= high)
                widths.append(interval.high - interval.low)
            rows.append(
                {
                    "machine": name,
                    "n": n,
                    "tau of n": observed.mean(),
                    "covers": np.mean(inside),
                    "plain percentiles": np.mean(plain),
                    "width": np.mean(widths),
                }
            )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=300, help="how often topics are drawn")
    parser.add_argument("--resamples", type=int, default=200, help="of the bootstrap of tau")
    parser.add_argument(
        "--only", choices=["audits", "bad", "equal", "plans", "tau"], help="one of the simulations"
    )
    arguments = parser.parse_args()
    files = sorted((DATA / "dl20-passage" / "runs").iterdir())
    some = [str(files[place]) for place in np.linspace(0, len(files) - 1, RUNS).astype(int)]
    people = judgements(PEOPLE[0])
    runs = Evaluation.of(some, people)

    def shown(title: str, frame: pd.DataFrame) -> None:
        print(f"\n{title}\n\n{frame.round(3).to_string(index=False)}", flush=True)

    if arguments.only in (None, "audits"):
        shown("Differences of all pairs of 15 runs", audits(runs, arguments.draws, bad=False))
    if arguments.only in (None, "bad"):
        title = "A machine with labels shuffled in half of the topics: "
        shown(title + "differences", audits(runs, arguments.draws, bad=True))
        shown(title + "means", naive_means(runs, arguments.draws))
    if arguments.only in (None, "equal"):
        title = f"Audits of ten equal runs that name one, of {arguments.draws}"
        shown(title, equal_runs(runs, arguments.draws))
    if arguments.only in (None, "plans"):
        shown("Plans with a pilot of 10 queries", plans(runs, arguments.draws))
    if arguments.only in (None, "tau"):
        every_run = Evaluation.of([str(file) for file in files], people)
        found = taus(every_run, min(arguments.draws, 300), arguments.resamples)
        shown(f"tau of the ranking of {len(files)} runs by nDCG@10", found)


if __name__ == "__main__":
    main()
