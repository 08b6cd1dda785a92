"""Evaluation of run files, for commands: default measures, pools, lengths, groups of runs."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from ..io.lazy import pd
from ..io.names import names_of
from ..io.partitions import PartitionedRun
from ..io.prefetch import begun
from ..io.runs import RunSource, iter_run_batches, list_runs, run_name
from ..io.tables import ALL, counted
from ..io.texts import text_lines
from ..judging.judgements import Judgements
from ..judging.labels import qrels_with
from ..measures.lengths import DocLengths
from ..measures.names import NamedMeasure, default_measures, needs_pool, parse_measures, unique
from ..measures.pool import RarenessPool
from ..measures.standard import computed
from ..scoring.arrays import Floats
from ..statistics.rounding import shared_ranks
from .evaluate import measure_runs
from .frames import RunValues
from .inputs import grades_hint, official_of


@dataclass(frozen=True)
class Measured:
    """The values of measured run files.

    Attributes:
        values: of every run and query.
        asked: the measures, by the names of their columns.
        failures: why a file could not be measured, by run; the others were.
        unanswered: how many queries of the qrels a run does not answer, for runs that do not
            answer all.
        hint: what else to tell, '' for nothing.
    """

    values: RunValues
    asked: list[NamedMeasure]
    failures: dict[str, str]
    unanswered: dict[str, int]
    hint: str

    def notes(self, most: int = 5) -> list[str]:
        """A sentence for each run that does not answer all queries, for ``most`` of them."""
        return unanswered_notes(self.unanswered, len(self.values.qids), most)

    def answers(self) -> list[str]:
        """Sentences on which runs have the best means, the runs that are best most often first."""
        names, queries = self.values.names, counted(len(self.values.qids), "query", "queries")
        if len(names) < 2:
            return []
        means = self.values.means({asked.name: asked.measure for asked in self.asked})
        measures: dict[tuple[str, ...], list[str]] = {}
        for name, up in self.higher_is_better.items():
            if up is not None:
                best = (shared_ranks(means[name] if up else -means[name]) == 1).tolist()
                measures.setdefault(tuple(compress(names, best)), []).append(name)
        return [
            f"All runs have the same mean {names_of(by)} over {queries}."
            if len(best) == len(names)
            else f"{names_of(best)} {'has' if len(best) == 1 else 'share'} the best mean "
            f"{names_of(by, len(by))} over {queries}."
            for best, by in sorted(measures.items(), key=lambda item: -len(item[1]))
        ]

    def sort_of_many(self, few: int) -> str:
        """The first measure with a direction, of more runs than a few; else ''."""
        directed = (name for name, up in self.higher_is_better.items() if up is not None)
        return next(directed, "") if len(self.values.names) > few else ""

    @property
    def higher_is_better(self) -> dict[str, bool | None]:
        """Which way each measure is better, by the name of its column; None where neither."""
        return {measure.name: measure.higher_is_better for measure in self.asked}

    @cached_property
    def by_query(self) -> pd.DataFrame:
        """The values as a frame; see :func:`~pyterrier_asl.evaluate`."""
        return self.values.frame()

    def scores(
        self, *, by_query: bool = False, summary: bool = True, sort: str = ""
    ) -> dict[str, list[Any]]:
        """The values to be shown.

        Args:
            by_query: a row per run and query instead of one per run.
            summary: then, whether a row of means, called ``all``, follows each run's queries.
            sort: the measure by which runs are ordered, best first; '': as they were given.

        Returns:
            Columns ``run``, with ``by_query`` also ``qid``, and one for each measure.

        Raises:
            ValueError: where ``sort`` is not one of the measures.
        """
        directions = self.higher_is_better
        if sort and sort not in directions:
            raise ValueError(f"cannot sort by {sort!r}, only by one of {', '.join(directions)}")
        means = self.values.means({asked.name: asked.measure for asked in self.asked})
        order = list(range(len(self.values.names)))
        if sort:
            sign = 1 if directions[sort] is False else -1
            order.sort(key=(sign * means[sort]).tolist().__getitem__)
        runs = [self.values.names[row] for row in order]
        if not by_query:
            return {"run": runs} | {name: mean[order].tolist() for name, mean in means.items()}
        return self._by_query(means if summary else {}, order, runs)

    def _by_query(
        self, means: Mapping[str, Floats], order: list[int], runs: list[str]
    ) -> dict[str, list[Any]]:
        """Each run's queries, and then their means, if any, in this order of the runs."""
        qids = list(self.values.qids)
        if means and any(str(qid) == ALL for qid in qids):
            raise ValueError(
                f"a query is called {ALL!r}, as the rows of means are: leave these out (-n), "
                "or rename the query"
            )
        rows = [*qids, *([ALL] if means else [])]
        shown: dict[str, list[Any]] = {
            "run": [run for run in runs for _ in rows],
            "qid": rows * len(runs),
        }
        for measure in self.asked:
            values = self.values.columns[measure.name]
            if means:
                values = np.column_stack((values, means[measure.name]))
            shown[measure.name] = values[order].ravel().tolist()
        return shown


