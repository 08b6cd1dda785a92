"""The plan of an audit: how many queries people must judge, and which, drawn at random."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import numpy as np

from ..evaluation.inputs import Qrels, Runs
from ..io.atomic import creating
from ..measures.names import Measures, named_measures
from ..statistics.prediction_powered import TARGETS, differing_values, needed_queries
from .audit import AuditedRuns, means_and_differences


@dataclass(frozen=True)
class AuditPlan:
    """The plan of an audit: the queries that people are to judge.

    Attributes:
        queries: how many in all, with the pilot; None where no number is enough for
            the wanted width, and then all are drawn.
        drawn: the queries, the pilot's first, then in the order of the draw.
        judged: how many of them people have judged already.
        of: how many queries the machine has judged.
        width: the wanted width of the intervals, from end to end.
        target: of the estimate.
        seed: of the draw.
        worst_case: whether people had judged nothing yet, so that the machine is taken to be of no
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
                f"width {self.width:g}, by what people say of them; none is drawn."
            )
        basis = (
            "as if the machine were of no use, because people have judged nothing yet"
            if self.worst_case
            else f"by what people say of {self.judged} queries so far"
        )
        return (
            f"People must judge {self.queries} of {self.of} queries for intervals of width "
            f"{self.width:g}, {basis}; {max(len(self.drawn) - self.judged, 0)} are drawn with "
            f"seed {self.seed}."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the draw: a line of JSON after ``#``, then a query and ``judged`` or ``to judge``.

        Raises:
            FileExistsError: where there is such a file: drawing again until one likes the queries
                would make them no random sample. Of two that save at once one gets this error.
        """
        about = {n: getattr(self, n) for n in ("target", "width", "seed", "queries", "of")}
        lines = [f"{qid}\tjudged" for qid in self.drawn[: self.judged]]
        lines += [f"{qid}\tto judge" for qid in self.drawn[self.judged :]]
        try:
            with creating(path) as beside:
                beside.write_text("\n".join([f"# {json.dumps(about)}", *lines]) + "\n")
        except FileExistsError:
            raise FileExistsError(
                f"{path} is there already, and a draw is made once: keep to it, or name another "
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

    The widest interval decides: of each run and each difference from the first run, in each
    measure. Rows in which all values are equal are left out, because nothing is known of them.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation.
        qrels: people's judgements of a pilot, drawn at random, of 3 queries at least; None: there
            are none yet, and the machine is taken to be of no use.
        measures: measures or their names.
        machine: the machine's judgements; its queries are those to draw from.
        width: the wanted width, from end to end.
        target: ``'queries like these'`` or ``'these queries'``; see
            :func:`~pyterrier_asl.audit`.
        rel: minimum grade of a relevant document, for measures that do not say it.
        machine_rel: the same by the machine's grades; it beats ``rel`` and a measure's ``rel``.
        alpha: intervals cover 1 - alpha.
        seed: of the draw. The order of the draw does not depend on the number: a longer one begins
            as a shorter one does.

    Raises:
        ValueError: as :func:`~pyterrier_asl.audit`, for a width that is not above 0, and for a
            pilot that says nothing, because all values of each run and difference are equal.

    >>> qids = [str(number) for number in range(40)]
    >>> runs = {"run": {q: {"a": 2, "b": 1} for q in qids}}
    >>> machine = {q: {"a": int(q) % 3 == 0, "b": 1} for q in qids}
    >>> plan = plan_audit(runs, None, "AP", machine, 0.3, seed=1)
    >>> plan.sentence()[:61]
    'People must judge 13 of 40 queries for intervals of width 0.3'
    """
    if not width > 0:
        raise ValueError(f"width is {width}: give one above 0")
    worst_case = qrels is None
    # Without a pilot the machine's values scatter as people's will, and it knows nothing.
    sample = AuditedRuns.of(runs, machine if qrels is None else qrels, machine, rel, machine_rel)
    rows = means_and_differences(len(sample.systems))
    needed: list[int | None] = []
    for measure in named_measures(measures):
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
    enough = [n for n in needed if n is not None]
    queries = max(enough) if len(enough) == len(needed) else None
    pilot = [] if worst_case else sample.qids[: sample.size]
    count = len(sample.qids) if queries is None else max(queries, len(pilot))
    order = np.random.default_rng(seed).permutation(sorted(sample.qids[len(pilot) :]))
    drawn = [*pilot, *order[: count - len(pilot)].tolist()]
    return AuditPlan(queries, drawn, len(pilot), len(sample.qids), width, target, seed, worst_case)
