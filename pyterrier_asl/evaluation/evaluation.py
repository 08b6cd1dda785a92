"""Evaluation of runs by measures: what functions and commands start from.

An :class:`Evaluation` holds runs, qrels, and values per query. A caller that needs more than values
reads and matches each run once and keeps it. Otherwise runs are measured one by one, or on several
workers, and their rows are not kept. The values are the same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ForwardRef, TypeAlias

import numpy as np

from ..common.lazy import pd
from ..common.notices import counted, progress_bar
from ..common.threads import check_jobs
from ..common.types import Floats
from ..io.opening import StrPath
from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements, judgements_of
from ..judging.qrels import matching_of
from ..judging.remembered import Remembering
from ..measures.directions import added_up
from ..measures.parsing import NamedMeasure, needs_pool, parse_measure
from ..measures.pool import RarenessPool
from ..measures.rareness import Pools
from ..scoring.lexicographic import reciprocal_ranks
from .facts import Facts
from .measuring import Measuring, iter_judged, values_of
from .run_facts import RunFacts
from .sources import named_runs
from .workers import BACKENDS, measure_runs


@dataclass(frozen=True, repr=False)
class Evaluation(Remembering):
    """S runs, the judgements of Q queries, and the values of measures.

    Attributes:
        names: the names of the runs, S of them.
        sources: the runs in the same order, unread or matched with the judgements.
        judgements: the judgements of the Q queries.
        source: the qrels as the caller gave them.
        measures: the measures of the call, with the names of their columns.
        measured_facts: the facts of each run that was measured and not kept; empty: the runs are.
        failures: by name, why a run could not be measured.
        whole: the runs that these were selected from, among which a document is rare; None: these.
    """

    names: list[str]
    sources: Sequence[Any]
    judgements: Judgements
    source: Any = None
    measures: Sequence[NamedMeasure] = ()
    measured_facts: Sequence[RunFacts] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    whole: Evaluation | None = None
    _values: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, runs: Any, qrels: Any = None) -> Evaluation:
        """Reads runs and qrels, and matches them.

        Args:
            runs: see :func:`~pyterrier_asl.evaluate`; or an Evaluation, whose runs are matched
                again if the qrels are other ones.
            qrels: frame, file, ir_datasets id, Qrels, or Judgements; None: the Evaluation has
                them.

        Raises:
            ValueError: if there are no runs, a run cannot be matched with these queries, or an
                Evaluation has been matched in another way than Qrels say.

        >>> runs = Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> runs.values("RR").tolist()
        [[1.0]]
        """
        unread = cls.unread(runs, qrels)
        return unread if isinstance(runs, cls) else replace(unread, sources=[*unread.matched()])

    @classmethod
    def unread(cls, runs: Any, qrels: Any) -> Evaluation:
        """Runs that are listed here, and read when they are measured; see :meth:`of`."""
        if isinstance(runs, cls):
            return runs if qrels is None else runs.judged_by(qrels)
        if qrels is None:
            raise ValueError("qrels are needed: a frame, a file, or an ir_datasets id")
        sources = named_runs(runs)
        return cls(list(sources), list(sources.values()), judgements_of(qrels), qrels)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        queries, runs = counted(len(self.qids), "query", "queries"), counted(len(self), "run")
        return f"Evaluation({runs}, {queries})"

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
        """The runs one after the other; runs read for this are not kept."""
        if self.is_matched:
            return iter(self.sources)
        return iter_judged(self.names, self.sources, self.judgements)

    # Values

    def values(self, measure: Any) -> Floats:
        """The value of every run for every query, shape (S, Q); see :meth:`columns_of`.

        Args:
            measure: a measure or its name; a rareness measure without a pool gets the pool of these
                runs, or of the runs that these were selected from.
        """
        measure = parse_measure(measure)
        return self.columns_of([NamedMeasure(str(measure), measure)])[str(measure)]

    def columns_of(self, measures: Iterable[NamedMeasure]) -> dict[str, Floats]:
        """The values of measures by their names, shape (S, Q) each, computed once per measure."""
        keys = [(named.name, str(named.measure), named.measure) for named in measures]
        for _, key, measure in keys:
            if key not in self._values:
                self._values[key] = (
                    self._pooled_values(measure)
                    if needs_pool(measure)
                    else np.array([values_of([measure], run)[0] for run in self.runs])
                )
        return {name: self._values[key] for name, key, _ in keys}

    def _pooled_values(self, measure: Any) -> Floats:
        """The values of a rareness measure without a pool, shape (S, Q)."""
        if self.whole is None:
            return self.once(Pools.of_runs, measure).values()
        return self.whole.values(measure)[[self.whole.row(name) for name in self.names]]

    @property
    def columns(self) -> dict[str, Floats]:
        """The values of :attr:`measures` by their names, shape (S, Q) each."""
        return self.columns_of(self.measures)

    @cached_property
    def means(self) -> dict[str, Floats]:
        """The mean of each run by each of :attr:`measures`, shape (S,); a count is added up."""
        return {
            name: values.sum(axis=1) if added_up(named.measure) else values.mean(axis=1)
            for named, (name, values) in zip(self.measures, self.columns.items())
        }

    def frame(self) -> pd.DataFrame:
        """The values of :attr:`measures`, as :func:`~pyterrier_asl.evaluate` returns them."""
        return self.frame_of(self.columns)

    def frame_of(self, columns: Mapping[str, Floats]) -> pd.DataFrame:
        """A frame with ``name``, ``qid``, and these columns of values, shape (S, Q) each."""
        frame = pd.DataFrame({column: values.ravel() for column, values in columns.items()})
        frame.insert(0, "name", np.repeat(np.array(self.names, dtype=object), len(self.qids)))
        frame.insert(1, "qid", self.qids * len(self))
        return frame

    def reciprocal_ranks(
        self, rel: float = 1, cutoff: int | None = None, judged_only: bool = False
    ) -> Floats:
        """RR_i of every relevant document in every run, shape (S, number of relevant documents)."""
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
        """The same runs with the values of measures; the rows of the runs are not kept.

        Args:
            measures: the measures.
            jobs: see :func:`~pyterrier_asl.evaluate`.
            backend: see :func:`~pyterrier_asl.evaluate`.
            progress: see :func:`~pyterrier_asl.evaluate`.
            keep_going: whether a run that cannot be measured is left out; see :attr:`failures`.

        Raises:
            ValueError: for a run that cannot be measured, with its name; with ``keep_going`` if no
                run can be measured.
            OSError: without ``keep_going`` for a file that cannot be read.
        """
        check_jobs(jobs)
        if backend not in BACKENDS:
            raise ValueError(
                f"backend {backend!r} cannot measure runs: use one of "
                f"{', '.join(map(repr, BACKENDS))}"
            )
        if self.is_matched:
            return replace(self, measures=measures)
        by_label = {measure.name: measure.measure for measure in measures}
        sources = dict(zip(self.names, self.sources))
        measuring = Measuring(self.judgements, by_label)
        done, failures = [], {}
        is_here = backend == "loky" and (jobs == 1 or len(self) == 1)
        with closing(
            measuring.runs(sources) if is_here else measure_runs(measuring, sources, jobs, backend)
        ) as runs:
            for run in progress_bar(runs, total=len(self), desc="runs", unit="run", shown=progress):
                if run.error is None:
                    done.append(run)
                elif keep_going:
                    path, reason = str(sources[run.name]), str(run.error)
                    failures[run.name] = reason if path in reason else f"{path}: {reason}"
                elif isinstance(run.error, ValueError):
                    raise ValueError(f"run {run.name!r}: {run.error}") from run.error
                else:
                    raise run.error
        if not done:
            raise ValueError(next(iter(failures.values())))
        return replace(
            self.select(run.name for run in done),
            whole=None,
            measures=measures,
            measured_facts=[run.facts for run in done],
            failures=failures,
            _values={str(by_label[label]): v for label, v in measuring.join(done).items()},
        )

    @cached_property
    def higher_is_better(self) -> dict[str, bool | None]:
        """By name, whether higher values of each of :attr:`measures` are better; None: neither."""
        return {measure.name: measure.higher_is_better for measure in self.measures}

    def facts(self, measures: Mapping[str, Any] | None = None) -> Facts:
        """What must be known of the runs and the qrels.

        Args:
            measures: measures by name; None: :attr:`measures`.
        """
        if measures is None:
            measures = {named.name: named.measure for named in self.measures}
        of_runs = list(self.measured_facts)
        if not of_runs:
            columns = self.columns_of([NamedMeasure(*item) for item in measures.items()])
            values = [[column[row] for column in columns.values()] for row in range(len(self))]
            of_runs = [RunFacts.of(run, measures, of) for run, of in zip(self.runs, values)]
        return Facts(dict(zip(self.names, of_runs)), self.judgements, measures)

    @property
    def notes(self) -> list[str]:
        """Sentences on what must be known of the runs and the qrels."""
        return self.facts().notes

    # Some of the runs, or the same runs with other qrels

    def row(self, name: str) -> int:
        """The row of a run.

        Raises:
            ValueError: for the name of another run.
        """
        if name not in self.names:
            raise ValueError(f"there is no run {name!r}; there are {self.names}")
        return self.names.index(name)

    def select(self, names: Iterable[str]) -> Evaluation:
        """Some of the runs, in this order; a document is rare among the same runs as before.

        Raises:
            ValueError: for the name of another run.
        """
        rows = [self.row(name) for name in names]
        return Evaluation(
            [self.names[row] for row in rows],
            [self.sources[row] for row in rows],
            self.judgements,
            self.source,
            whole=self.whole or self,
            _values={key: of_all[rows] for key, of_all in self._values.items()},
        )

    def judged_by(self, qrels: Any) -> Evaluation:
        """The same runs, matched with other qrels in the same way; no file is read again.

        Raises:
            ValueError: for Qrels that match runs in another way.
        """
        self.check_matching(matching_of(qrels))
        if self.has_been_matched_with(qrels):
            return self
        if self.whole is not None:
            return self.whole.judged_by(qrels).select(self.names)
        judgements = judgements_of(qrels).with_matching(self.judgements.matching)
        return Evaluation(
            self.names, [*iter_judged(self.names, self.runs, judgements)], judgements, qrels
        )

    def check_matching(self, matching: Mapping[str, Any]) -> None:
        """Raises ValueError for settings with which the runs have not been matched."""
        own = self.judgements.matching
        for name, value in matching.items():
            if value != own[name]:
                raise ValueError(
                    f"{name}={value!r} of the qrels comes too late: these runs have been matched "
                    f"with {name}={own[name]!r}; leave it out, or give the runs themselves"
                )

    def has_been_matched_with(self, qrels: Any) -> bool:
        """Whether the runs have been matched with these qrels, the same object."""
        return qrels is self.source or qrels is self.judgements

    def with_pool(
        self,
        measures: Mapping[str, Any],
        groups: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The measures, with the pool of these runs for the rareness measures without a pool.

        It is the pool of :meth:`values`, which need it only for the gains of unjudged documents.

        Args:
            measures: measures by name.
            groups: run -> group; see :class:`~pyterrier_asl.RarenessPool`.
        """
        pooled = {label: measure for label, measure in measures.items() if needs_pool(measure)}
        if not pooled:
            return dict(measures)
        depths = [measure["depth"] or measure["cutoff"] for measure in pooled.values()]
        depth, whole = None if None in depths else max(depths), self.whole or self
        pool = RarenessPool.from_runs(
            dict(zip(whole.names, whole.runs)), depth=depth, groups=groups, name="runs"
        )
        return dict(measures) | {
            label: measure(pool=pool, member=measure["member"] is not False)
            for label, measure in pooled.items()
        }


#: Runs in calls: by name, in a folder or files, or an Evaluation; or the runs of tracks.
Runs: TypeAlias = "Evaluation | Mapping[str, Any] | Iterable[StrPath] | StrPath"
if not TYPE_CHECKING:  # documentation looks the names up in the module of a function
    Runs = ForwardRef(Runs, module=__name__)