def unanswered_notes(unanswered: Mapping[str, int], queries: int, most: int = 5) -> list[str]:
    """A sentence for each run that does not answer all queries, for ``most`` of them."""
    sentences = [
        f"{run} does not answer {missing} of {queries} queries; each counts with the worst value"
        for run, missing in unanswered.items()
    ]
    more = len(sentences) - most
    if more <= 0:
        return sentences
    others = "does 1 other run" if more == 1 else f"do {more} other runs"
    return [*sentences[:most], f"nor {others} answer all queries"]


def measure_files(
    qrels: str,
    runs: Iterable[str | os.PathLike[str]],
    measures: Iterable[str] = (),
    *,
    pool: str | None = None,
    lengths: str | None = None,
    rel: float | None = None,
    jobs: int = 1,
    duplicates: str = "error",
    drop_self: bool = False,
    labels: Any = None,
) -> Measured:
    """Measures run files; an error in one of them does not stop the others.

    Args:
        qrels: file or ir_datasets id.
        runs: files and folders.
        measures: names; see :func:`~pyterrier_asl.measures.names.parse_measures`. None at all:
            those of :func:`~pyterrier_asl.measures.names.default_measures`.
        pool: file of a pool, or folder of runs, for the rareness measures that name none; None: the
            runs themselves.
        lengths: for TBG; what ``TBG(lengths=...)`` takes.
        rel: minimum grade of a relevant document, for measures that do not say it.
        jobs: how many runs to judge at a time.
        duplicates: see :func:`~pyterrier_asl.evaluate`.
        drop_self: see :func:`~pyterrier_asl.evaluate`.
        labels: see :func:`~pyterrier_asl.evaluate`.

    Raises:
        ValueError: for what is no run, qrels or measure; where not one run can be measured.
        OSError: for a file that cannot be read.
    """
    files = list_runs(runs)
    typed = parse_measures(measures) if (measures := list(measures)) else None
    with begun(files, iter_run_batches) if jobs == 1 else nullcontext(files) as sources:
        merged = qrels_with(qrels, labels, duplicates)
        judgements = Judgements.of(merged, duplicates, drop_self)
        if not len(judgements):
            raise ValueError(f"{qrels} holds no judgements: there is nothing to judge by")
        if typed is None:
            several = len(files) > 1 or pool is not None
            typed = measures_for(qrels, several=several, lengths=lengths is not None, rel=rel)
        asked = unique(complete_measures(typed, pool=pool, lengths=lengths, rel=rel))
        values, failures = _evaluate_runs(sources, judgements, asked, jobs)
    hint = grades_hint(judgements.grades, asked, rel=rel)
    unanswered = {name: number for name, number in zip(values.names, values.unanswered) if number}
    return Measured(values, asked, failures, unanswered, hint)


def tracks_by_name(tracks: Sequence[tuple[str, str, str]]) -> dict[str, tuple[Any, str]]:
    """Runs and qrels of each track, as the functions take them."""
    named: dict[str, tuple[Any, str]] = {}
    for name, qrels, runs in tracks:
        if name in named:
            raise ValueError(f"track {name!r} is given twice: name each differently")
        named[name] = [runs], qrels
    return named


