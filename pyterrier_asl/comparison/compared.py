"""The tables, causes and verdicts of runs compared with a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from ..assessment.system_pairs import PairedTest
from ..evaluation.relevant_documents import RelevantDocuments
from ..io.names import OVERALL
from ..scoring.arrays import Floats
from ..statistics.tests import correct
from .causes import UNJUDGED, Cause, causes_frame, difference_without, find_causes, sentence
from .checks import Question, answered_by_neither, unanswered_verdict, untestable
from .conditions import Condition
from .differences import RunDifference, least_p, run_differences, tested
from .guard import Observed, Verdict, uncorrected_p, verdict_on
from .inputs import Inputs


@dataclass(frozen=True, repr=False, eq=False)
class Compared:
    """Runs compared with a baseline: tables, causes of differences, verdicts on conditions.

    Attributes:
        inputs: what is compared: names, values, directions, conditions.
        options: the test, its correction and its level.
        allow_missing: whether missing queries and documents pass.
        with_causes: whether causes of the differences are looked for.
    """

    inputs: Inputs
    options: PairedTest
    allow_missing: bool = False
    with_causes: bool = True
    _effects: dict[tuple[str, ...], float | None] = field(default_factory=dict)

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
        """The queries that prefer each run (``wins``), the baseline (``losses``) and neither."""
        if not self.inputs.judged:
            return pd.DataFrame(columns=["run", "wins", "losses", "ties"])
        rows = [values.row(PairedTest()) for values in run_differences(self.inputs, ["sgnLP"])]
        return pd.DataFrame(rows)[["run", "wins", "losses", "ties"]]

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

    # Causes

    @cached_property
    def causes(self) -> pd.DataFrame:
        """The causes of differences other than the systems, of each run and measure.

        ``run``, ``measure``, ``cause``, ``where``, ``evidence``, ``difference``, ``effect`` (the
        difference without the cause), ``undone``, ``comparable``, ``remedy``; see
        :mod:`~pyterrier_asl.comparison.causes`.
        """
        rows = [row for run in self.runs for rows in self._rows_of(run) for row in rows]
        return causes_frame(rows)

    def why(self, run: str, measure: str | None = None) -> list[str]:
        """The causes of the differences of a run in sentences.

        Args:
            run: the run.
            measure: the measure, without unjudged documents, which ``certainly`` is about; None:
                each cause once, by the first measure that it explains; unjudged documents by the
                one with the lowest cut-off.
        """
        rows = (next(rows, None) for rows in self._rows_of(run, measure))
        return [sentence(row) for row in rows if row]

    @cached_property
    def _possible_causes(self) -> dict[str, list[tuple[str, Cause]]]:
        """The causes that the differences of each run can have, with their collection."""
        found: dict[str, list[tuple[str, Cause]]] = {run: [] for run in self.runs}
        for track, judged in self.inputs.judged.items() if self.with_causes else ():
            for at, run in enumerate(self.runs, 1):
                differences = {
                    values.name: values.of_track(track).difference for values in self._own(run)
                }
                bounds = self.inputs.quick_bounds(run, track)
                pair = judged.runs[0], judged.runs[at]
                undo = self.inputs.difference_of
                causes = find_causes(*pair, differences, undo, bounds, self.inputs.measures)
                found[run] += [(track, cause) for cause in causes]
        return found

    def _rows_of(self, run: str, measure: str | None = None) -> Iterator[Iterator[dict[str, Any]]]:
        """For each cause a row for each measure that it explains."""

        def cutoff(values: RunDifference) -> float:
            own_measure = self.inputs.measures.get(values.name)
            return (own_measure and own_measure.params.get("cutoff")) or np.inf

        own = [values for values in self._own(run) if measure in (None, values.name)]
        for track, cause in self._possible_causes[run]:
            if cause.name != UNJUDGED:
                yield filter(None, map(partial(self._row, track, cause), own))
            elif measure is None:  # unjudged documents at the top change most
                yield filter(None, map(partial(self._row, track, cause), sorted(own, key=cutoff)))

    def _own(self, run: str) -> list[RunDifference]:
        """The differences of a run in measures."""
        return [values for values in self.run_differences if values.run == run]

    def _row(self, track: str, cause: Cause, values: RunDifference) -> dict[str, Any] | None:
        """A cause of a difference in a collection as a row; None where it explains nothing."""
        key = (track, cause.name, values.run, values.name)
        if key not in self._effects:
            values = values.of_track(track)
            is_significant = partial(self._is_significant, track, values)
            self._effects[key] = difference_without(
                cause, values.name, values.difference, is_significant
            )
        if self._effects[key] is None:
            return None
        names = {"run": values.run, "measure": values.name, "cause": cause.name}
        evidence = cause.evidence(values.name) if callable(cause.evidence) else cause.evidence
        evidence = f"{track}: {evidence}" if track else evidence
        difference = float(values.of_track(track).difference.mean())
        figures = {"difference": difference, "effect": self._effects[key], "evidence": evidence}
        return vars(cause) | names | figures | {"track": track}

    def _is_significant(
        self, track: str, values: RunDifference, differences: Floats | None
    ) -> bool:
        """Whether a difference is significant, with other differences of its run by query."""
        table = self.table if self.by_track is None else self.by_track
        rows = table[table["measure"] == values.name]
        rows = rows[rows["track"] == track] if self.several else rows
        p = rows["p"].to_numpy(copy=True)
        at = rows["run"].tolist().index(values.run)
        if differences is not None:
            p[at] = values.with_differences(differences).p(self.options)
        return bool(correct(p, self.options.correction).p[at] <= self.options.alpha)

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
                verdicts += unanswered_verdict(self.inputs, run)
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
            ids = self._ids(values.run)
            inputs, allow = self.inputs, self.allow_missing
            question = Question(inputs, condition, values, found, own_least, ids, allow)
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
                why=self.why(values.run, name),
                has_power=not self.several,
            )
            verdicts.append(verdict)
        return verdicts

    def _ids(self, run: str) -> str:
        """Why the ids of a run and the baseline cannot be compared; '' where they can."""
        for track, cause in self._possible_causes[run]:
            rows = (self._row(track, cause, values) for values in self._own(run))
            if not cause.comparable and (row := next(filter(None, rows), None)):
                return f"{row['evidence']}; {row['remedy']}"
        return ""
