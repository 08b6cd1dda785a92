"""Runs one by one: matched with judgements, or measured, whole or block by block, as workers do."""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from ..io.partitions import BLOCK_ROWS, PartitionedRun, query_blocks
from ..io.prefetch import LARGE
from ..io.progress import progress_bar
from ..io.runs import iter_run_batches, iter_runs, read_run_table
from ..io.threads import cores, map_ahead
from ..judging.judged_run import CONSTANT_SCORES, JudgedRun, OwnIds, SplitQuery, complete_run
from ..judging.judgements import Judgements
from ..measures.names import needs_pool
from ..measures.rareness import Pools, check_pooled, warn_of_few
from ..measures.standard import computed
from ..scoring.arrays import Floats
from .notes import own_ids_note, tie_note
from .providers import values_of

#: From how many runs on a progress bar is shown while they are read.
_MANY = 20


@dataclass(frozen=True)
class MeasuredBlock:
    """Some queries of a run, measured as far as their rows are needed.

    Attributes:
        judged: the run there.
        by_rows: the values of the measures that need the rows, for each query it answers.
        is_constant: whether its scores say nothing.
        tied: the queries whose values depend on how ties are broken, with ties broken otherwise.
        own_ids: queries that retrieve a document with their own id.
    """

    judged: JudgedRun
    by_rows: dict[str, Floats]
    is_constant: bool
    tied: JudgedRun | None
    own_ids: OwnIds


@dataclass(frozen=True)
class MeasuredRun:
    """The values of a run.

    Attributes:
        name: the run.
        values: by label, shape (Q,); without the measures that need the pool of all runs.
        unanswered: how many queries of the qrels it does not answer.
        judged: its entries, for the measures that need that pool; None where none does.
        error: why it could not be measured; None where it was.
        notes: what is odd about its rankings, a sentence each.
    """

    name: str
    values: dict[str, Floats] = field(default_factory=dict)
    unanswered: int = 0
    judged: JudgedRun | None = None
    error: Exception | None = None
    notes: list[str] = field(default_factory=list)


class Measuring:
    """Qrels and measures, ready for any run; what a worker gets, once.

    Args:
        judgements: the qrels.
        measures: measures by the names of their columns.
    """

    def __init__(self, judgements: Judgements, measures: Mapping[str, Any]) -> None:
        self.judgements = judgements
        judgements.index.prepare()  # before several threads do
        self._pooled = {label: m for label, m in measures.items() if needs_pool(m)}
        for measure in self._pooled.values():
            check_pooled(measure)
        others = {label: m for label, m in measures.items() if label not in self._pooled}
        self._by_rows = {label: m for label, m in others.items() if _needs_rows(m)}
        self._by_entries = {label: m for label, m in others.items() if label not in self._by_rows}

    def blocks(self, source: Any) -> list[MeasuredBlock]:
        """A run, or some files of one, block by block.

        Args:
            source: a file, several, or whatever ``Judgements.judge`` takes.

        Raises:
            ValueError: where it cannot be measured.
            OSError: for a file that cannot be read.
        """
        if not isinstance(source, (str, os.PathLike, PartitionedRun)):
            return [self._block(source)]
        # What a block keeps for each query of the qrels is to be little beside its rows.
        rows = max(BLOCK_ROWS, 8 * len(self.judgements))
        tables = query_blocks(iter_run_batches(source), rows)
        measured = map_ahead(lambda rows: self._block(rows, light=True), tables, ahead=cores())
        return [block for _, block in measured]

    def run(self, name: str, source: Any, blocks: Sequence[MeasuredBlock] = ()) -> MeasuredRun:
        """The values of a run, or why it cannot be measured.

        Args:
            name: what it is called.
            source: see :meth:`blocks`.
            blocks: the run block by block, where it has been read. Where two of them share a
                query, it is read as one.
        """
        try:
            return self._run(name, source, blocks or self.blocks(source))
        except (ValueError, OSError) as error:
            return MeasuredRun(name, error=error)

    def _run(self, name: str, source: Any, blocks: Sequence[MeasuredBlock]) -> MeasuredRun:
        blocks = blocks or [self._block(read_run_table(source))]  # which has no rows
        try:
            judged = complete_run([block.judged for block in blocks])
        except SplitQuery:
            blocks = [self._block(read_run_table(source))]
            judged = complete_run([blocks[0].judged])
        by_entries = values_of(list(self._by_entries.values()), judged)
        values = dict(zip(self._by_entries, by_entries))
        notes = self._notes(blocks, values, int(np.count_nonzero(judged.retrieved)))
        values |= {label: self._join_blocks(label, blocks) for label in self._by_rows}
        unanswered = int(np.count_nonzero(judged.retrieved == 0))
        kept = judged.without_rows() if self._pooled else None
        return MeasuredRun(name, values, unanswered, kept, notes=notes)

    def _notes(
        self, blocks: Sequence[MeasuredBlock], values: Mapping[str, Floats], answered: int
    ) -> list[str]:
        """Notes on a run, by its blocks and the values of the measures without rows."""
        if all(block.is_constant for block in blocks):
            ties = CONSTANT_SCORES
        else:
            ties = tie_note(self._by_entries, [*values.values()], [block.tied for block in blocks])
        own_ids = own_ids_note([block.own_ids for block in blocks], answered)
        return [note for note in (ties, own_ids) if note]

    def _block(self, run: Any, light: bool = False) -> MeasuredBlock:
        judged = self.judgements.judge_part(run)
        answered = judged.retrieved > 0
        values = values_of(list(self._by_rows.values()), judged)
        by_rows = {label: column[answered] for label, column in zip(self._by_rows, values)}
        is_constant, tied = judged.has_constant_scores, judged.with_ties_reversed
        kept = judged.without_rows() if light else judged
        return MeasuredBlock(kept, by_rows, is_constant, tied, judged.own_ids)

    def _join_blocks(self, label: str, blocks: Sequence[MeasuredBlock]) -> Floats:
        """The values of a measure from those of the blocks, each for the queries it answers."""
        nothing = self.judgements.judge({})
        values = values_of([self._by_rows[label]], nothing)[0].copy()
        for block in blocks:
            values[block.judged.retrieved > 0] = block.by_rows[label]
        return values

    def join(self, runs: Sequence[MeasuredRun]) -> dict[str, Floats]:
        """The values of all runs by label, shape (S, Q), with those of measures over their pool."""
        size = len(runs), len(self.judgements)
        labels = [*self._by_entries, *self._by_rows]
        values = {
            label: np.array([r.values[label] for r in runs]).reshape(size) for label in labels
        }
        judged = [run.judged for run in runs if run.judged is not None]
        warn_of_few(self._pooled, len(judged))
        return values | {label: Pools(m, judged).values() for label, m in self._pooled.items()}


