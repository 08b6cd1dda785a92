"""Comparison of runs with a baseline: means, tests, preferences, queries, documents that moved.

Every difference is a run's value less the baseline's, and a win is the run's. Of two runs the
baseline is A, the other B.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from ..evaluation.evaluate import tracks
from ..evaluation.evaluation import Evaluation
from ..evaluation.scores import ScoreTable
from ..evaluation.sources import FOR_SEVERAL, NOT_FOR_SCORES, QrelsLike, Runs, refuse
from ..io.files import check_file, local_path
from ..io.runs import run_name
from ..measures.parsing import Measures
from ..statistics.settings import FEWEST, check_name, check_probability
from ..statistics.tests import CORRECTIONS, PairedTest
from .conditions import parse_condition
from .differences import TESTS
from .inputs import check_inputs, of_runs, of_scores
from .result import RunComparison


def compare(
    runs: Runs,
    qrels: QrelsLike | None = None,
    measures: Measures | None = None,
    *,
    baseline: str | None = None,
    conditions: str | Iterable[str] = (),
    allow_missing: bool = False,
    test: str | None = None,
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int | None = None,
    rel: float | None = None,
    pool: Any = None,
    lengths: Any = None,
    common: bool = False,
) -> RunComparison:
    """Compares runs with a baseline: means, intervals, tests, preferences, queries, documents.

    Args:
        runs: dict of name -> run (a data frame, such as the results of a pipeline, or a file), a
            folder of run files, or several files; two at least. Without qrels a dict of
            collection -> (runs, qrels), or scores that :func:`~pyterrier_asl.read_scores` read:
            these have no preferences and documents.
        qrels: frame, file, ir_datasets id, or :class:`~pyterrier_asl.Qrels`.
        measures: measures or their names, and the preferences ``"rrLP"`` and ``"sgnLP"``. None:
            the measures of the conditions; without conditions those of
            :func:`~pyterrier_asl.measures.defaults.default_measures` and the preferences.
        baseline: the name of the baseline; None: the first run.
        conditions: one or several conditions of a guard, such as ``'nASL@1000 worse p<.05'``; see
            :func:`~pyterrier_asl.comparison.conditions.parse_condition`. A condition
            can have a measure by its name in ``measures``; other measures are added.
            :attr:`RunComparison.verdicts` holds the outcomes.
        allow_missing: whether conditions are tested where the baseline lacks queries that a run
            answers, which is an error otherwise, and whether a run may leave queries unanswered
            that the baseline answers.
        test: one of :data:`TESTS`, for pairs and two-sided; None: ``'t'``. sgnLP always has the
            sign test, and several collections have a test of their own.
        correction: of the p-values over the runs, for each measure by itself: ``'holm'``,
            ``'bonferroni'``, ``'bh'`` or ``'none'``.
        alpha: the level of significance; intervals cover 1 - alpha.
        seed: seed of the draws, of the randomization test or of several collections; None: 0.
        rel: minimum grade of a relevant document, for preferences and for measures without one.
        pool: pool of the rareness measures that name none; None: the runs themselves.
        lengths: document lengths for TBG; what ``TBG(lengths=...)`` takes.
        common: of several collections, leave out systems that any of them lacks.

    Returns:
        The comparison; over several collections the means over them, with p from random signs.

    Raises:
        ValueError: for invalid runs, qrels, measures or conditions, or an option that the input
            has no use for; with conditions also for qrels that give a document two grades for one
            query.
        OSError: for a file that cannot be read.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> old = {"q1": {"x": 3, "a": 2, "b": 1}, "q2": {"x": 2, "c": 1}}
    >>> new = {"q1": {"a": 3, "b": 2, "x": 1}, "q2": {"x": 2, "c": 1}}
    >>> compared = compare({"old": old, "new": new}, qrels, ["AP", "ASL@10"])
    >>> compared.table[["measure", "a", "b", "difference", "wins", "ties"]].round(3)
      measure      a     b  difference  wins  ties
    0      AP  0.542  0.75       0.208     1     1
    1  ASL@10  2.000  1.50      -0.500     1     1
    """
    check_name("test", test, [None, *TESTS])
    check_name("correction", correction, CORRECTIONS)
    check_probability("alpha", alpha)
    conditions = [conditions] if isinstance(conditions, str) else list(conditions)
    if not conditions:
        refuse("is for conditions", allow_missing=allow_missing)
    parsed = [parse_condition(text) for text in conditions]
    of_measures: dict[str, Any] = {"rel": rel, "pool": pool, "lengths": lengths}
    if isinstance(runs, ScoreTable):
        refuse(NOT_FOR_SCORES, qrels=qrels, **of_measures)
        several = len(runs.tracks) > 1
    else:
        several = qrels is None and isinstance(runs, Mapping)
    if several:
        refuse("is for one collection", test=test, pool=pool, lengths=lengths)
    else:
        refuse(FOR_SEVERAL, common=common)
        if test != "randomization":
            refuse("is for test='randomization'", seed=seed)
    if isinstance(runs, ScoreTable):
        inputs = of_scores(runs, measures, parsed, baseline, common)
    else:
        judged = _judged(runs, qrels, bool(conditions))
        inputs = of_runs(judged, measures, parsed, baseline, common, qrels=qrels, **of_measures)
    options = PairedTest(test or "t", correction, alpha, seed=seed)
    check_inputs(inputs, options.test)
    compared = RunComparison(inputs, options, allow_missing)
    if compared.several and compared.queries < FEWEST:
        raise ValueError(f"there are fewer than {FEWEST} topics in all: too few for a test")
    return compared


def _judged(runs: Runs, qrels: QrelsLike | None, is_guard: bool) -> dict[str, Evaluation]:
    """The matched runs of each collection.

    A guard refuses judgements that contradict each other.
    """
    with warnings.catch_warnings():
        if is_guard:
            warnings.filterwarnings("ignore", message="the qrels judge")
        judged = tracks(runs, qrels)
    wrong = [run.judgements.contradiction for run in judged.values()]
    if is_guard and any(wrong):
        raise ValueError(f"the qrels contradict themselves: {max(wrong)}; keep one of them")
    return judged


def run_files(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Path]:
    """Run files by name, or by path where two have one name.

    Raises:
        OSError: where there is no such file, or it is a folder.
        ValueError: for an empty file, and where two are one file.
    """
    files = [local_path(path) for path in paths]
    for path in files:
        check_file(path)
    for other, path in combinations(files, 2):
        if path.samefile(other):
            raise ValueError(f"{other} and {path} are one file: name two runs")
    names = [run_name(path) for path in files]
    if len(set(names)) < len(names):
        names = [str(path) for path in files]
    return dict(zip(names, files))
