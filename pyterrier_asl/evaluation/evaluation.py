"""Many runs matched with one set of judgements: what every analysis starts from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ForwardRef, TypeAlias

import numpy as np

from ..io.files import StrPath
from ..io.lazy import pd
from ..io.progress import progress_bar
from ..io.runs import iter_runs, list_runs
from ..judging.judged_run import CONSTANT_SCORES, JudgedRun
from ..judging.judgements import Judgements
from ..judging.remembered import Remembering
from ..measures.names import needs_pool, parse_measure
from ..scoring.arrays import Floats
from ..scoring.lexicographic import reciprocal_ranks
from .frames import frame_of, matrix, measure_columns
from .notes import own_ids_note, tie_note
from .providers import values_of
from .rareness_values import RarenessValues

#: Runs as callers give them: by name, in a folder or files, or matched before; or of tracks.
Runs: TypeAlias = "Evaluation | Mapping[str, Any] | Iterable[StrPath] | StrPath"
#: Judgements as callers give them: read, a frame, dicts, a file, or an ir_datasets id.
Qrels: TypeAlias = "Judgements | pd.DataFrame | Mapping[Any, Any] | Iterable[Any] | StrPath"
if not TYPE_CHECKING:  # documentation looks their names up in the module of a function
    Runs, Qrels = (ForwardRef(alias, module=__name__) for alias in (Runs, Qrels))

#: From how many runs on a progress bar is shown.
_MANY = 20


@dataclass(frozen=True)
class Evaluation(Remembering):
    """S runs, each matched with the same judgements of Q queries, once.

    Attributes:
        names: the names of the runs, S of them.
        runs: the runs, in the same order.
        judgements: what they were matched with.
        source: what the judgements were made from.
    """

    names: list[str]
    runs: list[JudgedRun]
    judgements: Judgements
    source: Any = None
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
            runs: dict of name -> run, folder of run files, or list of them; or Evaluation, which
                are matched again only with other qrels than they have been matched with.
            qrels: frame, file, ir_datasets id, or Judgements; None: those of Evaluation.
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
        sources = list_runs(runs)
        judgements = Judgements.of(qrels, duplicates, drop_self)
        judged = dict(iter_judged(sources, judgements))
        return cls(list(judged), list(judged.values()), judgements, qrels)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def qids(self) -> list[Any]:
        """The query ids, Q of them."""
        return self.judgements.qids

    def values(self, measure: Any) -> Floats:
        """The value of every run for every query, shape (S, Q), computed once a measure.

        Args:
            measure: a measure or its name; a rareness measure without a pool gets that of the runs.
        """
        measure = parse_measure(measure)
        key = _key(measure)
        if key not in self._values:
            self._values[key] = (
                self.once(RarenessValues.of, measure).of_pool()
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

    def evaluation(self, measures: Iterable[Any]) -> pd.DataFrame:
        """The values of measures as one frame, as :func:`~pyterrier_asl.evaluate` gives it.

        >>> Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}}).evaluation(["RR"])
          name qid   RR
        0    a   q  1.0
        """
        return frame_of(self.names, self.qids, {str(m): self.values(m) for m in measures})

    def with_evaluation(self, evaluation: pd.DataFrame) -> Evaluation:
        """The same runs, with values that have been computed before and perhaps saved.

        Args:
            evaluation: what :meth:`evaluation`, :func:`~pyterrier_asl.evaluate` or
                :func:`~pyterrier_asl.evaluation.frames.load_evaluation` gave of these runs and
                queries; columns are called as ir_measures calls their measures.

        Raises:
            ValueError: where it is of other runs or queries.

        >>> runs = Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> runs.with_evaluation(runs.evaluation(["RR"])).values("RR").tolist()
        [[1.0]]
        """
        by_measure = dict(self._values)
        for column in measure_columns(evaluation):
            values = matrix(evaluation, column)
            for what, ours, theirs in (
                ("runs", self.names, list(values.index)),
                ("queries", self.qids, list(values)),
            ):
                if sorted(map(str, ours)) != sorted(map(str, theirs)):
                    raise ValueError(f"the evaluation is of other {what}: {theirs}, not {ours}")
            ordered = values.rename(columns=str).loc[self.names, list(map(str, self.qids))]
            by_measure[_key(parse_measure(column))] = ordered.to_numpy()
        return replace(self, _values=by_measure)

    def reciprocal_ranks(
        self, rel: float = 1, cutoff: int | None = None, judged_only: bool = False
    ) -> Floats:
        """RR_i of every relevant document in every run, shape (S, relevant documents in all)."""
        relevant = (run.view(cutoff, judged_only).relevant(rel) for run in self.runs)
        return np.array([reciprocal_ranks(r.ranks, r.offsets, r.total) for r in relevant])

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
        runs = [self.runs[row] for row in rows]
        return Evaluation(names, runs, self.judgements, self.source, values)

    def judged_by(self, qrels: Any) -> Evaluation:
        """The same runs, matched with other qrels; nothing is read again."""
        of_runs = self.judgements
        judgements = Judgements.of(qrels, of_runs.duplicates, of_runs.drop_self)
        tables = {name: run.table for name, run in zip(self.names, self.runs)}
        judged = dict(iter_judged(tables, judgements))
        return Evaluation(self.names, list(judged.values()), judgements, qrels)

    def has_been_matched_with(self, qrels: Any) -> bool:
        """Whether the runs were matched with these qrels: the same object or file."""
        if qrels is self.source or qrels is self.judgements:
            return True
        are_files = all(isinstance(path, (str, os.PathLike)) for path in (qrels, self.source))
        return are_files and str(qrels) == str(self.source)


def _key(measure: Any) -> tuple[str, str]:
    return type(measure).__module__, str(measure)


def tracks(
    runs: Any, qrels: Any = None, duplicates: str | None = None, drop_self: bool = False
) -> dict[str, Evaluation]:
    """One track or several, by name.

    Args:
        runs: the runs of one track, as :meth:`Evaluation.of` takes them; or, without qrels, a dict
            of track -> Evaluation or (runs, qrels).
        qrels: the judgements of the one track.
        duplicates: see :func:`~pyterrier_asl.evaluate`.
        drop_self: see :func:`~pyterrier_asl.evaluate`.

    >>> list(tracks({"toy": ({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})}))
    ['toy']
    """
    if qrels is None and isinstance(runs, Mapping):
        several = {}
        for name, track in runs.items():
            pair = track if isinstance(track, tuple) else (track,)
            if not isinstance(track, Evaluation) and len(pair) != 2:
                raise ValueError(
                    f"track {name!r} is a {type(track).__name__}: without qrels, pass a dict of "
                    "track -> (runs, qrels)"
                )
            several[str(name)] = Evaluation.of(*pair, duplicates=duplicates, drop_self=drop_self)
        return several
    return {"": Evaluation.of(runs, qrels, duplicates=duplicates, drop_self=drop_self)}


def per_track(
    analyse: Callable[[str, Evaluation], pd.DataFrame],
    runs: Any,
    qrels: Any = None,
    duplicates: str | None = None,
    **of_one_track: Any,
) -> pd.DataFrame:
    """The frames that ``analyse`` gives of each track, as one; its first column is ``track``.

    Args:
        analyse: the frame of a track, by its name ('' for the one that has none).
        runs: see :func:`tracks`.
        qrels: see :func:`tracks`.
        duplicates: see :func:`~pyterrier_asl.evaluate`.
        **of_one_track: what is about the queries of one track, such as weights; None: not given.

    Raises:
        ValueError: where something of one track is given for several.

    >>> import pandas as pd
    >>> track = ({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
    >>> per_track(lambda _, judged: pd.DataFrame({"runs": [len(judged)]}), {"toy": track})
      track  runs
    0   toy     1
    """
    several = tracks(runs, qrels, duplicates)
    options = [name for name, value in of_one_track.items() if value is not None]
    if len(several) > 1 and options:
        raise ValueError(
            f"{', '.join(options)} can be given for the queries of one track, and there are "
            f"{len(several)}: call it for each"
        )
    parts = {name: analyse(name, judged) for name, judged in several.items()}
    whole = pd.concat(parts, names=["track"]).reset_index(level="track").reset_index(drop=True)
    whole.attrs = next(iter(parts.values())).attrs
    return whole


def iter_judged(
    sources: Mapping[str, Any], judgements: Judgements
) -> Iterator[tuple[str, JudgedRun]]:
    """Runs one after the other, read and matched on threads before they are needed.

    Args:
        sources: runs of any kind by name.
        judgements: what to match them with.

    Raises:
        ValueError: for a run that cannot be an answer to these queries, with its name.
    """

    def judge(name: str, run: Any) -> JudgedRun:
        try:
            return judgements.judge_whole(run.table if isinstance(run, JudgedRun) else run)
        except ValueError as error:
            raise ValueError(f"run {name!r}: {error}") from None

    judged = iter_runs(sources, then=judge)
    shown = False if len(sources) < _MANY else None
    bar = progress_bar(judged, total=len(sources), desc="runs", shown=shown, leave=False)
    for name, run in bar:
        own_ids = own_ids_note([run.own_ids], int(np.count_nonzero(run.retrieved)))
        for note in (CONSTANT_SCORES if run.has_constant_scores else "", own_ids):
            if note:
                warnings.warn(f"run {name!r}: {note}", stacklevel=3)
        yield name, run