def measure_runs(
    measuring: Measuring, sources: Mapping[str, Any], jobs: int, backend: str
) -> Generator[MeasuredRun]:
    """Measures runs here, or on workers; see :func:`.workers.measure_elsewhere`."""
    if jobs == 1 and backend == "loky":
        return measure_here(measuring, sources.items())
    from .workers import measure_elsewhere

    return measure_elsewhere(measuring, sources, jobs=jobs, backend=backend)


def measure_here(
    measuring: Measuring, sources: Iterable[tuple[str, Any]]
) -> Generator[MeasuredRun]:
    """Small files several at a time, each on one thread; large ones one by one, on all of them."""
    for are_small, some in groupby(sources, lambda item: _is_small_file(item[1])):
        if are_small:
            done = map_ahead(lambda item: measuring.run(*item), some, ahead=2 * cores())
            yield from (run for _, run in done)
        else:
            yield from (measuring.run(*item) for item in some)


def _is_small_file(source: Any) -> bool:
    is_file = isinstance(source, (str, os.PathLike)) and os.path.isfile(source)
    return is_file and os.path.getsize(source) < LARGE


def iter_judged(
    names: Sequence[str], sources: Sequence[Any], judgements: Judgements
) -> Iterator[JudgedRun]:
    """Runs one after the other, read and matched on threads before they are needed.

    Raises:
        ValueError: for a run that cannot be an answer to these queries, with its name.
    """

    def judge(name: str, run: Any) -> JudgedRun:
        try:
            return judgements.judge_whole(run.table if isinstance(run, JudgedRun) else run)
        except ValueError as error:
            raise ValueError(f"run {name!r}: {error}") from None

    judged = iter_runs(dict(zip(names, sources)), then=judge)
    shown = False if len(names) < _MANY else None
    bar = progress_bar(judged, total=len(names), desc="runs", shown=shown, leave=False)
    for name, run in bar:
        own_ids = own_ids_note([run.own_ids], int(np.count_nonzero(run.retrieved)))
        for note in (CONSTANT_SCORES if run.has_constant_scores else "", own_ids):
            if note:
                warnings.warn(f"run {name!r}: {note}", stacklevel=3)
        yield run


def _needs_rows(measure: Any) -> bool:
    """Whether a measure looks at more of a run than where its judged documents are."""
    own = computed(measure)
    return own is None or own.needs_rows()
