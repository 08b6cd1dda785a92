"""Evaluation of one run by all measures, whole or block by block, as a worker does it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..io.kernels import pc
from ..io.partitions import BLOCK_ROWS, PartitionedRun, query_blocks
from ..io.runs import iter_run_batches, read_run_table
from ..io.threads import cores, map_ahead
from ..judging.judged_run import CONSTANT_SCORES, JudgedRun, OwnIds, SplitQuery, complete_run
from ..judging.judgements import Judgements
from ..measures.names import needs_pool, pool_depth
from ..measures.pool import top_documents
from ..measures.standard import computed
from ..scoring.arrays import Floats
from .automatic_pool import with_pool_of_tops
from .notes import own_ids_note, tie_note
from .providers import values_of


@dataclass(frozen=True)
class MeasuredBlock:
    """Some queries of a run, measured as far as their rows are needed.

    Attributes:
        judged: the run there.
        by_rows: the values of the measures that need the rows, for each query it answers.
        top: its top documents, where a pool is to be made of them.
        is_constant: whether its scores say nothing.
        tied: the queries whose values depend on how ties are broken, with ties broken otherwise.
        own_ids: queries that retrieve a document with their own id.
    """

    judged: JudgedRun
    by_rows: dict[str, Floats]
    top: pa.Table | None
    is_constant: bool
    tied: JudgedRun | None
    own_ids: OwnIds


@dataclass(frozen=True)
class MeasuredRun:
    """The values of a run, and what the pool of all runs needs of it.

    Attributes:
        name: the run.
        values: a row a query, a column a measure; NaN where the pool of all runs is needed.
        unanswered: how many queries of the qrels it does not answer.
        top: its top documents, for that pool.
        judged: its entries, for the measures that need it; None where none does.
        error: why it could not be measured; None where it was.
        notes: what is odd about its rankings, a sentence each.
    """

    name: str
    values: Floats = field(default_factory=lambda: np.empty((0, 0)))
    unanswered: int = 0
    top: pa.Table | None = None
    judged: JudgedRun | None = None
    error: Exception | None = None
    notes: list[str] = field(default_factory=list)


class Scorer:
    """Qrels and measures, ready for any run; what a worker gets, once.

    Args:
        judgements: the qrels.
        measures: measures by the names of their columns.
    """

    def __init__(self, judgements: Judgements, measures: dict[str, Any]) -> None:
        self.judgements, self.measures = judgements, measures
        judgements.index.prepare()  # before several threads do
        self._pooled = [name for name, measure in measures.items() if needs_pool(measure)]
        self._by_rows = {
            name: measure
            for name, measure in measures.items()
            if name not in self._pooled and _needs_rows(measure)
        }

    def blocks(self, name: str, source: Any) -> list[MeasuredBlock]:
        """A run, or some files of one, block by block.

        Args:
            name: what it is called.
            source: a file, several, or whatever ``Judgements.judge`` takes.

        Raises:
            ValueError: where it cannot be measured.
            OSError: for a file that cannot be read.
        """
        if not isinstance(source, (str, os.PathLike, PartitionedRun)):
            return [self._block(name, source)]
        # What a block keeps for each query of the qrels is to be little beside its rows.
        rows = max(BLOCK_ROWS, 8 * len(self.judgements))
        measured = map_ahead(
            lambda table: _light(self._block(name, table)),
            query_blocks(iter_run_batches(source), rows),
            ahead=cores(),
        )
        return [block for _, block in measured]

    def score(self, name: str, source: Any, blocks: Sequence[MeasuredBlock]) -> MeasuredRun:
        """The values of a run from its blocks; where two share a query, the run is read as one."""
        blocks = blocks or [self._block(name, read_run_table(source))]  # which has no rows
        try:
            judged = complete_run([block.judged for block in blocks])
        except SplitQuery:
            blocks = [self._block(name, read_run_table(source))]
            judged = complete_run([blocks[0].judged])
        values = np.full((len(self.judgements), len(self.measures)), np.nan)
        for column, (label, measure) in enumerate(self.measures.items()):
            if label in self._by_rows:
                values[:, column] = self._join_blocks(label, blocks)
            elif label not in self._pooled:
                values[:, column] = values_of([measure], judged)[0]
        notes = self._notes(blocks, values, int(np.count_nonzero(judged.retrieved)))
        unanswered = int(np.count_nonzero(judged.retrieved == 0))
        measured = MeasuredRun(name, values, unanswered, notes=notes)
        if not self._pooled:
            return measured
        return replace(measured, top=_top_of(blocks), judged=judged.without_rows())

    def _notes(self, blocks: Sequence[MeasuredBlock], values: Floats, answered: int) -> list[str]:
        """Notes on a run, by its blocks and values."""
        if all(block.is_constant for block in blocks):
            ties = CONSTANT_SCORES
        else:
            ties = tie_note(self.measures, list(values.T), [block.tied for block in blocks])
        own_ids = own_ids_note([block.own_ids for block in blocks], answered)
        return [note for note in (ties, own_ids) if note]

    def _block(self, name: str, run: Any) -> MeasuredBlock:
        judged = self.judgements.judge_part(run)
        answered = judged.retrieved > 0
        values = values_of(list(self._by_rows.values()), judged)
        by_rows = {label: column[answered] for label, column in zip(self._by_rows, values)}
        depth = pool_depth(self.measures.values())
        top = top_documents(name, judged, depth) if self._pooled else None
        is_constant, tied = judged.has_constant_scores, judged.with_ties_reversed
        return MeasuredBlock(judged, by_rows, top, is_constant, tied, judged.own_ids)

    def _join_blocks(self, label: str, blocks: Sequence[MeasuredBlock]) -> Floats:
        """The values of a measure from those of the blocks, each for the queries it answers."""
        nothing = self.judgements.judge({})
        values = values_of([self._by_rows[label]], nothing)[0].copy()
        for block in blocks:
            values[block.judged.retrieved > 0] = block.by_rows[label]
        return values

    def finish(self, runs: Sequence[MeasuredRun]) -> list[Floats]:
        """The values of all runs, with those that need the pool of all runs."""
        if not self._pooled:
            return [run.values for run in runs]
        values = [run.values.copy() for run in runs]  # what Ray gives cannot be written to
        tops = {run.name: run.top for run in runs if run.top is not None}
        pooled = {label: self.measures[label] for label in self._pooled}
        columns = list(self.measures)
        for label, measure in with_pool_of_tops(tops, pooled).items():
            for row, run in enumerate(runs):
                assert run.judged is not None
                values[row][:, columns.index(label)] = measure.values(run.judged)
        return values


def _light(block: MeasuredBlock) -> MeasuredBlock:
    return replace(block, judged=block.judged.without_rows())


def _top_of(blocks: Sequence[MeasuredBlock]) -> pa.Table:
    """The top documents of all blocks, by query."""
    tables = [block.top for block in blocks]
    if len(tables) == 1:
        return tables[0]
    top = pa.concat_tables(tables)
    return top.take(pc.sort_indices(top, sort_keys=[("qid", "ascending")]))


def _needs_rows(measure: Any) -> bool:
    """Whether a measure looks at more of a run than where its judged documents are."""
    own = computed(measure)
    return own is None or own.needs_rows()
