"""The tables and verdicts of runs compared with a baseline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..assessment.system_pairs import PairedTest
from ..evaluation.facts import Facts, ids_against, joined_notes
from ..evaluation.relevant_documents import RelevantDocuments
from ..io.names import OVERALL
from ..statistics.pairwise import sign_test
from ..statistics.tests import correct
from .checks import Question, answered_by_neither, unanswered_verdict, untestable
from .conditions import Condition
from .differences import RunDifference, least_p, run_differences, tested
from .guard import Observed, Verdict, uncorrected_p, verdict_on
from .inputs import Inputs


@dataclass(frozen=True, repr=False, eq=False)
class Compared:
    """Runs compared with a baseline: tables and verdicts on conditions.

    Attributes:
        inputs: what is compared: names, values, directions, conditions.
        options: the test, its correction and its level.
        allow_missing: whether missing queries and documents pass.
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

    @property
    def queries(self) -> int:
        """The number of queries."""
        return sum(map(len, self.inputs.qids.values()))

    @property
    def higher_is_better(self) -> dict[str, bool | None]:
        """The direction of each measure of the table; None of a count."""
        return self.inputs.higher_is_better

    @property
    def several(self) -> bool:
        """Whether there are several collections."""
        return len(self.inputs.qids) > 1

    @cached_property
    def run_differences(self) -> list[RunDifference]:
        """The differences of each run in each measure."""
        return list(run_differences(self.inputs, self.higher_is_better))

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
        that were corrected together. Of several collections the means over them, without
        intervals and effects.
        """
        return tested(self.run_differences, self.options)

    @cached_property
    def by_track(self) -> pd.DataFrame | None:
        """Of several collections the table of all, ``overall``, and of each, with ``track``."""
        if not self.several:
            return None
        parts = [
            tested([values.of_track(track) for values in self.run_differences], self.options)
            for track in self.inputs.qids
        ]
        keys = [OVERALL, *self.inputs.qids]
        frame = pd.concat([self.table, *parts], keys=keys, names=["track"])
        return frame.reset_index(level="track").reset_index(drop=True)

    @cached_property
    def by_query(self) -> pd.DataFrame:
        """A row for each run, measure and query, the largest loss first.

        ``run``, (``track``,) ``qid``, ``measure``, ``a``, ``b``, ``difference``.
        """
        frames = [values.by_query() for values in self.run_differences]
        return pd.concat(frames, ignore_index=True)

    def differences(self) -> pd.DataFrame:
        """B less A by query (rows) and measure (columns), the largest loss by the first measure
        first; with several runs, run by run."""
        keys = [key for key in ("run", "track", "qid") if key in self.by_query]
        names = list(self.higher_is_better)
        wide = self.by_query.pivot(index=keys, columns="measure", values="difference")
        order = self.by_query.loc[self.by_query["measure"] == names[0], keys]
        frame = wide.loc[pd.MultiIndex.from_frame(order), names].reset_index()
        frame.columns.name = None
        return frame.drop(columns="run") if len(self.runs) == 1 else frame

    @cached_property
    def preferences(self) -> pd.DataFrame:
        """The queries in which every measure of ranks prefers each run (``wins``), the baseline
        (``losses``) or neither (``equal``), in which it ``depends`` on the measure, and
        ``p_dominance``, of a two-sided sign test of wins against losses."""
        columns = ["run", "wins", "losses", "equal", "depends", "p_dominance"]
        if not self.inputs.judged:
            return pd.DataFrame(columns=columns)
        values = self.inputs.dominance()[1:]
        wins, losses, equal = ((values == sign).sum(axis=1) for sign in (1, -1, 0))
        depends = np.isnan(values).sum(axis=1)
        counts = (self.runs, wins, losses, equal, depends, sign_test(wins, losses))
        return pd.DataFrame(dict(zip(columns, counts)))

    @cached_property
    def moved(self) -> pd.DataFrame:
        """The relevant documents that a run or the baseline retrieved, farthest moved first.

        ``run``, ``qid``, ``docno``, ``a``, ``b`` (search lengths), ``change``, ``found`` (``both``,
        ``A``, ``B``); of a single collection.
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
        if list(self.inputs.judged) != [""]:
            raise ValueError("documents need the runs and qrels of one collection")
        judged, measures = self.inputs.judged[""], self.inputs.measures.values()
        asl = next((m for m in measures if m.NAME in ("ASL", "nASL")), None)
        view = {"rel": asl["rel"], "cutoff": asl["cutoff"]} if asl else {"rel": self.inputs.rel}
        a, *others = (RelevantDocuments.of(run, **view) for run in judged.runs)
        docnos = judged.judgements.docnos.take(a.pairs).to_pandas()
        qids = pd.Series(judged.qids).iloc[a.queries].to_numpy()
        for run, b in zip(self.runs, others):
            both, change = a.found & b.found, b.lengths - a.lengths
            found = np.select([both, a.found, b.found], ["both", "A", "B"], "").astype(object)
            columns = {"run": run, "qid": qids, "docno": docnos, "a": a.lengths, "b": b.lengths}
            frame = pd.DataFrame(columns | {"change": change, "found": found})
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
    def facts(self) -> dict[str, Facts]:
        """What must be known of the runs and qrels of each collection; none of scores."""
        several = {}
        for track, judged in self.inputs.judged.items():
            baseline, *others = judged.runs
            more = {name: ids_against(run, baseline) for name, run in zip(self.runs, others)}
            several[track] = judged.facts(self.inputs.measures).with_facts(more)
        return several

    @property
    def notes(self) -> list[str]:
        """Sentences on what must be known of the runs and the qrels."""
        return joined_notes({track: facts.notes for track, facts in self.facts.items()})

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

    def _verdicts_on(self, condition: Condition, name: str) -> list[Verdict]:
        """The verdict on a condition for each run."""
        differences = [values for values in self.run_differences if values.name == name]
        rows = self.table[self.table["measure"] == name].to_dict("records")
        observed = []
        for values, row in zip(differences, rows):
            is_equal = values.is_equal
            found = Observed(
                row["a"],
                0.0 if is_equal else row["difference"],
                values.higher_is_better,
                row["p"],
                values.difference * (not is_equal),
                self.inputs.extremes(name),
                answered_by_neither(self.inputs, values.run),
            )
            observed.append(found)
        p = [uncorrected_p(condition, found) for found in observed]
        corrected = correct(p, self.options.correction)
        test = differences[0].test(self.options)
        least = [0.0 if values.is_equal else least_p(test, self.queries) for values in differences]
        least = correct(least, self.options.correction).p.tolist()
        verdicts = []
        for values, found, own_p, own_least in zip(differences, observed, corrected.p, least):
            found = replace(found, p=float(own_p))
            inputs, allow = self.inputs, self.allow_missing
            question = Question(inputs, self.facts, condition, values, found, own_least, allow)
            reason = untestable(question)
            is_certain = condition.certainly and not reason
            verdict = verdict_on(
                condition,
                values.run,
                found,
                family=corrected.family,
                correction=self.options.correction,
                limits=self.inputs.limits(values.run, name) if is_certain else None,
                untestable=reason,
            )
            verdicts.append(verdict)
        return verdicts
