"""Evaluation of many runs by many measures: what every call starts from.

An :class:`Evaluation` holds runs, the judgements that they are matched with, and values by query.
Where a caller needs more than values, runs are read and matched once, and kept. Else they are
measured one by one or on several workers, and files block by block, so that a run may be larger
than memory. The values are the same, byte for byte.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..io.lazy import pd
from ..io.partitions import PartitionedRun
from ..io.prefetch import begun
from ..io.progress import progress_bar
from ..io.runs import iter_run_batches
from ..io.tables import counted
from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements
from ..judging.labels import qrels_with
from ..judging.remembered import Remembering
from ..measures.names import Measures, NamedMeasure, needs_pool, parse_measure, with_pool
from ..measures.pool import RarenessPool
from ..measures.rareness import Pools
from ..scoring.arrays import Floats
from ..scoring.lexicographic import reciprocal_ranks
from .frames import KEYS, frame_of, mean_of, to_long, unanswered_notes
from .inputs import chosen_measures, collections_of, listed_collections, named_runs
from .measuring import Measuring, iter_judged, measure_runs
from .notes import tie_note
from .providers import values_of


@dataclass(frozen=True)
class Evaluation(Remembering):
    """S runs, the judgements of Q queries, and the values of measures.

    Attributes:
        names: the names of the runs, S of them.
        sources: the runs in the same order: matched with the judgements, or not yet read.
        judgements: what they are matched with.
        source: what the judgements were made from.
        measures: the measures that were asked for, by the names of their columns.
        unanswered: how many queries each measured run does not answer, shape (S,).
        failures: why other runs could not be measured, by name.
    """

    names: list[str]
    sources: Sequence[Any]
    judgements: Judgements
    source: Any = None
    measures: Sequence[NamedMeasure] = ()
    unanswered: Sequence[int] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    _values: dict[tuple[str, str], Floats] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        runs: Any,
        qrels: Any = None,
        *,
        duplicates: str | None = None,
        drop_self: bool = False,
    ) -> Evaluation:
        """Reads runs and qrels, wherever they are, and matches them.

        Args:
            runs: see :func:`~pyterrier_asl.evaluate`; or an Evaluation, whose runs are matched
                again only with other qrels than they have been matched with.
            qrels: frame, file, ir_datasets id, or Judgements; None: those of the Evaluation.
            duplicates: see :func:`~pyterrier_asl.evaluate`.
            drop_self: see :func:`~pyterrier_asl.evaluate`.

        Raises:
            ValueError: where there are no runs, or one that cannot be an answer to these queries.

        >>> runs = Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> runs.values("RR").tolist()
        [[1.0]]
        """
        if isinstance(runs, cls):
            if qrels is None or runs.has_been_matched_with(qrels):
                return runs
            return runs.judged_by(qrels)
        if qrels is None:
            raise ValueError("qrels are needed: a frame, a file, or an ir_datasets id")
        sources = named_runs(runs)
        judgements = Judgements.of(qrels, duplicates, drop_self)
        judged = list(iter_judged(list(sources), list(sources.values()), judgements))
        return cls(list(sources), judged, judgements, qrels)

    @classmethod
    def unread(cls, runs: Any, judgements: Judgements) -> Evaluation:
        """Runs that are only listed: they are read where they are measured or needed.

        Args:
            runs: see :meth:`of`.
            judgements: what they will be matched with.
        """
        if isinstance(runs, cls):
            return cls.of(runs, judgements)
        sources = named_runs(runs)
        return cls(list(sources), list(sources.values()), judgements, judgements)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def qids(self) -> list[Any]:
        """The query ids, Q of them."""
        return self.judgements.qids

    @property
    def is_matched(self) -> bool:
        """Whether all runs have been read and matched."""
        return all(isinstance(source, JudgedRun) for source in self.sources)

    @cached_property
    def runs(self) -> list[JudgedRun]:
        """The runs, matched with the judgements, S of them."""
        return list(self.matched())

    def matched(self) -> Iterator[JudgedRun]:
        """The runs one after the other; what is read for this is not kept."""
        if self.is_matched:
            return iter(self.sources)
        return iter_judged(self.names, self.sources, self.judgements)

    # Values

    def values(self, measure: Any) -> Floats:
        """The value of every run for every query, shape (S, Q), computed once a measure.

        Args:
            measure: a measure or its name; a rareness measure without a pool gets that of the runs.
        """
        measure = parse_measure(measure)
        key = _key(measure)
        if key not in self._values:
            self._values[key] = (
                self.once(Pools.of_runs, measure).values()
                if needs_pool(measure)
                else np.array([values_of([measure], run)[0] for run in self.runs])
            )
            self._warn_of_ties(measure, self._values[key])
        return self._values[key]

    def _warn_of_ties(self, measure: Any, values: Floats) -> None:
        """Warns of the runs whose mean depends on how ties are broken."""
        for name, run, of_run in zip(self.names, self.runs, values):
            if not run.has_constant_scores and (
                note := tie_note({str(measure): measure}, [of_run], [run.with_ties_reversed])
            ):
                warnings.warn(f"run {name!r}: {note}", stacklevel=3)

    @property
    def columns(self) -> dict[str, Floats]:
        """The values of :attr:`measures` by their names, shape (S, Q) each."""
        return {measure.name: self.values(measure.measure) for measure in self.measures}

    @property
    def means(self) -> dict[str, Floats]:
        """Each run's mean of each of :attr:`measures`, shape (S,); a count is added up."""
        return {m.name: mean_of(self.values(m.measure), m.measure) for m in self.measures}

    def frame(self, measures: Iterable[Any] = ()) -> pd.DataFrame:
        """Values as one frame, as :func:`~pyterrier_asl.evaluate` gives it.

        Args:
            measures: measures or their names; none: those of :attr:`measures`.

        >>> Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}}).frame(["RR"])
          name qid   RR
        0    a   q  1.0
        """
        values = {str(measure): self.values(measure) for measure in measures}
        return frame_of(self.names, self.qids, values or self.columns)

    def reciprocal_ranks(
        self, rel: float = 1, cutoff: int | None = None, judged_only: bool = False
    ) -> Floats:
        """RR_i of every relevant document in every run, shape (S, relevant documents in all)."""
        relevant = (run.view(cutoff, judged_only).relevant(rel) for run in self.runs)
        return np.array([reciprocal_ranks(r.ranks, r.offsets, r.total) for r in relevant])

    def measure(
        self,
        measures: Sequence[NamedMeasure],
        *,
        jobs: int = 1,
        backend: str = "loky",
        progress: bool | None = None,
        keep_going: bool = False,
    ) -> Evaluation:
        """The same runs with the values of measures; rows are dropped as they pass.

        Args:
            measures: the measures.
            jobs: how many runs to measure at a time; see :func:`~pyterrier_asl.evaluate`.
            backend: see there.
            progress: see there.
            keep_going: whether a run that cannot be measured is left out; see :attr:`failures`.

        Raises:
            ValueError: for a run that cannot be measured, with its name; with ``keep_going`` where
                none can.
            OSError: without ``keep_going`` for a file that cannot be read.
        """
        if self.is_matched:
            unanswered = [int(np.count_nonzero(run.retrieved == 0)) for run in self.sources]
            return replace(self, measures=measures, unanswered=unanswered)
        by_label = {measure.name: measure.measure for measure in measures}
        if taken := by_label.keys() & set(KEYS):
            raise ValueError(f"{taken.pop()!r} is no name for a column of values: choose another")
        sources = dict(zip(self.names, self.sources))
        measuring = Measuring(self.judgements, by_label)
        done, failures = [], {}
        with closing(measure_runs(measuring, sources, jobs, backend)) as runs:
            bar = progress_bar(runs, total=len(self), desc="runs", unit="run", shown=progress)
            for run in bar:
                for note in run.notes:
                    warnings.warn(f"run {run.name!r}: {note}", stacklevel=4)
                if run.error is None:
                    done.append(run)
                elif keep_going:
                    failures[run.name] = _reason(sources[run.name], run.error)
                elif isinstance(run.error, ValueError):
                    raise ValueError(f"run {run.name!r}: {run.error}") from run.error
                else:
                    raise run.error
        if not done:
            first, *others = failures.values()
            more = f" (nor can {counted(len(others), 'further run')} be used)" if others else ""
            raise ValueError(first + more)
        values = {_key(by_label[label]): v for label, v in measuring.join(done).items()}
        names = [run.name for run in done]
        return replace(
            self.select(names),
            measures=measures,
            unanswered=[run.unanswered for run in done],
            failures=failures,
            _values=values,
        )

    @property
    def higher_is_better(self) -> dict[str, bool | None]:
        """Which way each of :attr:`measures` is better, by its name; None where neither."""
        return {measure.name: measure.higher_is_better for measure in self.measures}

    def notes(self) -> list[str]:
        """Sentences on the measured runs that do not answer all queries."""
        unanswered = {
            name: missing for name, missing in zip(self.names, self.unanswered) if missing
        }
        return unanswered_notes(unanswered, len(self.qids))

    # Parts, and others

    def row(self, name: str) -> int:
        """The row of a run.

        Raises:
            ValueError: for a run that is not there.
        """
        if name not in self.names:
            raise ValueError(f"there is no run {name!r}; there are {self.names}")
        return self.names.index(name)

    def select(self, names: Iterable[str]) -> Evaluation:
        """Some of the runs, in this order.

        Raises:
            ValueError: for a run that is not there.
        """
        names = list(names)
        rows = [self.row(name) for name in names]
        values = {key: of_all[rows] for key, of_all in self._values.items()}
        sources = [self.sources[row] for row in rows]
        return Evaluation(names, sources, self.judgements, self.source, _values=values)

    def judged_by(self, qrels: Any) -> Evaluation:
        """The same runs, matched with other qrels; nothing is read again."""
        of_runs = self.judgements
        judgements = Judgements.of(qrels, of_runs.duplicates, of_runs.drop_self)
        judged = list(iter_judged(self.names, self.runs, judgements))
        return Evaluation(self.names, judged, judgements, qrels)

    def has_been_matched_with(self, qrels: Any) -> bool:
        """Whether the runs were matched with these qrels: the same object or file."""
        if qrels is self.source or qrels is self.judgements:
            return True
        are_files = all(isinstance(path, (str, os.PathLike)) for path in (qrels, self.source))
        return are_files and str(qrels) == str(self.source)

    def with_pool(
        self,
        measures: Mapping[str, Any],
        groups: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Measures, with the runs for the pool of a rareness measure that has none.

        Values need no pool (see :meth:`values`); the gains of unjudged documents do.

        Args:
            measures: measures by name.
            groups: run -> group; see :class:`~pyterrier_asl.RarenessPool`.
        """
        if not any(map(needs_pool, measures.values())):
            return dict(measures)
        pool = RarenessPool.from_judged(self.names, self.runs, list(measures.values()), groups)
        return {label: with_pool(measure, pool) for label, measure in measures.items()}


def _key(measure: Any) -> tuple[str, str]:
    return type(measure).__module__, str(measure)


def _reason(run: Any, error: Exception) -> str:
    """Why a run cannot be measured, with its file."""
    place = run.folder if isinstance(run, PartitionedRun) else run
    return str(error) if str(place) in str(error) else f"{place}: {error}"


def tracks(
    runs: Any, qrels: Any = None, duplicates: str | None = None, drop_self: bool = False
) -> dict[str, Evaluation]:
    """The runs of one track or several, by its name; see :func:`.inputs.collections_of`.

    >>> list(tracks({"toy": ({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})}))
    ['toy']
    """
    return {
        name: Evaluation.of(*pair, duplicates=duplicates, drop_self=drop_self)
        for name, pair in collections_of(runs, qrels).items()
    }


def measured(
    runs: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    *,
    labels: Any = None,
    duplicates: str | None = None,
    drop_self: bool = False,
    common: bool = False,
    jobs: int = 1,
    backend: str = "loky",
    progress: bool | None = None,
    keep_going: bool = False,
    **options: Any,
) -> dict[str, Evaluation]:
    """Measures the runs of each track; the arguments are those of :func:`evaluate`.

    Args:
        keep_going: whether a run that cannot be measured is left out.

    Returns:
        The values by track, '' for the only one.
    """
    done = {}
    for track, (sources, judged_by) in listed_collections(
        runs, qrels, labels, common=common
    ).items():
        is_read = jobs != 1 or isinstance(sources, Evaluation)
        with nullcontext(sources) if is_read else begun(sources, iter_run_batches) as prefetched:
            merged = qrels_with(judged_by, labels, duplicates)
            unread = Evaluation.unread(prefetched, Judgements.of(merged, duplicates, drop_self))
            if not len(unread.judgements):
                place = f"{judged_by}: " if isinstance(judged_by, (str, os.PathLike)) else ""
                raise ValueError(f"{place}the qrels are empty: there is nothing to judge by")
            asked = chosen_measures(measures, judged_by, several=len(unread) > 1, **options)
            done[track] = unread.measure(
                asked, jobs=jobs, backend=backend, progress=progress, keep_going=keep_going
            )
    return done


def evaluate(
    runs: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    *,
    rel: float | None = None,
    pool: Any = None,
    lengths: Any = None,
    labels: Any = None,
    duplicates: str | None = None,
    drop_self: bool = False,
    common: bool = False,
    bounds: bool = False,
    long: bool = False,
    jobs: int = 1,
    backend: str = "loky",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Measures runs, for every query.

    Each run is read once, and judged once for all measures. A rareness measure without a pool gets
    the pool of these runs.

    Args:
        runs: dict of name -> run (data frame, Arrow table, file, or whatever ir_measures takes), a
            folder of run files, one file, or several; a data frame or a dict of dicts by itself is
            one run, called ``run``; or Parquet data sets partitioned by run or
            query (see :mod:`~pyterrier_asl.io.partitions`). A file is read in blocks of whole
            queries, so that it may be larger than memory as long as the rows of a query lie
            together.
            Without qrels: a dict of track -> (runs, qrels).
        qrels: data frame, file, ir_datasets id, dict of dicts, or a
            :class:`~pyterrier_asl.judging.judgements.Judgements` made before.
        measures: measures or their names, or a dict from the name of a column to either. None: the
            measures of :func:`~pyterrier_asl.measures.names.default_measures`.
        rel: minimum grade of a relevant document, for measures that do not say it; None: 1.
        pool: pool of the rareness measures that name none: a pool, its name or file, or runs; None:
            the runs themselves.
        lengths: document lengths for TBG; what ``TBG(lengths=...)`` takes.
        labels: labels of documents that the qrels do not judge, merged with them: what
            :func:`~pyterrier_asl.merge_labels` takes; of one collection.
        duplicates: how to treat a document that occurs twice in a ranking: ``'error'``, the
            default, or ``'best'``: it counts once, at its best rank.
        drop_self: whether documents with the id of their query are left out of rankings, as for
            collections whose queries are documents (ArguAna, Quora).
        common: of several tracks, whether systems that a track lacks are left out; else they are an
            error.
        bounds: also the lowest and the highest value that any labels of the unjudged documents of
            these runs could give: columns of the measure's name with `` low`` and `` high``, or
            with ``long`` ``low``, ``high``, ``unjudged`` and ``exact`` (see
            :func:`~pyterrier_asl.bounds`). The runs are held in memory then.
        long: one row for each value, instead of one column for each measure.
        jobs: how many runs to measure at a time; -1: as many as there are cores.
        backend: where: processes on this machine (``'loky'``), another of joblib's backends that
            gives results one by one (``'threading'``), or ``'ray'``: the nodes of a Ray cluster,
            all of which see the files by the same paths. The result is the same, byte for byte.
        progress: whether to show a progress bar; None: where there is a terminal.

    Returns:
        A frame, runs in the order given and queries in the order of the qrels, with ``name``,
        ``qid`` (as the qrels hold it), and a column for each measure; with ``long`` ``name``,
        ``qid``, ``measure``, ``value``. Exactly one value for every run, query and measure. Of
        several tracks first ``track``.

    Raises:
        ValueError: for no runs, a system that a track lacks, unknown measures; for a run that
            is empty, shares no query or no document with the qrels, or cannot be measured, with its
            name; for ``bounds`` on several workers, and ``common`` of one collection.

    >>> runs = {"good": {"q": {"a": 2, "x": 1}}, "bad": {"q": {"x": 2, "a": 1}}}
    >>> evaluate(runs, {"q": {"a": 1}}, ["ASL@10", "LexiP"])
       name qid  ASL@10  LexiP
    0  good   q     1.0    1.0
    1   bad   q     2.0    0.5
    """
    options: dict[str, Any] = {"rel": rel, "pool": pool, "lengths": lengths}
    options |= {"labels": labels, "duplicates": duplicates, "drop_self": drop_self}
    if bounds:
        from .labellings import bounds_by_query

        if jobs != 1 or backend != "loky":
            raise ValueError("jobs and backend are for values without bounds: leave them out")
        frames = bounds_by_query(runs, qrels, measures, common=common, long=long, **options)
    else:
        options |= {"jobs": jobs, "backend": backend, "progress": progress}
        done = measured(runs, qrels, measures, common=common, **options)
        frames = {track: evaluation.frame() for track, evaluation in done.items()}
        frames = {t: to_long(frame) for t, frame in frames.items()} if long else frames
    if list(frames) == [""]:
        return frames[""]
    return pd.concat(frames, names=["track"]).reset_index("track").reset_index(drop=True)
