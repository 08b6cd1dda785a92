"""Tests bounds against full judgements, counts settled verdicts, and measures time.

    python benchmarks/holes.py speed                      # 129 runs of TREC-8
    python benchmarks/holes.py containment                # documents of one group or run hidden
    python benchmarks/holes.py judging --pairs 200        # judgements until settled, three orders

A hidden judgement has grade -1, which counts as unjudged. The tests use the same data
(``PYTERRIER_ASL_DATA``).
"""

from __future__ import annotations

import argparse
import copy
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from scipy import stats

from pyterrier_asl.evaluation.evaluate import evaluate
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.labellings import Labelled, bounds, unjudged_of
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.remembered import copy_of
from pyterrier_asl.judging.unjudged import Unjudged
from pyterrier_asl.measures.directions import higher_is_better
from pyterrier_asl.statistics.boxes import box_test
from pyterrier_asl.unjudged.holes import Holes, holes
from pyterrier_asl.unjudged.pairs import verdict_of

DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", "../shared/data"))
TREC8, DL20 = DATA / "trec8-adhoc", DATA / "dl20-passage"
BINARY = ["ASL@100", "nDCG@10", "AP@100", "P@20", "LexiP@100"]
GRADED = ["ASL(rel=2)@100", "nDCG@10", "AP(rel=2)@100", "P(rel=2)@20", "LexiP(rel=2)@100"]
DEPTH = 100


def groups_of_trec8(runs: Evaluation) -> dict[str, list[int]]:
    """The runs of each group."""
    table = pd.read_csv(TREC8 / "runs_table.tsv", sep="\t", dtype=str)
    group = dict(zip(table["run"], table["group"]))
    members: dict[str, list[int]] = {}
    for row, name in enumerate(runs.names):
        members.setdefault(group[name], []).append(row)
    return members


def judged_by_depth(runs: Evaluation) -> np.ndarray:
    """Whether a run retrieves a judged document in its first 100, shape (J, S)."""
    found = np.zeros((len(runs.judgements.docnos), len(runs)), dtype=bool)
    for row, run in enumerate(runs.runs):
        found[run.pairs[run.ranks <= DEPTH], row] = True
    return found


def only_of(found: np.ndarray, members: list[int]) -> np.ndarray:
    """The judged documents that only these runs retrieve in their first 100."""
    others = np.setdiff1d(np.arange(found.shape[1]), members)
    return found[:, members].any(axis=1) & ~found[:, others].any(axis=1)


def hidden(runs: Evaluation, mask: np.ndarray) -> Evaluation:
    """The same runs without some of the judgements."""
    new = regraded(runs.judgements, np.where(mask, -1.0, runs.judgements.grades))
    return Evaluation(runs.names, [replace(run, judgements=new) for run in runs.runs], new)


def regraded(judgements: Judgements, grades: np.ndarray) -> Judgements:
    """The same judgements with other grades."""
    other = copy_of(judgements)
    other.grades = grades
    return other


def with_labels(pair: Holes, documents: np.ndarray, labels: np.ndarray) -> Holes:
    """The same comparison with some of the unjudged documents judged."""
    old, unjudged = pair.labelled, copy.copy(pair.labelled.unjudged)
    grades = old.judgements.grades.copy()
    grades[documents] = labels
    unjudged.judgements = regraded(old.judgements, grades)
    unjudged.runs = [replace(run, judgements=unjudged.judgements) for run in unjudged.runs]
    new = Labelled(unjudged, old.measure, depth=DEPTH, highest=old.sides[0].highest)
    return Holes(pair.runs, new, pair.alpha)


def labelled_for(runs: Evaluation, names: list[str]) -> list[Labelled]:
    """All runs in these measures, to depth 100, unjudged documents numbered once."""
    measures = [ir_measures.parse_measure(name) for name in names]
    unjudged = unjudged_of(runs.runs, measures, DEPTH)
    return [Labelled(unjudged, measure, depth=DEPTH) for measure in measures]


def of_runs(labelled: Labelled, runs: list[int]) -> Labelled:
    """The same measure, with the unjudged documents of only these runs."""
    cutoff = labelled.measure.cutoff
    depth = None if cutoff is None else max(cutoff, DEPTH)
    unjudged = Unjudged([labelled.unjudged.runs[run] for run in runs], depth)
    return Labelled(unjudged, labelled.measure, depth=DEPTH, highest=labelled.sides[0].highest)


