"""The plan of an audit: how many queries people must judge, and which, drawn at random."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import numpy as np

from ..evaluation.inputs import Qrels, Runs, refuse_unused
from ..io.atomic import creating
from ..measures.names import Measures, named_measures
from ..statistics.inputs import check_draws
from ..statistics.prediction_powered import TARGETS, differing_values, needed_queries
from .audit import AuditedRuns, means_and_differences


@dataclass(frozen=True)
class AuditPlan:
    """The plan of an audit: the queries that people must judge.

    Attributes:
        queries: the number of queries, with the pilot; None where no number is enough for the
            width, and then all are drawn.
        drawn: the queries of the pilot, then the others in the order of the draw.
        judged: the number of these queries that people have judged already.
        of: the number of queries that the machine has judged.
        width: the width of the intervals, from end to end.
        target: the target of the estimate.
        seed: seed of the draw.
        worst_case: whether people had judged no query yet, so that the plan assumes a machine of no
            use.
    """

    queries: int | None
    drawn: list[str]
    judged: int
    of: int
    width: float
    target: str
    seed: int
    worst_case: bool

    def sentence(self) -> str:
        """The plan in words."""
        if self.queries is None:
            return (
                f"Even all {self.of} queries are too few for intervals of width {self.width:g}; "
                "all are drawn."
            )
        if self.judged and self.queries <= self.judged:
            return (
                f"The {self.judged} queries that people have judged are enough for intervals of "
                f"width {self.width:g}, by people's labels of them; none is drawn."
            )
        basis = (
            "as if the machine were of no use, because people have judged no query yet"
            if self.worst_case
            else f"by people's labels of {self.judged} queries so far"
        )
        return (
            f"People must judge {self.queries} of {self.of} queries for intervals of width "
            f"{self.width:g}, {basis}; {max(len(self.drawn) - self.judged, 0)} are drawn with "
            f"seed {self.seed}."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the draw: a line of JSON after ``#``, then a query and ``judged`` or ``to judge``.

        Raises:
            FileExistsError: where the file exists: queries that are drawn again until they suit
                are no random sample. If two processes save at once, one of them gets this error.
        """
        about = {n: getattr(self, n) for n in ("target", "width", "seed", "queries", "of")}
        lines = [f"{qid}\tjudged" for qid in self.drawn[: self.judged]]
        lines += [f"{qid}\tto judge" for qid in self.drawn[self.judged :]]
        try:
            with creating(path) as beside:
                beside.write_text("\n".join([f"# {json.dumps(about)}", *lines]) + "\n")
        except FileExistsError:
            raise FileExistsError(
                f"{path} exists, and queries are drawn once: use the draw in it, or name another "
                "file"
            ) from None


def plan_audit(
    runs: Runs,
    qrels: Qrels | None,
    measures: Measures,
    machine: Qrels,
    width: float,
    *,
    target: str = TARGETS[0],
    rel: float | None = None,
    machine_rel: float | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> AuditPlan:
    """Draws at random the queries that people must judge for intervals of a width.

    The widest interval decides, over all measures, of each run and each difference from the first
    run. Rows with equal values in all queries are left out, because they give no variance.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation.
        qrels: people's judgements of a pilot, drawn at random, of 3 queries or more; None: there is
            no pilot, and the plan assumes a machine of no use.
        measures: measures or their names.
        machine: the machine's judgements; queries are drawn from its queries.
        width: the width of the intervals, from end to end.
        target: ``'queries like these'`` or ``'these queries'``; see
            :func:`~pyterrier_asl.audit`.
        rel: minimum grade of a relevant document, for measures without one.
        machine_rel: the same for the machine's grades; it replaces ``rel`` and a measure's ``rel``.
        alpha: intervals cover 1 - alpha.
        seed: seed of the draw. The order does not depend on the number of queries: a longer draw
            begins with the queries of a shorter draw.

    Raises:
        ValueError: as :func:`~pyterrier_asl.audit`, for a width that is not above 0, and for a
            pilot without variance, in which all values of each run and difference are equal.

    >>> qids = [str(number) for number in range(40)]
    >>> runs = {"run": {q: {"a": 2, "b": 1} for q in qids}}
    >>> machine = {q: {"a": int(q) % 3 == 0, "b": 1} for q in qids}
    >>> plan = plan_audit(runs, None, "AP", machine, 0.3, seed=1)
    >>> plan.sentence()[:61]
    'People must judge 13 of 40 queries for intervals of width 0.3'
    """
    if not width > 0:
        raise ValueError(f"width is {width}: give one above 0")
    check_draws(1, seed)
    named = refuse_unused(named_measures(measures), "rel", rel=rel, machine_rel=machine_rel)
    worst_case = qrels is None
    # Without a pilot: people's values have the variance of the machine's, which predict nothing.
    sample = AuditedRuns.of(runs, machine if qrels is None else qrels, machine, rel, machine_rel)
    rows = means_and_differences(len(sample.systems))
    needed: list[int | None] = []
    for measure in named:
        for h, f, rest in zip(*sample.values(measure, *rows)):
            if worst_case:
                h, f, rest = f, np.zeros_like(f), np.zeros_like(rest)
            if differing_values(h):
                needed.append(needed_queries(h, f, rest, width, target=target, alpha=alpha))
    if not needed:
        raise ValueError(
            f"no number of queries can be planned: every run has one value in all {sample.size} "
            f"queries that {'the machine' if worst_case else 'people'} judged; judge more queries, "
            "or name another measure"
        )
    queries = None if None in needed else max(n for n in needed if n is not None)
    pilot = [] if worst_case else sample.qids[: sample.size]
    count = len(sample.qids) if queries is None else max(queries, len(pilot))
    order = np.random.default_rng(seed).permutation(sorted(sample.qids[len(pilot) :]))
    drawn = [*pilot, *order[: count - len(pilot)].tolist()]
    return AuditPlan(queries, drawn, len(pilot), len(sample.qids), width, target, seed, worst_case)
