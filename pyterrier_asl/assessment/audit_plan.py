"""The plan of an audit: how many queries people must judge, and which documents of them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import numpy as np

from ..evaluation.inputs import QrelsLike, Runs, refuse_unused
from ..io.atomic import replacing
from ..io.notices import counted
from ..measures.names import Measures, named_measures
from ..statistics.inputs import check_draws
from ..statistics.prediction_powered import TARGETS, differing_values, interval_widths
from .audit import AuditedRuns, means_and_differences


@dataclass(frozen=True)
class AuditPlan:
    """The plan of an audit: the documents that people must judge.

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
        widest: the widest interval that is expected, from end to end.
        limiting: the measure and the run, or difference, with this interval.
        documents: query -> the documents that people must judge, which the machine has judged.
    """

    queries: int | None
    drawn: list[str]
    judged: int
    of: int
    width: float
    target: str
    seed: int
    worst_case: bool
    widest: float
    limiting: str
    documents: dict[str, list[str]]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of query and document that people must judge, by query in drawn order."""
        return [(qid, docno) for qid in self.drawn[self.judged :] for docno in self.documents[qid]]

    def sentence(self) -> str:
        """The plan in words."""
        limits = f"the widest is {self.widest:.3g}, of {self.limiting}"
        if self.queries is None:
            return (
                f"Even all {self.of} queries are too few for intervals of width {self.width:g}: "
                f"with all of them {limits}; all are drawn."
            )
        if self.judged and self.queries <= self.judged:
            return (
                f"The {self.judged} queries that people have judged are enough for intervals of "
                f"width {self.width:g}, by people's labels of them ({limits}); none is drawn."
            )
        basis = (
            "as if the machine were of no use, because people have judged no query yet"
            if self.worst_case
            else f"by people's labels of {self.judged} queries so far"
        )
        return (
            f"People must judge {self.queries} of {self.of} queries for intervals of width "
            f"{self.width:g}, {basis} ({limits}); {len(self.drawn) - self.judged} are drawn with "
            f"seed {self.seed}: {counted(len(self.pairs), 'document')} to judge."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the draw: JSON after ``#``, then ``qid``, ``docno``, and ``label`` to fill in.

        Raises:
            FileExistsError: where the file exists: queries that are drawn again until they suit
                are no random sample. If two processes save at once, one of them gets this error.
        """
        about = {n: getattr(self, n) for n in ("target", "width", "seed", "queries", "of")}
        about["judged"] = self.drawn[: self.judged]
        lines = [f"# {json.dumps(about)}", "qid\tdocno\tlabel"]
        lines += [f"{qid}\t{docno}\t" for qid, docno in self.pairs]
        try:
            with replacing(path, force=True, only_new=True) as new:
                new.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except FileExistsError:
            raise FileExistsError(
                f"{path} exists, and queries are drawn once: use the draw in it, or name another "
                "file"
            ) from None


def plan_audit(
    runs: Runs,
    qrels: QrelsLike | None,
    measures: Measures,
    machine: QrelsLike,
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
    rows = means_and_differences(len(sample.judges.systems))
    names = [*sample.judges.systems, ""]
    widths = {}
    for measure in named:
        for h, f, rest, run, minus in zip(*sample.values(measure, *rows), *rows):
            if worst_case:
                h, f, rest = f, np.zeros_like(f), np.zeros_like(rest)
            if differing_values(h):
                what = f"{names[run]} - {names[minus]}" if minus >= 0 else names[run]
                widths[f"{measure.name}, {what}"] = interval_widths(
                    h, f, rest, target=target, alpha=alpha
                )
    if not widths:
        raise ValueError(
            f"no number of queries can be planned: every run has one value in all {sample.size} "
            f"queries that {'the machine' if worst_case else 'people'} judged; judge more queries, "
            "or name another measure"
        )
    of_all = np.array(list(widths.values()))  # for 3, 4, ... queries
    enough = np.flatnonzero(of_all.max(axis=0) <= width)
    at = int(enough[0]) if len(enough) else -1
    queries = at + 3 if len(enough) else None
    pilot = [] if worst_case else sample.qids[: sample.size]
    count = len(sample.qids) if queries is None else max(queries, len(pilot))
    order = np.random.default_rng(seed).permutation(sorted(sample.qids[len(pilot) :]))
    drawn = [*pilot, *order[: count - len(pilot)].tolist()]
    widest = int(of_all[:, at].argmax())
    return AuditPlan(
        queries,
        drawn,
        len(pilot),
        len(sample.qids),
        width,
        target,
        seed,
        worst_case,
        float(of_all[widest, at]),
        list(widths)[widest],
        sample.documents,
    )
