"""Runs measured by many labels of a machine, audited by few of people.

What the numbers are stands in :mod:`~pyterrier_asl.statistics.prediction_powered`; here they are
computed of runs and judgements, and the queries that people are to judge are drawn.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..charts.forms import ROW, alt, captioned, category
from ..evaluation.judged_runs import JudgedRuns
from ..io.atomic import replacing
from ..measures.names import NamedMeasure, named_measures, with_options
from ..scoring.arrays import Floats, Ints
from ..statistics.prediction_powered import TARGETS, needed_queries, prediction_powered

#: Below so many queries judged by people the intervals cannot be relied on.
FEW = 10

#: The columns of each estimate and of its interval, by whose labels it is.
_COLUMNS = {
    "both": ("estimate", "ci_low", "ci_high"),
    "people": ("people", "people_low", "people_high"),
    "machine": ("machine", "machine_low", "machine_high"),
}


def audited(
    runs: Any,
    people: Any,
    machine: Any,
    measures: Any,
    *,
    target: str = TARGETS[0],
    baseline: str | None = None,
    all_pairs: bool = False,
    rel: float | None = None,
    machine_rel: float | None = None,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Means and differences by a machine's labels of many queries and people's of some of them.

    The estimate is right on average whatever the machine's bias, and as narrow as the machine is
    good, **if the queries that people judged were drawn at random** from those of the machine
    (:func:`plan_audit` draws them). That they were is for the caller to assert.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        people: people's judgements: frame, file, or ir_datasets id.
        machine: the machine's, of the same queries and of more.
        measures: measures or their names.
        target: ``'queries like these'``, the mean of a larger population that the queries are a
            sample of, or ``'these queries'``, the mean of the machine's queries as people would
            have judged them. The interval of the second is narrower, and says less.
        baseline: the run that others are compared with; None: the first.
        all_pairs: compare every two runs, and not only each with the baseline.
        rel: minimum grade of a relevant document, for measures that do not say it.
        machine_rel: the same by the machine's grades, where they are on another scale; then also
            for measures that say it.
        alpha: intervals cover 1 - alpha.

    Returns:
        One row for each measure and run, then one for each difference, with ``measure``, ``run``,
        ``minus`` (the run that is subtracted, '' for a mean); ``estimate``, ``ci_low``,
        ``ci_high``; the same by people alone, ``people``, ``people_low``, ``people_high``, and by
        the machine alone, ``machine``, ``machine_low``, ``machine_high`` (of these queries NaN:
        nothing says how far the machine is off); ``lambda``, how far the machine is relied on;
        ``saved``, how many more queries people would have to judge for the same interval without
        it. ``attrs``: ``target``, ``queries`` (by people), ``machine_queries``, ``note``.

    Raises:
        ValueError: for people's queries that the machine has not judged, fewer than 3 queries, an
            unknown target, and whatever :func:`~pyterrier_asl.evaluate` refuses.

    Warns:
        UserWarning: of fewer than 10 queries judged by people.

    >>> qids = [str(number) for number in range(12)]
    >>> run = {"first": {q: {"a": 2, "b": 1} for q in qids},
    ...        "second": {q: {"b": 2, "a": 1} for q in qids}}
    >>> machine = {q: {"a": 1, "b": int(q) % 3 == 0} for q in qids}
    >>> people = {q: {"a": 1, "b": int(q) in (0, 3, 6)} for q in qids[:10]}
    >>> found = audited(run, people, machine, "AP")
    >>> found[["run", "minus", "estimate", "people", "machine"]].round(3)
          run  minus  estimate  people  machine
    0   first            1.000    1.00    1.000
    1  second            0.622    0.65    0.667
    2  second  first    -0.377   -0.35   -0.333
    """
    sample = _Sample.of(runs, people, machine, rel, machine_rel)
    if sample.size < FEW:
        warnings.warn(
            f"people have judged {sample.size} queries: below {FEW} the intervals cannot be relied "
            "on",
            stacklevel=2,
        )
    names = np.array([*sample.runs.names, ""], dtype=object)
    first = 0 if baseline is None else sample.runs.row(baseline)
    rows, less = _means_and_differences(len(sample.runs), first, all_pairs)
    parts = []
    for one in named_measures(measures):
        found = prediction_powered(*sample.values(one, rows, less), target=target, alpha=alpha)
        part = pd.DataFrame({"measure": one.name, "run": names[rows], "minus": names[less]})
        for by, columns in _COLUMNS.items():
            estimate = getattr(found, by)
            part[[*columns]] = np.stack((estimate.mean, estimate.low, estimate.high), axis=1)
        parts.append(part.assign(**{"lambda": found.lambda_, "saved": found.saved}))
    frame = pd.concat(parts, ignore_index=True)
    of = (
        "queries like these"
        if target == TARGETS[0]
        else f"these {len(sample.qids)} queries, had people judged all"
    )
    frame.attrs = {
        "target": target,
        "queries": sample.size,
        "machine_queries": len(sample.qids),
        "note": f"Means of {of}, with {100 * (1 - alpha):g} % intervals, by people's labels of "
        f"{sample.size} queries and the machine's of {len(sample.qids)}. They hold if the "
        f"{sample.size} were drawn at random from the {len(sample.qids)}, which nothing here can "
        "check.",
    }
    return frame


