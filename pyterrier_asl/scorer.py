"""One run, all measures: what a worker does with a run, or with a part of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from . import acceleration
from .io import iter_run_batches, read_run_table
from .judging import JudgedRun, Judgements, SplitQuery, whole
from .measures import PluginMeasure
from .partitions import PartitionedRun, query_blocks
from .pools import RarenessPool, ranked

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """Some queries of a run, measured as far as their rows are needed.

    Attributes:
        judged: the run there.
        by_rows: the values of the measures that need the rows, for each query it answers.
        top: its top documents, where a pool is to be made of them.
    """

    judged: JudgedRun
    by_rows: dict[str, Floats]
    top: pa.Table | None


@dataclass(frozen=True)
class Scored:
    """What is left of a run when it has been measured.

    Attributes:
        name: the run.
        values: a row a query, a column a measure; NaN where the pool of all runs is needed.
        top: its top documents, for that pool.
        judged: its entries, for the measures that need it; None where none does.
    """

    name: str
    values: Floats
    top: pa.Table | None = None
    judged: JudgedRun | None = None


class Scorer:
    """Qrels and measures, ready for any run; what a worker gets, once.

    Args:
        judgements: the qrels.
        measures: measures by the names of their columns.
    """

    def __init__(self, judgements: Judgements, measures: dict[str, Any]) -> None:
        self.judgements, self.measures = judgements, measures
        self._pooled = [name for name, measure in measures.items() if _wants_pool(measure)]
        self._others = [
            measure for measure in measures.values() if not acceleration.supports(measure)
        ]
        self._by_rows = {
            name: measure for name, measure in measures.items()
            if name not in self._pooled and _needs_rows(measure)
        }  # fmt: skip
        self._evaluator: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_evaluator": None}

    def __call__(self, name: str, source: Any) -> Scored:
        """Measures a run, but for what needs the pool of all.

        Args:
            name: what it is called.
            source: a file, several, or whatever ``Judgements.judge`` takes.

        Raises:
            ValueError: where it cannot be measured, with its name.
        """
        return self.score(name, source, self.parts(name, source))

    def parts(self, name: str, source: Any) -> list[Part]:
        """A run, or some files of one, block by block."""
        parts: list[Part] = []
        with _named(name):
            if not isinstance(source, (str, os.PathLike, PartitionedRun)):
                return [self._part(name, source)]
            for block in query_blocks(iter_run_batches(source)):
                if parts:  # of several blocks none need be kept
                    parts[-1] = _light(parts[-1])
                parts.append(self._part(name, block))
        return parts if len(parts) == 1 else [_light(part) for part in parts]

    def score(self, name: str, source: Any, parts: Sequence[Part]) -> Scored:
        """What a run's parts come to; where a query is in two of them, the run is read as one."""
        with _named(name):
            parts = parts or [self._part(name, read_run_table(source))]  # which has no rows
            try:
                judged = whole([part.judged for part in parts])
            except SplitQuery:
                parts = [self._part(name, read_run_table(source))]
                judged = whole([parts[0].judged])
            values = np.full((len(self.judgements), len(self.measures)), np.nan)
            for column, (label, measure) in enumerate(self.measures.items()):
                if label in self._by_rows:
                    values[:, column] = self._gathered(label, parts)
                elif label not in self._pooled:
                    values[:, column] = acceleration.values(measure, judged)
        if not self._pooled:
            return Scored(name, values)
        return Scored(name, values, _together(parts), judged.without_rows())

    def _part(self, name: str, run: Any) -> Part:
        judged = self.judgements.judge_part(run)
        answered, others = judged.retrieved > 0, self._by_others(judged)
        by_rows = {
            label: (
                others[measure] if measure in others else acceleration.values(measure, judged)
            )[answered]
            for label, measure in self._by_rows.items()
        }
        return Part(judged, by_rows, self._top(name, judged) if self._pooled else None)

    def _top(self, name: str, judged: JudgedRun) -> pa.Table:
        """A run's part in the pool of all."""
        ranking, depth = judged.whole_ranking, self._depth
        if depth is not None:
            ranking = ranking.cut(depth)
        return ranked(name, judged.table, self.judgements.qid_text, ranking)

    def _gathered(self, label: str, parts: Sequence[Part]) -> Floats:
        """The values of a measure from those of the parts, each for the queries it answers."""
        measure = self._by_rows[label]
        if acceleration.supports(measure):
            none = np.zeros((4, 0), dtype=np.int64)
            nothing = np.zeros(len(self.judgements), dtype=np.int64)
            unanswered = JudgedRun.from_entries(self.judgements, nothing, *none[1:])
            values = acceleration.values(measure, unanswered).copy()
        else:
            values = np.full(len(self.judgements), float(measure.DEFAULT))
        for part in parts:
            values[part.judged.retrieved > 0] = part.by_rows[label]
        return values

    @property
    def _depth(self) -> int | None:
        """How deep the pool of the runs has to be."""
        asked = [self.measures[name] for name in self._pooled]
        depths = [measure["depth"] or measure["cutoff"] for measure in asked]
        return None if None in depths else max(depths)

    def finish(self, done: Iterable[Scored]) -> list[Floats]:
        """Adds what needs the pool of all runs, made of what each has left."""
        scored = list(done)
        if not self._pooled:
            return [each.values for each in scored]
        values = [each.values.copy() for each in scored]  # what Ray gives cannot be written to
        tables = [each.top for each in sorted(scored, key=lambda each: each.name)]
        pool = RarenessPool(pa.concat_tables(tables), name="runs", depth=self._depth, groups={})
        for column, (label, measure) in enumerate(self.measures.items()):
            if label in self._pooled:
                member = True if measure["member"] is None else measure["member"]
                given = measure(pool=pool, member=member)
                for row, each in enumerate(scored):
                    assert each.judged is not None
                    values[row][:, column] = acceleration.values(given, each.judged)
        return values

    def _by_others(self, judged: JudgedRun) -> dict[Any, Floats]:
        """The values of the measures that ir_measures' other providers compute."""
        if not self._others:
            return {}
        known, table = self.judgements, judged.table
        if self._evaluator is None:
            qrels = pd.DataFrame(
                {
                    "query_id": known.qid_text.take(known.queries).to_pandas().astype(object),
                    "doc_id": known.docnos.to_pandas().astype(object),
                    "relevance": known.grades.astype(np.int64),
                }
            )
            self._evaluator = ir_measures.evaluator(self._others, qrels)
        run = pd.DataFrame(
            {
                "query_id": table.qid.to_pandas().astype(object),
                "doc_id": table.docno.to_pandas().astype(object),
                "score": table.value,
            }
        )
        number = {qid: row for row, qid in enumerate(known.qid_text.to_pylist())}
        values = {measure: np.full(len(known), float(measure.DEFAULT)) for measure in self._others}
        for metric in self._evaluator.iter_calc(run):
            if metric.query_id in number:
                values[metric.measure][number[metric.query_id]] = metric.value
        return values


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors with the run's name."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"run {name!r}: {error}") from error


def _light(part: Part) -> Part:
    return replace(part, judged=part.judged.without_rows())


def _together(parts: Sequence[Part]) -> pa.Table:
    """The top documents of all parts, by query."""
    tables = [part.top for part in parts]
    if len(tables) == 1:
        return tables[0]
    top = pa.concat_tables(tables)
    return top.take(pc.sort_indices(top, sort_keys=[("qid", "ascending")]))


def _needs_rows(measure: Any) -> bool:
    """Whether a measure is not of where the judged documents are alone."""
    if not acceleration.supports(measure):
        return True
    return isinstance(measure, PluginMeasure) and measure.needs_rows()


def _wants_pool(measure: Any) -> bool:
    return "pool" in measure.SUPPORTED_PARAMS and measure.params.get("pool") is None
