"""Many runs met with one set of judgements: what every analysis starts from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from ..io import iter_run_tables, read_qrels_table
from ..judging import JudgedRun, Judgements
from ..measures import PluginMeasure
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
    """

    names: list[str]
    runs: list[JudgedRun]
    judgements: Judgements
    _values: dict[tuple[str, str], Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, runs: Any, qrels: Any) -> JudgedRuns:
        """Reads runs and qrels, wherever they are, and meets them.

        Args:
            runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
            qrels: frame, file, or ir_datasets id.

        Raises:
            ValueError: where there are no runs, or one that cannot be an answer to these queries.

        >>> runs = JudgedRuns.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> runs.values(ir_measures.RR).tolist()
        [[1.0]]
        """
        if isinstance(runs, cls):
            return runs
        judgements = Judgements(read_qrels_table(qrels) if _is_named(qrels) else qrels)
        source = runs.items() if isinstance(runs, dict) else iter_run_tables(runs)
        total = len(runs) if isinstance(runs, (dict, list, tuple)) else None
        names, judged = [], []
        few = total is not None and total < _MANY
        for name, run in tqdm(source, total=total, desc="runs", disable=few, leave=False):
            names.append(str(name))
            judged.append(_judge(judgements, str(name), run))
        if not names:
            raise ValueError("an analysis needs at least one run")
        return cls(names, judged, judgements)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def qids(self) -> list[Any]:
        """The query ids, Q of them."""
        return self.judgements.qids

    def values(self, measure: Any) -> Floats:
        """The value of every run for every query, shape (S, Q), computed once a measure."""
        measure = ir_measures.parse_measure(measure)
        key = (type(measure).__module__, str(measure))
        if key not in self._values:
            self._values[key] = np.array([_values(measure, run) for run in self.runs])
        return self._values[key]

    def reciprocal_ranks(self, rel: float = 1, cutoff: int | None = None) -> Floats:
        """RR_i of every relevant document in every run, shape (S, relevant documents in all)."""
        found = (run.view(cutoff).relevant(rel) for run in self.runs)
        return np.array([reciprocal_ranks(r.ranks, r.offsets, r.total) for r in found])

    def select(self, names: Iterable[str]) -> JudgedRuns:
        """Some of the runs, in this order.

        Raises:
            ValueError: for a run that is not there.
        """
        names = list(names)
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise ValueError(f"there are no runs {unknown}; there are {self.names}")
        runs = [self.runs[self.names.index(name)] for name in names]
        return JudgedRuns(names, runs, self.judgements)


def _is_named(qrels: Any) -> bool:
    return isinstance(qrels, str) or hasattr(qrels, "__fspath__")


def _judge(judgements: Judgements, name: str, run: Any) -> JudgedRun:
    if _is_named(run):
        from ..io import read_run_table

        run = read_run_table(run)
    try:
        return judgements.judge_whole(run)
    except ValueError as error:
        raise ValueError(f"run {name!r}: {error}") from None


def _values(measure: Any, run: JudgedRun) -> Floats:
    """A measure's values from a judged run: ours, or a standard one through ir_measures."""
    if isinstance(measure, PluginMeasure):
        return measure.values(run)
    qrels, ranking = _as_frames(run)
    found = {m.query_id: m.value for m in measure.iter_calc(qrels, ranking)}
    return np.array([found.get(qid, 0.0) for qid in run.judgements.qid_text.to_pylist()])


def _as_frames(run: JudgedRun) -> tuple[Any, Any]:
    """Qrels and ranking for ir_measures, the order of the ranking in the scores."""
    import pandas as pd

    judgements, ranking = run.judgements, run.whole_ranking
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
            "doc_id": run.docnos(ranking.rows).to_pandas(),
            "score": -places.astype(float),
        }
    )
    return qrels, frame