def speed() -> None:
    """Prints times of evaluation with bounds and of comparing all pairs."""
    runs, qrels = TREC8 / "runs", TREC8 / "qrels.txt.gz"
    measures = ["P@10", "nDCG@10", "AP", "ASL@100", "LexiP"]  # the first round warms up
    for what, work in 3 * (("evaluate", evaluate), ("bounds", bounds)):
        report(what, lambda work=work: work(runs, qrels, measures))
    report(
        "all pairs in ASL@100 and nDCG@10, reading included",
        lambda: [
            holes(read, None, name).counts()
            for read in [Evaluation.of(runs, qrels)]
            for name in ("ASL@100", "nDCG@10")
        ],
    )
    read = Evaluation.of(runs, qrels)
    for name in ("ASL@100", "nDCG@10", "AP@100"):
        report(f"all pairs in {name}", lambda name=name: holes(read, None, name).counts())
    rng = np.random.default_rng(0)
    wide = {
        name: {
            str(q): {f"d{d}": float(-i) for i, d in enumerate(rng.permutation(1500)[:1000])}
            for q in range(50)
        }
        for name in "ab"
    }
    judgements = {str(q): {f"d{d}": d % 2 for d in range(30)} for q in range(50)}
    pair = Evaluation.of(wide, judgements)
    for name in ("ASL@1000", "nDCG@1000"):
        report(
            f"a pair of 1,000 a query in {name}", lambda name=name: holes(pair, None, name).counts()
        )


def report(what: str, work: Any) -> Any:
    """Prints the elapsed time and the processor time."""
    begin, cpu = time.perf_counter(), time.process_time()
    result = work()
    print(f"{what:60} {time.perf_counter() - begin:7.2f} s  cpu {time.process_time() - cpu:7.2f} s")
    return result


def cases(track: str) -> Iterator[tuple[str, list[int], Evaluation, Evaluation, list[str]]]:
    """Each group, or each run, with the judgements of its unique documents hidden."""
    folder, names = (TREC8, BINARY) if track == "trec8" else (DL20, GRADED)
    qrels = folder / ("qrels.txt.gz" if track == "trec8" else "qrels.txt")
    runs = Evaluation.of(folder / "runs", qrels)
    found = judged_by_depth(runs)
    each = (
        groups_of_trec8(runs)
        if track == "trec8"
        else {name: [row] for row, name in enumerate(runs.names)}
    )
    for group, members in each.items():
        yield group, members, runs, hidden(runs, only_of(found, members)), names


def containment(track: str) -> None:
    """Checks that bounds contain the values by the full qrels; counts verdicts on pairs."""
    contained: dict[str, list[int]] = {}
    verdicts: dict[str, np.ndarray] = {}
    certain: dict[str, list[int]] = {}
    full: list[Labelled] = []
    for group, members, runs, gap, names in cases(track):
        full = full or labelled_for(runs, names)
        for whole, labelled in zip(full, labelled_for(gap, names)):
            name = str(labelled.measure)
            counts = verdicts.setdefault(name, np.zeros(5, dtype=int))
            inside = contained.setdefault(name, [0, 0])
            sure = certain.setdefault(name, [0, 0, 0])
            better = 1 if higher_is_better(labelled.measure) else -1
            for run in range(len(runs)):
                rows = [*members, *([] if run in members else [run])]
                part, own = of_runs(labelled, rows), rows.index(run)
                low, high = part.sides[own].bounds
                true = whole.sides[run].value
                inside[0] += 1
                inside[1] += bool(np.all((low - 1e-9 <= true) & (true <= high + 1e-9)))
                if run in members:
                    continue
                for member in range(len(members)):
                    low, high = part.difference(member, own)
                    truth = whole.sides[members[member]].value - true
                    now = part.sides[member].value - part.sides[own].value
                    if not np.all((low - 1e-9 <= truth) & (truth <= high + 1e-9)):
                        raise AssertionError((group, name, runs.names[run]))
                    count(counts, low, high, truth.mean() * better, now.mean() * better, better)
                    count_tests(sure, low, high, truth)
        print(f"  {group}: {len(members)} runs", flush=True)
    for name, (number, inside_) in contained.items():
        print(f"{name}: {inside_} of {number} runs within their bounds for every query")
    for name, (settled, wrong, equal, open_, misled) in verdicts.items():
        print(
            f"{name}: settled {settled} (wrong {wrong}), equal {equal}, open {open_}; wrong by "
            f"'unjudged is irrelevant' {misled}; t-test certain {certain[name][0]} "
            f"(wrong {certain[name][1]}), impossible wrong {certain[name][2]}"
        )


def count(
    counts: np.ndarray, low: np.ndarray, high: np.ndarray, truth: float, now: float, better: int
) -> None:
    """Adds a pair: settled, settled and wrong, equal, open, misled by 'irrelevant'."""
    verdict = verdict_of(float(low.mean()), float(high.mean()), better > 0)
    counts[0] += verdict in "AB"
    counts[1] += (verdict == "A" and truth <= 0) or (verdict == "B" and truth >= 0)
    counts[2] += verdict == "equal"
    counts[3] += verdict == "open"
    counts[4] += truth * now < 0


