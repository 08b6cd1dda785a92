"""The plan of an audit: how many queries people must judge, and which documents of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..common.lazy import pd
from ..common.notices import counted
from ..common.parameters import taking_other_names
from ..common.types import Floats
from ..evaluation.evaluation import Runs
from ..evaluation.sources import QrelsLike, refuse_unused
from ..io.atomic import replacing
from ..measures.parsing import Measures, NamedMeasure, named_measures
from ..printing.printed import Part, Printed
from ..statistics.prediction_powered import TARGETS, differing_values, interval_widths
from ..statistics.settings import check_draws
from .audited_runs import MACHINE, SETTINGS, AuditedRuns, cutoff_of, means_and_differences

#: Numbers of queries in the table of a plan.
_SIZES = (5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000)


@dataclass(frozen=True, repr=False, eq=False)
class AuditPlan(Printed):
    """The plan of an audit: the documents that people must judge; ``print`` shows it.

    Attributes:
        queries: the number of queries, with the pilot; None where no number was asked for, or none
            is enough for the width, and then all are drawn.
        order: the queries of the pilot, then all others in the order of the draw.
        judged: the number of these queries that people have judged already; 0: the plan assumes a
            machine of no use.
        width: the width of the intervals, from end to end; None: a number of queries was asked for.
        target: the target of the estimate.
        seed: seed of the draw.
        widths: the width of the widest interval for 3, 4, ... queries: its lower limit, the
            expected width and its upper limit, shape (3, Q - 2); without a pilot three times the
            expected one.
        limiting: the measure and the run, or difference, with this interval at these numbers.
        documents: query -> the documents that people must judge: those that any run has in the
            first ``depth``.
        depth: the deepest cut-off of the measures; None: whole rankings.
        notes: sentences on what must be known of the runs and the machine's judgements.
    """

    queries: int | None
    order: list[str]
    judged: int
    width: float | None
    target: str
    seed: int
    widths: Floats
    limiting: list[str]
    documents: dict[str, list[str]]
    depth: int | None
    notes: list[str] = field(default_factory=list)

    @property
    def drawn(self) -> list[str]:
        """The queries of the pilot, then those that people must judge."""
        every = 0 if self.width is None else len(self.order)
        return self.order[: max(every if self.queries is None else self.queries, self.judged)]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of query and document that people must judge, by query in drawn order."""
        return [(qid, docno) for qid in self.drawn[self.judged :] for docno in self.documents[qid]]

    @property
    def table(self) -> pd.DataFrame:
        """For several numbers of queries the documents to judge, and the width of the widest
        interval: expected, and by a pilot its ``upper`` limit, which holds in about 9 of 10 plans.
        """
        most, least = len(self.order), max(self.judged, 3)
        own = max(self.queries or 0, least)
        sizes = np.array(sorted({*(n for n in _SIZES if least <= n <= most), most, least, own}))
        documents = np.cumsum([0, *(len(self.documents[q]) for q in self.order[self.judged :])])
        widths = zip(["width", "upper"][: 1 + bool(self.judged)], self.widths[1:])
        return pd.DataFrame(
            {"queries": sizes, "documents": documents[sizes - self.judged]}
            | {name: of_size[sizes - 3] for name, of_size in widths}
        )

    def sentences(self) -> list[str]:
        """The plan in words, and what people are asked to judge."""
        rankings = "whole rankings" if self.depth is None else f"first {self.depth:,} documents"
        return [
            self._answer(),
            f"People judge the pool of the runs' {rankings} in each query. Values by people are "
            "then those of pooled qrels: other documents count as not relevant.",
        ]

    def _answer(self) -> str:
        of = len(self.order)
        at = max(of if self.queries is None else self.queries, self.judged, 3) - 3
        low, expected, high = self.widths[:, at]
        upper = f" and at most {high:.3g} in about 9 of 10 plans" if self.judged else ""
        limits = f"the widest, of {self.limiting[at]}, is expected to have {expected:.3g}{upper}"
        basis = (
            f"by people's labels of {self.judged} queries so far"
            if self.judged
            else "as if the machine were of no use, because people have judged no query yet"
        )
        if self.width is None and self.queries is None:
            return f"The widths of intervals are {basis}; nothing is drawn yet."
        width = "" if self.width is None else f" for intervals of width {self.width:g}"
        if self.width is not None and self.queries is None:
            few = "are" if low > self.width else "are probably"
            few = few if self.judged and expected > self.width else "may be"
            return f"All {of} queries {few} too few{width}, {basis}: {limits}. All are drawn."
        if self.judged and (self.queries or 0) <= self.judged:
            return (
                f"The {self.judged} queries that people have judged are enough{width}, {basis}: "
                f"{limits}. None is drawn."
            )
        return (
            f"People must judge {self.queries} of {of} queries{width}, {basis}: {limits}. "
            f"{len(self.drawn) - self.judged} are drawn with seed {self.seed}: "
            f"{counted(len(self.pairs), 'document')} to judge."
        )

    def parts(self) -> Iterator[Part]:
        """The plan in words, the table, and what people are asked to judge."""
        answer, pool = self.sentences()
        heading = "Documents to judge, and width of the widest interval, by number of queries:"
        yield from (Part(answer), Part(heading, self.table), Part())
        yield from map(Part, [pool, *self.notes])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the draw: JSON after ``#``, then ``qid``, ``docno``, and ``label`` to fill in.

        Raises:
            ValueError: where nothing is drawn.
            FileExistsError: where the file exists: queries that are drawn again until they suit
                are no random sample. If two processes save at once, one of them gets this error.
        """
        if not self.pairs:
            raise ValueError("nothing is drawn: give a width or a number of queries")
        about = {n: getattr(self, n) for n in ("target", "width", "seed", "queries", "depth")}
        about |= {"of": len(self.order), "judged": self.drawn[: self.judged]}
        rows = [f"{qid}\t{docno}\t" for qid, docno in self.pairs]
        lines = [f"{SETTINGS}{json.dumps(about)}", "qid\tdocno\tlabel", *rows]
        try:
            with replacing(path, force=True, only_new=True) as new:
                new.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except FileExistsError:
            raise FileExistsError(
                f"{path} exists, and queries are drawn once: use the draw in it, or name another "
                "file"
            ) from None


@taking_other_names
def plan_audit(
    runs: Runs,
    qrels: QrelsLike | None,
    measures: Measures,
    machine: QrelsLike,
    width: float | None = None,
    *,
    queries: int | None = None,
    depth: int | None = None,
    target: str = TARGETS[0],
    rel: float | None = None,
    machine_rel: float | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> AuditPlan:
    """Draws at random the queries that people must judge, and lists their documents.

    The widest interval decides, over all measures, of each run and each difference from the first
    run. Rows with equal values in all queries are left out, because they give no variance.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation.
        qrels: people's judgements of a pilot, drawn at random, of 3 queries or more, or a list of
            files of labels, one for each round so far; None: there is no pilot, and the plan
            assumes a machine of no use.
        measures: measures or their names.
        machine: the machine's judgements; queries are drawn from its queries.
        width: the width of the intervals, from end to end. The plan has the least number of queries
            for which the upper limit of the widest is at most this width.
        queries: the number of queries, with the pilot, instead of a width. Without both nothing is
            drawn, and the table of the plan helps to choose.
        depth: the number of first documents of each run that people judge; None: the deepest
            cut-off of the measures, or whole rankings for a measure without one.
        target: ``'queries-like-these'`` or ``'these-queries'``; see
            :func:`~pyterrier_asl.audit`.
        rel: minimum grade of a relevant document, for measures without one.
        machine_rel: the same for the machine's grades; it replaces ``rel`` and a measure's ``rel``.
        alpha: intervals cover 1 - alpha.
        seed: seed of the draw. The order does not depend on the number of queries: a longer draw
            begins with the queries of a shorter draw.

    Raises:
        ValueError: as :func:`~pyterrier_asl.audit`, for a width that is not above 0, a number of
            queries beyond the machine's, both of them, and for a pilot without variance, in which
            all values of each run and difference are equal.

    >>> qids = [str(number) for number in range(40)]
    >>> runs = {"run": {q: {"a": 2, "b": 1} for q in qids}}
    >>> machine = {q: {"a": int(q) % 3 == 0, "b": 1} for q in qids}
    >>> plan = plan_audit(runs, None, "P@1", machine, 0.4, seed=1)
    >>> plan.sentences()[0][:61]
    'People must judge 26 of 40 queries for intervals of width 0.4'
    >>> plan.table.round(2).head(3)
       queries  documents  width
    0        3          3   7.18
    1        5          5   1.39
    2       10         10   0.71
    """
    if width is not None and (not width > 0 or queries is not None):
        what = "give one above 0" if queries is None else f"leave it out, or queries={queries}"
        raise ValueError(f"width is {width}: {what}")
    check_draws(1, seed)
    named = refuse_unused(named_measures(measures), "rel", rel=rel, machine_rel=machine_rel)
    if depth is None:
        cutoffs = [cutoff_of(measure) or np.inf for measure in named]
        depth = int(max(cutoffs)) if np.isfinite(max(cutoffs)) else None
    # Without a pilot: people's values have the variance of the machine's, which predict nothing.
    worst_case = qrels is None
    people = machine if qrels is None else qrels
    sample = AuditedRuns.of(runs, people, machine, rel, machine_rel, MACHINE)
    if queries is not None and not 3 <= queries <= len(sample.qids):
        raise ValueError(
            f"queries is {queries}: give a number from 3 to {len(sample.qids)}, the number of "
            "queries that the machine judged"
        )
    names, widths = _widths(sample, named, worst_case, target, alpha)
    widest = widths.max(axis=0)
    if width is not None:
        enough = np.flatnonzero(widest[2] <= width)
        queries = int(enough[0]) + 3 if len(enough) else None
    judged = 0 if worst_case else sample.size
    drawn = np.random.default_rng(seed).permutation(sorted(sample.qids[judged:])).tolist()
    return AuditPlan(
        queries,
        [*sample.qids[:judged], *drawn],
        judged,
        width,
        target,
        seed,
        widest,
        [names[at] for at in widths[:, 1].argmax(axis=0)],
        sample.pool(depth),
        depth,
        [*sample.judges.notes_on(named), *sample.judges.facts(named, MACHINE).notes],
    )


def _widths(
    sample: AuditedRuns, measures: list[NamedMeasure], worst_case: bool, target: str, alpha: float
) -> tuple[list[str], Floats]:
    """The means and differences, K of them, and the widths of their intervals by 3, 4, ... queries.

    The widths are lower limits, expected ones and upper limits, shape (K, 3, Q - 2).

    Raises:
        ValueError: where all values of each mean and difference are equal.
    """
    rows = means_and_differences(len(sample.judges.systems))
    names = [*sample.judges.systems, ""]
    widths = {}
    for measure in measures:
        sample.check_machine(measure)
        for h, f, rest, run, minus in zip(*sample.values(measure, *rows), *rows):
            if worst_case:
                h, f, rest = f, np.zeros_like(f), np.zeros_like(rest)
            if differing_values(h):
                what = f"{names[run]} - {names[minus]}" if minus >= 0 else names[run]
                own = interval_widths(h, f, rest, target=target, alpha=alpha)
                # Without people's labels there is no estimate, so it has no limits.
                widths[f"{measure.name}, {what}"] = own[[1, 1, 1]] if worst_case else own
    if not widths:
        raise ValueError(
            f"no number of queries can be planned: every run has one value in all {sample.size} "
            f"queries that {'the machine' if worst_case else 'people'} judged; judge more queries, "
            "or name another measure"
        )
    return list(widths), np.array(list(widths.values()))