def measures_for(
    qrels: Any, *, several: bool, lengths: bool, rel: float | None = None
) -> list[NamedMeasure]:
    """Default measures; for an ir_datasets id also its official ones."""
    official = [] if rel is not None else official_of(qrels)
    return default_measures(official, several=several, lengths=lengths)


def complete_measures(
    typed: list[NamedMeasure],
    *,
    pool: str | None = None,
    lengths: str | None = None,
    rel: float | None = None,
) -> list[NamedMeasure]:
    """Adds the pool, lengths and ``rel`` that measures lack; see :func:`measure_files`."""
    params: dict[str, Any] = {"rel": rel}
    if lengths is not None:
        params["lengths"] = DocLengths.resolve(lengths)
    if pool is not None and any(needs_pool(named.measure) for named in typed):
        params["pool"] = (
            RarenessPool.from_runs(pool)
            if isinstance(pool, (str, os.PathLike)) and Path(pool).is_dir()
            else RarenessPool.resolve(pool)
        )
    asked = [named.with_params(**params) for named in typed]
    for named in asked:
        own = computed(named.measure)
        if own is not None and own.run_columns():
            raise ValueError(
                f"{named.name} needs the lengths of the documents: --lengths irds:ID (in Python "
                "lengths='irds:ID') counts those of an ir_datasets collection, a file has them on "
                "lines 'docno words', or as DocLengths.save() saved them; or write "
                "TBG(missing_length=500)"
            )
    return asked


def _evaluate_runs(
    files: Mapping[str, RunSource], judgements: Judgements, asked: list[NamedMeasure], jobs: int
) -> tuple[RunValues, dict[str, str]]:
    """The values of the runs that can be measured, and why others cannot."""
    measures = {named.name: named.measure for named in asked}
    values, errors = measure_runs(files, judgements, measures, jobs=jobs, keep_going=True)
    wrong = {name: _reason(files[name], error) for name, error in errors.items()}
    if len(wrong) == len(files):
        first, *others = wrong.values()
        raise ValueError(
            first + (f" (nor can {counted(len(others), 'further run')} be used)" if others else "")
        ) from next(iter(errors.values()))
    return values, wrong


def _reason(run: Any, error: Exception) -> str:
    """Why a run cannot be measured, with its file."""
    place = run.folder if isinstance(run, PartitionedRun) else run
    return str(error) if str(place) in str(error) else f"{place}: {error}"


def read_groups(path: str | os.PathLike[str]) -> Mapping[str, str]:
    """Reads the group of each run, from lines ``run<TAB>group``.

    A run may be named as its file is: ``input.bm25.gz`` is ``bm25``.

    Raises:
        ValueError: for a line that is not two columns, or a run with two groups.
    """
    groups: dict[str, str] = {}
    for number, (file, group) in _pairs(path, "run", "group"):
        name = run_name(file)
        if groups.setdefault(name, group) != group:
            raise ValueError(
                f"{path}, line {number}: run {name!r} is in group {groups[name]!r} already"
            )
    return groups


def read_pairs(path: str | os.PathLike[str], key: str, value: str) -> dict[str, str]:
    """Reads the value of each key, from lines ``key<TAB>value``.

    Args:
        path: the file.
        key: what an error calls the first column.
        value: what it calls the second.

    Raises:
        ValueError: for a line that is not two columns, or a key that is there twice.
    """
    pairs: dict[str, str] = {}
    for number, (name, beside) in _pairs(path, key, value):
        if name in pairs:
            raise ValueError(f"{path}, line {number}: {key} {name!r} is there already")
        pairs[name] = beside
    return pairs


def _pairs(
    path: str | os.PathLike[str], key: str, value: str
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Both columns of each line, and its number."""
    rows = csv.reader(text_lines(path), delimiter="\t")
    try:
        for row in filter(any, rows):
            if len(row) != 2 or not all(row):
                line = f"{row}"[:100]
                raise ValueError(
                    f"{path}, line {rows.line_num}: expected {key}<TAB>{value}, found {line}"
                )
            yield rows.line_num, (row[0], row[1])
    except csv.Error as error:
        raise ValueError(f"{path}, line {rows.line_num}: {error}") from None