def what_is_estimated(frame: pd.DataFrame) -> list[str]:
    """The run or the difference of each row of :func:`audited`."""
    return [f"{a} - {b}" if b else a for a, b in zip(frame["run"], frame["minus"])]


def audited_chart(frame: pd.DataFrame) -> Any:
    """The estimate of each run beside people alone and the machine alone, with intervals.

    Args:
        frame: what :func:`audited` returned.
    """
    kind = np.where(frame["minus"].astype(bool), "differences", "means")
    about = frame[["measure"]].assign(what=what_is_estimated(frame), kind=kind)
    shown = pd.concat(
        [
            about.assign(by=by if by == "both" else f"{by} alone").join(
                frame[[*columns]].set_axis(["value", "low", "high"], axis=1)
            )
            for by, columns in _COLUMNS.items()
        ],
        ignore_index=True,
    )
    panels = [
        _estimates(f"{measure}: {of}", part)
        for (measure, of), part in shown.groupby(["measure", "kind"], sort=False)
    ]
    drawn = alt.concat(*panels, columns=2)
    return captioned(drawn, "The machine audited by people", frame.attrs.get("note", ""))


def _estimates(title: str, part: pd.DataFrame) -> Any:
    """A mean or a difference a row, with its three estimates one below the other."""
    said = part["by"].drop_duplicates().tolist()
    height = ROW * (len(said) + 1) * part["what"].nunique()
    base = alt.Chart(part, title=title, width=200, height=height).encode(
        y=alt.Y("what:N", sort=None, title=None),
        yOffset=alt.YOffset("by:N", sort=said),
        color=category("by", "by", domain=said),
        tooltip=["measure", "what", "by", "value", "low", "high"],
    )
    few = alt.Axis(tickCount=4)
    return alt.layer(
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=None, axis=few), x2="high:Q"),
        base.mark_point(filled=True, size=40, opacity=1).encode(x="value:Q"),
    )


# How many queries people are to judge, and which


@dataclass(frozen=True)
class AuditPlan:
    """Which queries people are to judge.

    Attributes:
        queries: how many in all, those of the pilot among them; None where no number is enough for
            the wanted width, and then all are drawn.
        drawn: the queries, the pilot's first, then in the order of the draw.
        judged: how many of them people have judged already.
        of: how many queries the machine has judged.
        width: the wanted width of the intervals, from end to end.
        target: of the estimate.
        seed: of the draw.
        worst_case: whether nothing was known of people, so that the machine is taken to be of no
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
        known = (
            "as if the machine were of no use, because people have judged nothing yet"
            if self.worst_case
            else f"by what people say of {self.judged} queries so far"
        )
        return (
            f"People must judge {self.queries} of {self.of} queries for intervals of width "
            f"{self.width:g}, {known}; {max(len(self.drawn) - self.judged, 0)} are drawn with "
            f"seed {self.seed}."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the draw: a line of JSON after ``#``, then a query and ``judged`` or ``to judge``.

        Raises:
            FileExistsError: where there is such a file: drawing again until one likes the queries
                would make them no random sample.
        """
        path = Path(path)
        if path.exists():
            raise FileExistsError(
                f"{path} is there already, and a draw is made once: keep to it, or name another "
                "file"
            )
        about = {n: getattr(self, n) for n in ("target", "width", "seed", "queries", "of")}
        lines = [f"{qid}\tjudged" for qid in self.drawn[: self.judged]]
        lines += [f"{qid}\tto judge" for qid in self.drawn[self.judged :]]
        with replacing(path) as beside:
            beside.write_text("\n".join([f"# {json.dumps(about)}", *lines]) + "\n")


