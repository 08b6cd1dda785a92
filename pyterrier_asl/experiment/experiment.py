"""pt.Experiment with directions of measures, automatic pools and lexicographic preferences.

``pt.Experiment`` runs the systems, saves them and scores them. The rest is computed here from the
per-query values that it returns, and, where a measure needs all systems at once, from the results
themselves, which are recorded at the end of each pipeline.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyterrier as pt
from ir_measures import Measure

from .arguments import (
    baseline_numbers,
    check_correction,
    columns_of,
    named_systems,
    read_frame,
    test_of,
)
from .recorder import Saving
from .results import (
    averages,
    directions,
    highlighted,
    means_by_name,
    per_query,
    read_summaries,
    write_summaries,
)
from .trial import ExperimentValues, Trial, score


class Results(NamedTuple):
    """Results of an experiment with ``perquery='both'``."""

    averages: Any
    perquery: Any

    def _repr_html_(self) -> str:
        return "".join(str(part._repr_html_()) for part in self if hasattr(part, "_repr_html_"))


def Experiment(
    retr_systems: Sequence[Any] | Mapping[str, Any],
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[str | Measure],
    names: Sequence[str] | None = None,
    perquery: bool | str = False,
    dataframe: bool = True,
    batch_size: int | None = None,
    filter_by_qrels: bool = False,
    filter_by_topics: bool = True,
    baseline: int | str | Sequence[int | str] | None = None,
    test: Any = "t",
    correction: str | None = None,
    correction_alpha: float = 0.05,
    highlight: str | None = None,
    round: int | Mapping[str, int] | None = None,
    verbose: Any = "auto",
    validate: str = "warn",
    save_dir: str | os.PathLike[str] | None = None,
    save_mode: str = "warn",
    save_format: Any = "trec",
    bounds: bool = False,
    ranks: bool = False,
    **options: Any,
) -> Any:
    """``pt.Experiment`` with the direction of each measure; arguments and results are the same.

    * ``+``, ``-`` and ``highlight`` follow the direction of each measure: less ASL is better.
    * A rareness measure without a pool gets the pool of the experiment's own systems, each of which
      runs once.
    * With a baseline, ``'sgnLP'`` and ``'rrLP'`` (also ``'rrLP(rel=2)@100'``) can be asked for as
      measures: the mean preference over it, the queries won and lost, and the p-value of a sign
      test and of a t-test. Without ``rel`` they take that of the measures beside them, where all
      of these have one and the same.
    * ``baseline`` may be a list; its columns then say ``vs`` whom. Per-query values can be had
      together with a baseline.
    * A measure may be any text that PyTerrier (``'map'``) or ir_measures (``'ASL@1000'``)
      understands; columns are called, and stand, as they were asked for.
    * A system without judged documents is an error, as are scores that are no numbers.
    * With ``perquery='both'`` topics without judgements do not make the averages NaN.

    Args:
        retr_systems: list of transformers or results, or dict of them by name.
        topics: frame with ``qid`` and ``query``, or a file.
        qrels: frame with ``qid``, ``docno``, ``label``, or a file.
        eval_metrics: measures, or names of measures.
        names: names of the systems in a list.
        perquery: False: means; True: a value for every query; ``'both'``.
        dataframe: whether to return frames, else dicts.
        batch_size: how many topics are run at a time.
        filter_by_qrels: drop topics that are not in the qrels.
        filter_by_topics: drop qrels that are not in the topics.
        baseline: number of a system, or its name, or a list of them.
        test: ``'t'``, ``'wilcoxon'``, or a function as ``scipy.stats.ttest_rel``.
        correction: how p-values are corrected: ``'holm'``, ``'bonferroni'``, ``'bh'``, ``'none'``,
            or the name of another method of statsmodels; None: ``'none'``.
        correction_alpha: the family-wise error rate.
        highlight: ``'bold'`` or ``'color'`` marks the best value of each column.
        round: decimal places, of all means or by measure.
        verbose: whether progress is shown.
        validate: ``'warn'``, ``'error'`` or ``'ignore'``: pipelines that cannot work.
        save_dir: a folder for the results, and for two summaries of the values as CSV.
        save_mode: ``'reuse'``, ``'overwrite'``, ``'error'`` or ``'warn'``.
        save_format: ``'trec'``, a module such as pickle, or a pair of functions.
        bounds: also the bounds of each mean over the labels of the systems' unjudged documents:
            columns ``low`` and ``high`` of each measure (see :func:`~pyterrier_asl.bounds`).
        ranks: also the best and the worst rank that each system could have by each measure:
            columns ``rank low`` and ``rank high`` of each (see :func:`~pyterrier_asl.ranks`), and
            ``*`` where a system with the best mean is better, by p corrected for all pairs.
        **options: further options of ``pt.Experiment``, such as ``plan='tree'``.

    Returns:
        A frame; a dict (``dataframe=False``); a Styler (``highlight``); or, with
        ``perquery='both'``, averages and per-query values as a tuple.

    Raises:
        ValueError: for a measure, baseline or option that does not exist, and for results that
            cannot be scored, naming the system.

    Warns:
        UserWarning: of a pool of fewer than 8 systems; of ``ASL(missing='after')`` or ``'eq3'``
            over systems that retrieve different numbers of documents.

    >>> import pandas as pd
    >>> topics = pd.DataFrame({"qid": ["1", "2"], "query": ["chess", "go"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "a"], "label": [1, 1]})
    >>> def results(*docnos):
    ...     return pd.DataFrame({"qid": ["1", "1", "2", "2"], "docno": docnos, "score": [2, 1] * 2})
    >>> systems = {"first": results("a", "b", "b", "a"), "second": results("a", "b", "a", "b")}
    >>> table = Experiment(systems, topics, qrels, ["ASL@10", "rrLP"], baseline="first")
    >>> print(table.drop(columns=["ASL@10 p-value", "rrLP p-value"]).to_string(index=False))
      name  ASL@10  rrLP  ASL@10 +  ASL@10 -  rrLP +  rrLP -
     first     1.5  0.00       NaN       NaN     NaN     NaN
    second     1.0  0.25       1.0       0.0     1.0     0.0
    """
    names, systems = named_systems(retr_systems, names)
    baselines = baseline_numbers(baseline, names)
    columns, mrt = columns_of(eval_metrics, baselines, names)
    check_options(perquery, correction, baselines, highlight, round, batch_size)
    check_correction(correction, correction_alpha)
    correction = None if correction == "none" else correction
    test_function = test_of(test)
    if verbose != "auto":  # which PyTerrier 1.0 does not have
        options["verbose"] = verbose
    trial = Trial(
        names=names,
        topics=read_frame(topics, pt.io.read_topics),
        qrels=read_frame(qrels, pt.io.read_qrels),
        filters={"filter_by_qrels": filter_by_qrels, "filter_by_topics": filter_by_topics},
        saving=Saving(save_dir, save_mode, save_format, options.get("plan")),
        running={"batch_size": batch_size, "test": test, "validate": validate, **options},
        quiet=perquery is False,
    )
    trial.check_test(columns, baselines)
    before = read_summaries(save_dir)
    scored = score(trial, systems, columns, mrt=mrt and perquery is False, bounds=bounds)
    table = partial(
        averages, scored, baselines, test_function, correction, correction_alpha, round, ranks
    )
    if save_dir is not None:
        write_summaries(Path(save_dir), before, table(), per_query(scored, round))
    if not dataframe:
        return _as_dicts(scored, perquery)
    if perquery is True:
        return per_query(scored, round)
    shown: Any = table()
    if highlight is not None:
        shown = highlighted(shown, highlight, directions(scored, baselines))
    return Results(shown, per_query(scored, round)) if perquery else shown


def _as_dicts(scored: ExperimentValues, perquery: bool | str) -> Any:
    """Means by system, values by query, or both, as ``dataframe=False`` asks for them."""
    if perquery is True:
        return scored.scores
    means = means_by_name(scored)
    return (means, scored.scores) if perquery else means


def check_options(
    perquery: bool | str,
    correction: str | None,
    baselines: list[int],
    highlight: str | None,
    round: int | Mapping[str, int] | None,
    batch_size: int | None,
) -> None:
    """Raises ValueError for an invalid option, or options that do not fit together."""
    if perquery not in (False, True, "both"):
        raise ValueError(f"perquery must be False, True or 'both', not {perquery!r}")
    if correction not in (None, "none") and not baselines:
        raise ValueError("correction needs something to correct: say baseline=")
    whole = isinstance(batch_size, (int, np.integer)) and not isinstance(batch_size, bool)
    if batch_size is not None and not (whole and batch_size > 0):
        raise ValueError(f"batch_size must be 1, 2, 3, ..., or None for all, not {batch_size!r}")
    if highlight not in (None, "bold", "color", "colour"):
        raise ValueError(f"highlight must be 'bold' or 'color', not {highlight!r}")
    places = round.values() if isinstance(round, Mapping) else [] if round is None else [round]
    if any(not isinstance(n, (int, np.integer)) or n < 0 for n in places):
        raise ValueError(f"round must be decimal places from 0 on, or a dict of them, not {round}")
