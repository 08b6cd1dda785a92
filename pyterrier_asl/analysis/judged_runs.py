"""Many runs met with one set of judgements: what every analysis starts from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd
from tqdm.auto import tqdm

from .. import acceleration
from ..evaluation import frame_of, judgements_of, matrix, measure_columns
from ..io import iter_run_tables, read_run_table
from ..judging import JudgedRun, Judgements
from ..scoring.lexicographic import reciprocal_ranks

Floats = npt.NDArray[np.float64]

#: From how many runs on a progress bar is shown.
_MANY = 20


@dataclass(frozen=True)
class JudgedRuns:
    """S runs, each met with the same judgements of Q queries, once.

    Attributes:
        names: the names of the runs, S of them.
        runs: the runs, in the same order.
        judgements: what they were met with.
        source: what the judgements were made from.
    """

    names: list[str]
    runs: list[JudgedRun]
    judgements: Judgements
    source: Any = None
    _values: dict[tuple[str, str], Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, runs: Any, qrels: Any = None) -> JudgedRuns:
        """Reads runs and qrels, wherever they are, and meets them.

        Args:
            runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns, which
                are met anew only with other qrels than they have been met with.
            qrels: frame, file, ir_datasets id, or Judgements; None: those of JudgedRuns.

        Raises:
            ValueError: where there are no runs, or one that cannot be an answer to these queries.

        >>> runs = JudgedRuns.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> runs.values(ir_measures.RR).tolist()
        [[1.0]]
        """
        if isinstance(runs, cls):
            return runs if qrels is None or runs._met_with(qrels) else runs.judged_by(qrels)
        if qrels is None:
            raise ValueError("qrels are needed: a frame, a file, or an ir_datasets id")
        source: Iterable[tuple[Any, Any]] = (
            runs.items() if isinstance(runs, Mapping) else iter_run_tables(runs)
        )
        total = len(runs) if isinstance(runs, (Mapping, list, tuple)) else None
        return cls._meet(source, qrels, total)

    @classmethod
    def _meet(
        cls, source: Iterable[tuple[Any, Any]], qrels: Any, total: int | None
    ) -> JudgedRuns:
        judgements = judgements_of(qrels)
        names, judged = [], []
        few = total is not None and total < _MANY
        for name, run in tqdm(source, total=total, desc="runs", disable=few or None, leave=False):
            names.append(str(name))
            judged.append(_judge(judgements, str(name), run))
        if not names:
            raise ValueError("an analysis needs at least one run")
        return cls(names, judged, judgements, qrels)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def qids(self) -> list[Any]:
        """The query ids, Q of them."""
        return self.judgements.qids

    def values(self, measure: Any) -> Floats:
        """The value of every run for every query, shape (S, Q), computed once a measure."""
        measure = ir_measures.parse_measure(measure)
        key = _key(measure)
        if key not in self._values:
            self._values[key] = np.array([_values(measure, run) for run in self.runs])
        return self._values[key]

    def evaluation(self, measures: Iterable[Any]) -> pd.DataFrame:
        """The values of measures as one frame, as :func:`~pyterrier_asl.evaluate` gives it.

        >>> JudgedRuns.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}}).evaluation(["RR"])
          name qid   RR
        0    a   q  1.0
        """
        return frame_of(self.names, self.qids, {str(m): self.values(m) for m in measures})

    def with_evaluation(self, evaluation: pd.DataFrame) -> JudgedRuns:
        """The same runs, with values that have been computed before and perhaps saved.

        Args:
            evaluation: what :meth:`evaluation`, :func:`~pyterrier_asl.evaluate` or
                :func:`~pyterrier_asl.evaluation.load_evaluation` gave of these runs and queries;
                columns are called as ir_measures calls their measures.

        Raises:
            ValueError: where it is of other runs or queries.

        >>> runs = JudgedRuns.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> runs.with_evaluation(runs.evaluation(["RR"])).values("RR").tolist()
        [[1.0]]
        """
        known = dict(self._values)
        for column in measure_columns(evaluation):
            values = matrix(evaluation, column)
            for what, ours, theirs in (
                ("runs", self.names, list(values.index)), ("queries", self.qids, list(values))
            ):  # fmt: skip
                if sorted(map(str, ours)) != sorted(map(str, theirs)):
                    raise ValueError(f"the evaluation is of other {what}: {theirs}, not {ours}")
            values.columns = values.columns.map(str)
            ordered = values.loc[self.names, [str(qid) for qid in self.qids]]
            known[_key(ir_measures.parse_measure(column))] = ordered.to_numpy()
        return replace(self, _values=known)

    def reciprocal_ranks(self, rel: float = 1, cutoff: int | None = None) -> Floats:
        """RR_i of every relevant document in every run, shape (S, relevant documents in all)."""
        found = (run.view(cutoff).relevant(rel) for run in self.runs)
        return np.array([reciprocal_ranks(r.ranks, r.offsets, r.total) for r in found])

    def row(self, name: str) -> int:
        """The row of a run.

        Raises:
            ValueError: for a run that is not there.
        """
        if name not in self.names:
            raise ValueError(f"there is no run {name!r}; there are {self.names}")
        return self.names.index(name)

    def select(self, names: Iterable[str]) -> JudgedRuns:
        """Some of the runs, in this order.

        Raises:
            ValueError: for a run that is not there.
        """
        names = list(names)
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise ValueError(f"there are no runs {unknown}; there are {self.names}")
        rows = [self.names.index(name) for name in names]
        values = {key: known[rows] for key, known in self._values.items()}
        runs = [self.runs[row] for row in rows]
        return JudgedRuns(names, runs, self.judgements, self.source, values)

    def judged_by(self, qrels: Any) -> JudgedRuns:
        """The same runs, met with other qrels; nothing is read again."""
        return self._meet(zip(self.names, self.runs), qrels, len(self))

    def _met_with(self, qrels: Any) -> bool:
        if qrels is self.source or qrels is self.judgements:
            return True
        return _is_named(qrels) and _is_named(self.source) and str(qrels) == str(self.source)


def _key(measure: Any) -> tuple[str, str]:
    return type(measure).__module__, str(measure)


def tracks(runs: Any, qrels: Any = None) -> dict[str, JudgedRuns]:
    """One track or several, by name.

    Args:
        runs: the runs of one track, as :meth:`JudgedRuns.of` takes them; or, without qrels, a dict
            of track -> JudgedRuns or (runs, qrels).
        qrels: the judgements of the one track.

    >>> list(tracks({"toy": ({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})}))
    ['toy']
    """
    if qrels is None and isinstance(runs, Mapping):
        several = {}
        for name, track in runs.items():
            pair = track if isinstance(track, tuple) else (track,)
            if not isinstance(track, JudgedRuns) and len(pair) != 2:
                raise ValueError(
                    f"track {name!r} is a {type(track).__name__}: without qrels, pass a dict of "
                    "track -> (runs, qrels)"
                )
            several[str(name)] = JudgedRuns.of(*pair)
        return several
    return {"": JudgedRuns.of(runs, qrels)}


def per_track(
    analyse: Callable[[str, JudgedRuns], pd.DataFrame],
    runs: Any,
    qrels: Any = None,
    **of_one_track: Any,
) -> pd.DataFrame:
    """One frame of what ``analyse`` says about each track; its first column is ``track``.

    Args:
        analyse: the frame of a track, by its name ('' for the one that has none).
        runs: as of :func:`tracks`.
        qrels: likewise.
        **of_one_track: what is about the queries of one track, such as weights; None: not given.

    Raises:
        ValueError: where something of one track is given for several.

    >>> track = ({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
    >>> per_track(lambda _, judged: pd.DataFrame({"runs": [len(judged)]}), {"toy": track})
      track  runs
    0   toy     1
    """
    several = tracks(runs, qrels)
    given = [name for name, value in of_one_track.items() if value is not None]
    if len(several) > 1 and given:
        raise ValueError(
            f"{', '.join(given)} can be given for the queries of one track, and there are "
            f"{len(several)}: call it for each"
        )
    parts = []
    for name, judged in several.items():
        part = analyse(name, judged)
        part.insert(0, "track", name)
        parts.append(part)
    whole = pd.concat(parts, ignore_index=True)
    whole.attrs = parts[0].attrs
    return whole


def _is_named(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def _judge(judgements: Judgements, name: str, run: Any) -> JudgedRun:
    if isinstance(run, JudgedRun):
        run = run.table
    elif _is_named(run):
        run = read_run_table(run)
    try:
        return judgements.judge_whole(run)
    except ValueError as error:
        raise ValueError(f"run {name!r}: {error}") from None


def _values(measure: Any, run: JudgedRun) -> Floats:
    """A measure's values from a judged run: our own computation, or else ir_measures'."""
    if acceleration.supports(measure):
        return acceleration.values(measure, run)
    qrels, ranking = _as_frames(run)
    found = {m.query_id: m.value for m in measure.iter_calc(qrels, ranking)}
    return np.array([found.get(qid, 0.0) for qid in run.judgements.qid_text.to_pylist()])


def _as_frames(run: JudgedRun) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Qrels and ranking for ir_measures, the order of the ranking in the scores."""
    judgements, ranking = run.judgements, run.whole_ranking
    if np.any(judgements.grades % 1):
        raise ValueError(
            "ir_measures takes whole grades only, and these have fractions: use a measure of this "
            "package, or round the grades"
        )
    qids = np.array(judgements.qid_text.to_pylist(), dtype=object)
    queries = np.repeat(np.arange(len(qids)), np.diff(ranking.offsets))
    places = np.arange(len(queries)) - ranking.offsets[queries]
    qrels = pd.DataFrame(
        {
            "query_id": qids[judgements.queries],
            "doc_id": judgements.docnos.to_pandas(),
            "relevance": judgements.grades.astype(int),
        }
    )
    frame = pd.DataFrame(
        {
            "query_id": qids[queries],
            "doc_id": run.docnos(ranking).to_pandas(),
            "score": -places.astype(float),
        }
    )
    return qrels, frame