def plan_audit(
    runs: Any,
    people: Any,
    machine: Any,
    measures: Any,
    width: float,
    *,
    target: str = TARGETS[0],
    rel: float | None = None,
    machine_rel: float | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> AuditPlan:
    """How many queries people must judge for intervals of a width, and which: drawn at random.

    The widest interval counts: of every run, of its difference from the first, in every measure.

    Args:
        runs: as of :func:`audited`.
        people: people's judgements of a pilot, drawn at random, of 3 queries at least; None: there
            are none yet, and the machine is taken to be of no use.
        machine: as of :func:`audited`; its queries are those to draw from.
        measures: measures or their names.
        width: the wanted width, from end to end.
        target: as of :func:`audited`.
        rel: likewise.
        machine_rel: likewise.
        alpha: intervals cover 1 - alpha.
        seed: of the draw. The order of the draw does not depend on the number: a longer one begins
            as a shorter one does.

    Raises:
        ValueError: as :func:`audited`, or for a width that is not above 0.

    >>> qids = [str(number) for number in range(40)]
    >>> runs = {"run": {q: {"a": 2, "b": 1} for q in qids}}
    >>> machine = {q: {"a": int(q) % 3 == 0, "b": 1} for q in qids}
    >>> plan = plan_audit(runs, None, machine, "AP", 0.3, seed=1)
    >>> plan.sentence()[:61]
    'People must judge 13 of 40 queries for intervals of width 0.3'
    """
    if not width > 0:
        raise ValueError(f"width is {width}: give one above 0")
    worst_case = people is None
    if worst_case:  # the machine's values scatter as people's will; it knows nothing
        people, machine_rel = machine, None
    sample = _Sample.of(runs, people, machine, rel, machine_rel)
    rows = _means_and_differences(len(sample.runs))
    needed: list[int | None] = []
    for one in named_measures(measures):
        for h, f, rest in zip(*sample.values(one, *rows)):
            if worst_case:
                h, f, rest = f, np.zeros_like(f), np.zeros_like(rest)
            needed.append(needed_queries(h, f, rest, width, target=target, alpha=alpha))
    enough = [n for n in needed if n is not None]
    queries = max(enough) if len(enough) == len(needed) else None
    pilot = [] if worst_case else sample.qids[: sample.size]
    count = len(sample.qids) if queries is None else max(queries, len(pilot))
    order = np.random.default_rng(seed).permutation(sorted(sample.qids[len(pilot) :]))
    drawn = [*pilot, *order[: count - len(pilot)].tolist()]
    return AuditPlan(queries, drawn, len(pilot), len(sample.qids), width, target, seed, worst_case)


# What both start from


@dataclass(frozen=True)
class _Sample:
    """Runs matched with the machine's judgements and with people's.

    Attributes:
        runs: matched with the machine's.
        by_people: matched with people's.
        qids: the machine's queries as text, those that people judged first.
        size: how many people judged.
    """

    runs: JudgedRuns
    by_people: JudgedRuns
    qids: list[str]
    size: int
    rel: float | None
    machine_rel: float | None

    @classmethod
    def of(
        cls, runs: Any, people: Any, machine: Any, rel: float | None, machine_rel: float | None
    ) -> _Sample:
        by_machine = JudgedRuns.of(runs, machine)
        by_people = by_machine.judged_by(people)
        known = pd.Index(by_machine.judgements.qid_text.to_pylist())
        wanted = pd.Index(by_people.judgements.qid_text.to_pylist())
        unknown = wanted.difference(known)
        if len(unknown):
            raise ValueError(
                f"people have judged {len(unknown)} queries that the machine has not, such as "
                f"{unknown[0]!r}: leave them out, or have the machine judge them"
            )
        qids = [*wanted, *known.difference(wanted, sort=False)]
        return cls(by_machine, by_people, qids, len(wanted), rel, machine_rel)

    def values(self, one: NamedMeasure, rows: Ints, less: Ints) -> list[Floats]:
        """By people, and by the machine of the same queries and of the others.

        Args:
            one: the measure.
            rows: the run of each row.
            less: the run whose values are subtracted; -1: none.
        """
        asked = one.given(rel=self.rel).measure
        machine = with_options(asked, self.machine_rel)
        known = self.runs.judgements.qid_text.to_pylist()
        by_machine = self.runs.values(machine)[:, pd.Index(known).get_indexer(self.qids)]
        values = np.hstack((self.by_people.values(asked), by_machine))
        # A last row of zeros for what nothing is subtracted from: -1 is its index.
        values = np.vstack((values, np.zeros_like(values[:1])))
        return np.split(values[rows] - values[less], [self.size, 2 * self.size], axis=1)


def _means_and_differences(runs: int, first: int = 0, all_pairs: bool = False) -> tuple[Ints, Ints]:
    """Every run by itself, then the differences: whose values, and whose are subtracted."""
    every = range(runs)
    pairs = combinations(every, 2) if all_pairs else ((row, first) for row in every if row != first)
    rows, less = np.array([*((row, -1) for row in every), *pairs]).T
    return rows, less