def count_tests(sure: list[int], low: np.ndarray, high: np.ndarray, truth: np.ndarray) -> None:
    """Adds a t-test: certain, certain and wrong, impossible and wrong."""
    test = box_test(low, high)
    if test.verdict == "possible" or np.ptp(truth) < 1e-12:
        return
    t, p = stats.ttest_1samp(truth, 0)
    significant = p <= 0.05
    sure[0] += test.verdict == "certain"
    sure[1] += test.verdict == "certain" and not (significant and np.sign(t) == test.sign)
    sure[2] += test.verdict == "impossible" and bool(significant)


def open_pairs(name: str, number: int, seed: int) -> Iterator[tuple[Holes, dict[int, float]]]:
    """Open pairs of a member and an outside run, and the hidden grades by document."""
    rng = np.random.default_rng(seed)
    each, found = -(-number // 41), 0
    for _, members, runs, gap, _ in cases("trec8"):
        (labelled,) = labelled_for(gap, [name])
        outside = np.setdiff1d(np.arange(len(runs)), members).tolist()
        tried = [(member, run) for member in members for run in outside]
        of_group = 0
        for at in rng.permutation(len(tried)).tolist():
            member, run = tried[at]
            part = of_runs(labelled, [member, run, *[m for m in members if m != member]])
            low, high = (float(bound.mean()) for bound in part.difference(0, 1))
            if verdict_of(low, high) == "open":
                pair = gap.select([gap.names[member], gap.names[run]])
                yield Holes(pair, part), grades_of(part, runs)
                of_group, found = of_group + 1, found + 1
            if found == number:
                return
            if of_group == each:
                break


def grades_of(labelled: Labelled, full: Evaluation) -> dict[int, float]:
    """The grade of each unjudged document by the full qrels, 0 without a judgement."""
    known = {
        (query, docno): grade
        for query, docno, grade in zip(
            full.judgements.queries.tolist(),
            full.judgements.docnos.to_pylist(),
            full.judgements.grades.tolist(),
        )
    }
    codes, judgements = labelled.documents, labelled.judgements
    docnos = judgements.docnos.take(codes).to_pylist()
    queries = judgements.queries[codes].tolist()
    return {
        int(code): max(known.get((query, docno), 0.0), 0.0)
        for code, query, docno in zip(codes, queries, docnos)
    }


def until_settled(pair: Holes, order: np.ndarray, grades: dict[int, float]) -> int:
    """The number of documents to judge in this order; more labels never widen the bounds."""
    labels = np.array([grades[int(code)] for code in order])
    few, many = 0, len(order)
    while few < many:
        middle = (few + many) // 2
        if with_labels(pair, order[:middle], labels[:middle]).is_open:
            few = middle + 1
        else:
            many = middle
    return few


def our_order(pair: Holes, grades: dict[int, float]) -> np.ndarray:
    """The order of `todo`, computed again after each relevant answer."""
    order: list[int] = []
    while True:
        left = pair.order
        new: list[int] = []
        for code in left.tolist():
            new.append(code)
            if grades[code] >= pair.labelled.measure.rel:
                break
        order += new
        if not len(left) or len(new) == len(left):
            return np.array(order, dtype=np.int64)
        pair = with_labels(pair, np.array(new), np.array([grades[code] for code in new]))
        if not pair.is_open:
            return np.array(order, dtype=np.int64)


def judging(pairs: int, seeds: int) -> None:
    """Judgements until settled, in three orders."""
    for name in ("ASL@100", "nDCG@10"):
        counts: dict[str, list[float]] = {"ours": [], "rank": [], "random": []}
        for pair, grades in open_pairs(name, pairs, seed=0):
            codes, unjudged = pair.labelled.documents, pair.labelled.unjudged
            queries = unjudged.judgements.queries[codes]
            best = unjudged.best(range(len(unjudged.runs)))
            by_rank = codes[np.lexsort((queries, best[codes]))]
            counts["ours"].append(until_settled(pair, our_order(pair, grades), grades))
            counts["rank"].append(until_settled(pair, by_rank, grades))
            counts["random"] += [
                until_settled(pair, np.random.default_rng(seed).permutation(codes), grades)
                for seed in range(seeds)
            ]
        medians = {order: float(np.median(some)) for order, some in counts.items()}
        print(f"{name}: {len(counts['ours'])} pairs, medians {medians}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["speed", "containment", "judging"])
    parser.add_argument("--track", choices=["trec8", "dl20"], action="append")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.what == "speed":
        speed()
    elif given.what == "containment":
        for track in given.track or ["trec8", "dl20"]:
            print(track)
            containment(track)
    else:
        judging(given.pairs, given.seeds)


if __name__ == "__main__":
    main()
