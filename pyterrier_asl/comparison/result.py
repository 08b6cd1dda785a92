"""What :func:`compare` returns: its tables, verdicts and sentences, and how they print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..common.notices import counted
from ..evaluation.facts import Facts
from ..evaluation.preferences import preferences_for
from ..evaluation.relevant_documents import RelevantDocuments
from ..evaluation.run_facts import ids_against
from ..printing import tables
from ..printing.printed import Part, Printed
from ..statistics.pairwise import sign_test
from ..statistics.settings import DRAWS
from ..statistics.tests import PairedTest, correct
from . import chart_and_latex, sentences
from .checks import (
    answered_by_neither,
    doubts_of,
    ties_in_groups,
    unanswered_verdict,
    untestable,
)
from .conditions import Condition
from .differences import Inputs, RunDifference, run_differences
from .guard import Verdict, for_condition, group_verdict, limits_of, verdict_on

#: The number of moved documents that are printed by default.
MOVED = 5

#: Titles of columns in human-readable tables.
TITLES = {
    "a": "A",
    "b": "B",
    "difference": "B - A",
    "ci_low": "from",
    "ci_high": "to",
    "p_corrected": "p",
    "counts": "W/L/T",
    "qid": "query",
    "docno": "relevant document",
    "found": "retrieved by",
    "query": "text",
}


@dataclass(frozen=True, repr=False, eq=False)
class RunComparison(Printed):
    """Runs compared with a baseline; what :func:`compare` returns.

    Attributes:
        inputs: what is compared: names, values, directions, conditions.
        options: the test, its correction and its level.
        allow_missing: whether missing queries pass.
    """

    inputs: Inputs
    options: PairedTest
    allow_missing: bool = False

    # What was compared

    @property
    def baseline(self) -> str:
        """The name of the baseline, A."""
        return self.inputs.names[0]

    @property
    def runs(self) -> list[str]:
        """The names of the runs that are compared with it."""
        return self.inputs.names[1:]

    @cached_property
    def run_differences(self) -> list[RunDifference]:
        """The differences of each run in each measure."""
        return run_differences(self.inputs, self.options)

    # Tables

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each run and measure.

        ``run``, ``measure``; ``a``, ``b``, the means of baseline and run (none of a preference);
        ``difference``, ``ci_low``, ``ci_high``, ``effect``; ``wins``, ``losses``, ``ties``, queries
        in which the run is better, worse, equal (of a count: more, less, equal); ``p``;
        ``p_corrected``, over the runs for each measure; both are 1 where all queries are equal, and
        NaN where no test can be made; ``test``; ``detectable``, the smallest difference that a
        t-test over these queries detects with probability .8; ``family``, the number of p-values
        that were corrected together. With repetitions ``repetitions``, their share of the variance
        (NaN without), and half the width of the interval with any number of them
        (``half_any_repetitions``) or twice the queries (``half_twice_queries``). With ``detect``
        ``queries_needed`` by the upper limit of the standard deviation, and by itself
        (``queries_needed_by_sd``).
        """
        return pd.DataFrame([of_run.row() for of_run in self.run_differences])

    @cached_property
    def groups(self) -> pd.DataFrame:
        """A row for each run, measure and group of queries.

        ``run``, ``measure``, ``group``, ``queries``; the mean ``difference``, and ``shrunken``
        towards the mean of all groups; ``p`` of a difference in the group, adjusted for all groups
        of the run and measure, NaN for fewer than 6 queries; ``depends``, the p-value of the
        question whether the difference depends on the group. Empty without ``groups``.
        """
        differences = self.run_differences if self.inputs.groups else []
        return pd.DataFrame([row for of_run in differences for row in of_run.by_group])

    @cached_property
    def by_query(self) -> pd.DataFrame:
        """A row for each run, measure and query, the largest loss first.

        ``run``, ``qid``, ``measure``, ``a``, ``b``, ``difference``.
        """
        return pd.concat([each.by_query() for each in self.run_differences], ignore_index=True)

    def differences(self) -> pd.DataFrame:
        """B less A by query (rows) and measure (columns), the largest loss by the first measure
        first; with several runs, run by run."""
        keys, names = ["run", "qid"], list(self.inputs.higher_is_better)
        wide = self.by_query.pivot(index=keys, columns="measure", values="difference")
        order = self.by_query.loc[self.by_query["measure"] == names[0], keys]
        frame = wide.loc[pd.MultiIndex.from_frame(order), names].rename_axis(columns=None)
        return self.of_one(frame.reset_index())

    @cached_property
    def preferences(self) -> pd.DataFrame:
        """The queries in which every measure of ranks prefers each run (``wins``), the baseline
        (``losses``) or neither (``equal``), in which it ``depends`` on the measure, and
        ``p_dominance``, of a two-sided sign test of wins against losses."""
        columns = ["run", "wins", "losses", "equal", "depends", "p_dominance"]
        if not self.inputs.judged or self.inputs.is_repeated:
            return pd.DataFrame(columns=columns)
        values = preferences_for(self.inputs.judged, self.inputs.rel)["dominance"][1:]
        wins, losses, equal = ((values == sign).sum(axis=1) for sign in (1, -1, 0))
        counts = wins, losses, equal, np.isnan(values).sum(axis=1), sign_test(wins, losses)
        return pd.DataFrame(dict(zip(columns, (self.runs, *counts))))

    @cached_property
    def moved(self) -> pd.DataFrame:
        """The relevant documents that a run or the baseline retrieved, farthest moved first.

        ``run``, ``qid``, ``docno``, ``a``, ``b`` (search lengths), ``change``, ``found`` (``both``,
        ``A``, ``B``).
        """
        return pd.concat([frame for frame, _ in self._documents()], ignore_index=True)

    @cached_property
    def retrieved(self) -> pd.DataFrame:
        """For each run how many relevant documents were retrieved.

        By ``both``, by ``A`` only, by ``B`` only and by ``neither``; of those that both retrieved,
        how many are ``nearer`` to the top in the run and how many ``farther`` from it.
        """
        return pd.DataFrame([counts for _, counts in self._documents()])

    def _documents(self) -> Iterable[tuple[pd.DataFrame, dict[str, Any]]]:
        """The moved documents of each run, and their numbers, by the parameters of ASL."""
        if (judged := self.inputs.judged) is None:
            raise ValueError("documents need runs and qrels, not scores")
        if self.inputs.is_repeated:
            raise ValueError("documents are of systems with one run each")
        asl = next((m for m in self.inputs.measures.values() if m.NAME in ("ASL", "nASL")), None)
        view = {"rel": asl["rel"], "cutoff": asl["cutoff"]} if asl else {"rel": self.inputs.rel}
        a, *others = (RelevantDocuments.of(run, **view) for run in judged.runs)
        docnos = judged.judgements.docnos.take(a.pairs).to_pandas()
        qids = pd.Series(judged.qids).iloc[a.queries].to_numpy()
        for run, b in zip(self.runs, others):
            both, change = a.found & b.found, b.lengths - a.lengths
            found = np.select([both, a.found, b.found], ["both", "A", "B"], "").astype(object)
            frame = pd.DataFrame({"run": run, "qid": qids, "docno": docnos, "a": a.lengths})
            frame = frame.assign(b=b.lengths, change=change, found=found)
            frame = frame.iloc[np.argsort(-np.abs(change), kind="stable")]
            counts = {
                "both": both,
                "A": a.found & ~b.found,
                "B": b.found & ~a.found,
                "neither": ~a.found & ~b.found,
                "nearer": both & (change < 0),
                "farther": both & (change > 0),
            }
            numbers = {name: int(chosen.sum()) for name, chosen in counts.items()}
            yield frame[(frame["change"] != 0) & (frame["found"] != "")], {"run": run, **numbers}

    # Facts

    @cached_property
    def facts(self) -> Facts | None:
        """What must be known of the runs and qrels; None of scores."""
        if (judged := self.inputs.judged) is None:
            return None
        baseline, *others = judged.runs
        ids = {name: ids_against(run, baseline) for name, run in zip(judged.names[1:], others)}
        return judged.facts(self.inputs.measures).with_facts(ids)

    @property
    def notes(self) -> list[str]:
        """Sentences on what must be known of the runs and the qrels."""
        return [*self.inputs.notes, *(self.facts.notes if self.facts else [])]

    @cached_property
    def doubts(self) -> dict[tuple[str, str], str]:
        """By run and measure, why no verdict can be trusted; '' where it can."""
        return {
            (own.run, own.name): next(
                doubts_of(self.inputs, self.facts, own, self.allow_missing), ""
            )
            for own in self.run_differences
        }

    # Verdicts

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The verdict on each condition for each run, then on unanswered queries.

        A condition has the p-value of the table, corrected over the runs.
        """
        by_condition = [self._verdicts_on(*pair) for pair in self.inputs.conditions]
        verdicts = [verdict for of_run in zip(*by_condition) for verdict in of_run]
        if verdicts and not self.allow_missing:
            for run in self.runs:
                verdicts += unanswered_verdict(self.inputs, self.facts, run)
        return verdicts

    def _verdicts_on(self, condition: Condition, name: str) -> Iterator[Verdict]:
        """The verdict on a condition for each run."""
        own = [of_run for of_run in self.run_differences if of_run.name == name]
        least = correct([of_run.least_p for of_run in own], self.options.correction).p.tolist()
        for of_run, least_p in zip(for_condition(condition, own), least):
            about: Any = self.inputs, self.facts, condition, of_run, least_p, self.allow_missing
            reason = next(untestable(*about), "")
            if condition.in_group:
                reason = reason or next(ties_in_groups(self.inputs, condition, of_run), "")
                yield group_verdict(condition, of_run, reason)
                continue
            is_certain = condition.certainly and not reason
            verdict = verdict_on(
                condition,
                of_run,
                limits=limits_of(self.inputs, of_run.run, name) if is_certain else None,
                untestable=reason,
                neither=answered_by_neither(self.inputs, of_run.run),
            )
            parts = filter(None, (verdict.message, self.inputs.missing_note))
            yield replace(verdict, message=", ".join(parts))

    # Sentences and forms

    def sentences(self) -> list[str]:
        """For each run by which measures it is significantly better or worse than the baseline."""
        return [*sentences.findings(self.run_differences, self.doubts, self.baseline)]

    def remarks(self) -> list[str]:
        """Sentences on how the numbers were computed."""
        return sentences.remarks(self.run_differences, self.preferences, self.baseline)

    def parts(self, means: Part | None = None) -> list[Part]:
        """The parts that ``pyterrier-asl compare`` prints.

        Args:
            means: the table of measures; None: :meth:`means`.
        """
        head = f"A: {self._with_number(self.baseline)} (baseline)"
        if len(self.runs) == 1:
            head += f", B: {self._with_number(self.runs[0])}"
        before, after = [*self.sentences(), "", head, ""], ["", *self.remarks(), *self.notes]
        return [*map(Part, before), means or self.means(), *map(Part, after)]

    def _with_number(self, system: str) -> str:
        """The name of a system, with the number of its runs where there are repetitions."""
        number = counted(len(self.inputs.rows(system)), "run")
        return f"{system}, {number}" if self.inputs.is_repeated else system

    def means(self, *, ascii_only: bool = False) -> Part:
        """The table of measures with one p-value.

        Args:
            ascii_only: whether directions are printed without arrows.
        """
        kind = self.options.correction
        p = "p" if kind == "none" or len(self.runs) == 1 else "p_corrected"
        counts = self.table[["wins", "losses", "ties"]].astype(str).agg("/".join, axis=1)
        names = ["run", "measure", "a", "b", "difference", "ci_low", "ci_high", p]
        frame = self.of_one(self.table[names].assign(counts=counts))
        frame["measure"] = [
            f"{name} {tables.arrow(self.inputs.higher_is_better[name], ascii_only)}".rstrip()
            for name in frame["measure"]
        ]
        style: dict[str, Any] = {"titles": {**TITLES, "p_corrected": f"p ({kind})"}}
        if self.options.test == "randomization":
            style["zero_p"] = (1 if p == "p" else len(self.runs)) / DRAWS
        return Part(table=frame, style=style | {"group_by": "run"})

    def documents(self, moved: int | None = MOVED) -> list[Part]:
        """The numbers of relevant documents that each run retrieved, and those that moved farthest.

        Args:
            moved: how many documents; None: all.
        """
        of = " ({run})" if len(self.runs) > 1 else ""
        retrieved = [
            Part(
                f"Relevant documents{of.format_map(row)}: "
                f"{row['both'] + row['A'] + row['B'] + row['neither']:,}. Retrieved by both runs: "
                f"{row['both']:,} (in B with fewer irrelevant documents above: {row['nearer']:,}; "
                f"with more: {row['farther']:,}). Retrieved by A only: {row['A']:,}; by B only: "
                f"{row['B']:,}; by neither: {row['neither']:,}."
            )
            for row in self.retrieved.to_dict("records")
        ]
        what = "Those that moved farthest, by search length (irrelevant documents above, + 1):"
        frame = self.of_one(self.moved).head(len(self.moved) if moved is None else moved)
        return [Part(), *retrieved, Part(what), Part(), Part(table=frame, style={"titles": TITLES})]

    def of_one(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame, for a single run without the column that names it."""
        return frame.drop(columns="run") if len(self.runs) == 1 else frame.copy()

    def chart(self, kind: str | None = None) -> Any:
        """The difference of each run from the baseline by each measure.

        Args:
            kind: ``'means'``, with intervals, ``'queries'``: of each query, the largest loss
                first, or ``'groups'``: of each group of queries; None: ``'means'``.
        """
        if kind == "groups":
            return chart_and_latex.groups_chart(self.groups, self.baseline)
        return chart_and_latex.chart(self.run_differences, self.baseline, kind)

    def to_latex(self, *, places: int = 4) -> str:
        r"""A ``table`` with a caption and booktabs' rules: one row per run, the baseline first.

        A superscript + or - marks a difference from the baseline that is significant at ``alpha``
        after the correction, + where the run is better. Bold is the best of each measure. The
        caption says so, with the test and the number of queries.

        Args:
            places: decimal places.
        """
        return chart_and_latex.latex(self.run_differences, self.baseline, places)
