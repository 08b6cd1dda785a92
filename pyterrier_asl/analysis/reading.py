"""Reads the inputs and options of an analysis, and goes through its tracks and slices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import pyarrow as pa

from ..assessment.judges import QRELS, JudgeRel, Judges, named_judges, with_reference
from ..evaluation.evaluation import Evaluation, tracks
from ..evaluation.inputs import Qrels, Runs, complete_measures, refuse, warn_of_grades
from ..evaluation.slices import Queries, Slices, Weights, per_slice
from ..io.columns import Columns
from ..io.lazy import pd
from ..io.notices import warn
from ..io.values import pc
from ..measures import ASL
from ..measures._base import check_from_0
from ..measures.names import Measures, named_measures, with_options
from ..scoring.arrays import within_query
from ..scoring.search_length import DEFAULT_DEPTH


def read(
    runs: Runs,
    qrels: Qrels | None,
    duplicates: str | None,
    rel: float | None,
    measures: Measures | None = None,
) -> tuple[Evaluation, float]:
    """Reads runs, and returns the minimum grade of a relevant document with them.

    Warns at the line that called the analysis if grades above 1 occur and no minimum is given.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation.
        qrels: frame, file, or ir_datasets id; None: the qrels of Evaluation.
        duplicates: how to treat a document that occurs twice in a ranking.
        rel: the minimum grade; None: 1.
        measures: measures or their names, which can have minimum grades.

    >>> judged, rel = read({"a": {"q": {"d": 1}}}, {"q": {"d": 1}}, None, None)
    >>> judged.names, rel
    (['a'], 1)
    """
    judged = Evaluation.of(runs, qrels, duplicates=duplicates)
    return judged, _check_rel(judged, rel, measures)


def read_tracks(
    runs: Runs,
    qrels: Qrels | None,
    duplicates: str | None,
    rel: float | None,
    measures: Measures | None = None,
) -> tuple[dict[str, Evaluation], float]:
    """Reads the runs of each track by its name, '' for the only one; the rest as :func:`read`."""
    several = tracks(runs, qrels, duplicates)
    grades = [_check_rel(judged, rel, measures) for judged in several.values()]
    return several, grades[0]


def _check_rel(judged: Evaluation, rel: float | None, measures: Measures | None) -> float:
    """The minimum grade; warns of other grades, and if no document has it."""
    warn_of_grades(judged.judgements, measures, rel)
    least, grades = 1 if rel is None else check_from_0("rel", rel), judged.judgements.grades
    if len(grades) and not (grades >= least).any():
        warn(f"no document is relevant: the highest grade is {grades.max():g}, below {least:g}")
    return least


def read_judges(
    judges: Mapping[str, Qrels],
    runs: Runs | None = None,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    *,
    duplicates: str | None = None,
    measure: Measures | None = None,
) -> Judges:
    """Reads two judges or more, and runs to measure by each; arguments as :meth:`.Judges.of`.

    Raises:
        ValueError: for fewer than two judges.
    """
    if len(named_judges(judges)) < 2:
        raise ValueError(f"comparing takes at least two judges, not {len(judges)}: give another")
    panel = Judges.of(judges, runs, rel=rel, judge_rel=judge_rel, duplicates=duplicates)
    warn_of_grades(panel.judgements, measure, rel, judge_rel)
    return panel


def read_qrels_and_judges(
    qrels: Qrels | None,
    judges: Mapping[str, Qrels] | None,
    rel: float | None,
    judge_rel: JudgeRel | None,
    *,
    runs: Runs | None = None,
    duplicates: str | None = None,
) -> Judges:
    """Reads the judge of ``qrels``, and other judges and runs if there are any."""
    judged = None if runs is None else Evaluation.of(runs, qrels, duplicates=duplicates)
    first: Any = qrels if judged is None else judged.judgements
    sources = with_reference({} if judges is None else judges, QRELS, first)
    panel = Judges.of(sources, judged, rel=1 if rel is None else rel, judge_rel=judge_rel)
    warn_of_grades(panel.judgements, None, rel, judge_rel)
    return panel


def per_track(
    analyse: Callable[[str, Evaluation], pd.DataFrame],
    several: dict[str, Evaluation],
    **of_one_track: Any,
) -> pd.DataFrame:
    """The frames that ``analyse`` gives of each track, as one; its first column is ``track``.

    Args:
        analyse: the frame of a track, by its name ('' for the one that has none).
        several: the runs of each track.
        **of_one_track: options for the queries of one track, such as weights; None: not given.

    Raises:
        ValueError: where an option of one track is given for several.

    >>> import pandas as pd
    >>> toy = {"toy": Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})}
    >>> per_track(lambda _, judged: pd.DataFrame({"runs": [len(judged)]}), toy)
      track  runs
    0   toy     1
    """
    options = [name for name, value in of_one_track.items() if value is not None]
    if len(several) > 1 and options:
        raise ValueError(
            f"{', '.join(options)} can be given for one track only, and there are {len(several)}: "
            "analyse each track separately"
        )
    parts = {name: analyse(name, judged) for name, judged in several.items()}
    whole = pd.concat(parts, names=["track"]).reset_index(level="track").reset_index(drop=True)
    whole.attrs = next(iter(parts.values())).attrs
    return whole


def per_track_and_slice(
    several: dict[str, Evaluation],
    table: Callable[[str, Evaluation, Queries], pd.DataFrame],
    weights: Weights | None,
    by: Slices | None,
) -> pd.DataFrame:
    """One frame of the tables of every track and slice, with the columns ``track`` and ``by``.

    Args:
        several: the runs of each track.
        table: the rows of a track, by its name, and of some of its queries.
        weights: see :func:`~pyterrier_asl.evaluation.slices.slices`; for one track.
        by: the slices; for one track.
    """

    def of_track(name: str, judged: Evaluation) -> pd.DataFrame:
        return per_slice(judged.qids, lambda queries: table(name, judged, queries), weights, by)

    return per_track(of_track, several, weights=weights, by=by)


def measures_with_rel(measures: Measures, rel: float | None) -> dict[str, Any]:
    """The measures by the names that the caller gave them.

    Measures without a minimum grade get ``rel``, which at least one must have.
    """
    completed = complete_measures(named_measures(measures), rel=rel)
    return {named.name: named.measure for named in completed}


def by_double_scores(runs: Evaluation) -> Evaluation:
    """Ranks runs by their scores as 64-bit numbers.

    trec_eval compares 32-bit numbers, and so do all measures here: scores that differ in the eighth
    digit only are ties, and the document id decides. Programs that read scores as Python or NumPy
    numbers order such documents by score, which changes a few of TREC-8's runs.

    Args:
        runs: runs that were judged from their rows.

    >>> run = {"q": {"a": 1.00000002, "b": 1.00000001}}
    >>> runs = Evaluation.of({"run": run}, {"q": {"a": 1}})
    >>> [judged.runs[0].ranks.tolist() for judged in (runs, by_double_scores(runs))]
    [[2], [1]]
    """
    judged = [runs.judgements.judge_whole(_rerank(run.table)) for run in runs.runs]
    return Evaluation(runs.names, judged, runs.judgements, runs.source)


def _rerank(table: Columns) -> pa.Table:
    """A run whose scores are negative positions by 64-bit scores, which 32 bits hold exactly."""
    run = pa.table({"qid": table.qid, "docno": table.docno, "score": pa.array(table.value)})
    order = [("qid", "ascending"), ("score", "descending"), ("docno", "descending")]
    run = run.take(pc.sort_indices(run, sort_keys=order))
    is_first = pc.not_equal(run["qid"][1:], run["qid"][:-1]).to_numpy()
    offsets = np.concatenate(([0], np.flatnonzero(is_first) + 1, [len(run)]))
    return run.set_column(2, "score", pa.array(-within_query(offsets).astype(np.float64)))


def refuse_published(as_published: bool, **options: Any) -> None:
    """Checks that options for which the paper made a choice are not given with ``as_published``."""
    if as_published:
        refuse("has the paper's choice with as_published", **options)


@dataclass(frozen=True)
class AslOptions:
    """Options of search lengths, and the measures that follow from them.

    Attributes:
        rel: minimum grade of a relevant document.
        cutoff: k, as in ``ASL@k``.
        missing: the rank of a document that was not retrieved, ``missing`` of ``ASL``.
        as_published: the paper's choice, ``missing='after'``.

    Raises:
        ValueError: for both ``missing`` and ``as_published``.
    """

    rel: float = 1
    cutoff: int | None = None
    missing: str = "pad"
    as_published: bool = False

    def __post_init__(self) -> None:
        """Checks the options."""
        refuse_published(self.as_published, missing=self.missing != "pad" and self.missing)

    @property
    def how(self) -> tuple[float, int | None, str]:
        """Arguments of ``relevant_documents``: grade, cut-off, rank of missing documents."""
        return self.rel, self.cutoff, "after" if self.as_published else self.missing

    @property
    def asl(self) -> Any:
        """ASL with these options."""
        rel, cutoff, missing = self.how
        return with_options(ASL(missing=missing), rel, cutoff)

    @property
    def depth(self) -> int:
        """The rank at which a search ends."""
        return DEFAULT_DEPTH if self.cutoff is None else self.cutoff

    def label(self, name: str) -> str:
        """A name of the paper's with the minimum grade, if that is not 1.

        >>> AslOptions(rel=2).label("P@20"), AslOptions(rel=2).label("AP"), AslOptions().label("AP")
        ('P(rel=2)@20', 'AP(rel=2)', 'AP')
        """
        if self.rel == 1:
            return name
        measure, at, cutoff = name.partition("@")
        return f"{measure}(rel={self.rel:g}){at}{cutoff}"

    def measures(self) -> dict[str, Any]:
        """The four measures of the paper's figures and of its Table 1, as its columns are called.

        >>> AslOptions(rel=2).measures()
        {'P@20': P(rel=2)@20, 'ASL@g1-10': ASL(rel=2,g=10), 'AP': AP(rel=2), 'ASL': ASL(rel=2)}
        """
        return {
            "P@20": with_options(ir_measures.P @ 20, self.rel),
            "ASL@g1-10": self.asl(g=10),
            "AP": with_options(ir_measures.AP, self.rel, self.cutoff),
            "ASL": self.asl,
        }
