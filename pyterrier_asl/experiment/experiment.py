"""pt.Experiment with directions of measures, automatic pools and lexicographic preferences.

``pt.Experiment`` runs the systems and saves their results. These are recorded at the end of each
pipeline, and measured as :func:`~pyterrier_asl.evaluate` does.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures import Measure

from ..common.parameters import check_name, check_names, check_probability
from ..evaluation.sources import refuse
from ..statistics.tests import CORRECTIONS
from .arguments import baseline_numbers, columns_of, named_systems, read_topics
from .recorder import Saving
from .results import (
    LATEX,
    averages,
    directions,
    highlighted,
    latex,
    means_by_name,
    per_query,
    read_summaries,
    write_summaries,
)
from .trial import Trial, score


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
    ranks: bool = False,
    **options: Any,
) -> Any:
    """``pt.Experiment`` with the direction of each measure; arguments and results are the same.

    * ``+``, ``-`` and ``highlight`` follow the direction of each measure: lower ASL is better.
    * A rareness measure without a pool uses the systems of the experiment as its pool. Each system
      runs once.
    * With a baseline, the measures can include ``'sgnLP'`` and ``'rrLP'`` (or
      ``'rrLP(rel=2)@100'``): the mean preference over the baseline, the queries won and lost, and
      the p-value of a sign test and of a t-test. Their default ``rel`` is the ``rel`` of the other
      measures, if all of these have the same.
    * ``baseline`` can be a list; the names of the columns then end in ``vs`` and the baseline.
      ``perquery='both'`` gives per-query values together with the comparison.
    * p is the p of :func:`~pyterrier_asl.compare`: 1 for systems with equal values, and NaN if the
      values differ by the same on every query.
    * A measure can be any text that PyTerrier (``'map'``) or ir_measures (``'ASL@1000'``) knows.
      The columns have the names and the order of ``eval_metrics``.
    * Values are those of :func:`~pyterrier_asl.evaluate`. A document that occurs twice in a ranking
      is counted once, at its best rank, with a warning, unless ``qrels`` are
      ``Qrels(..., duplicates='error')``.
    * A system without judged documents is an error, as are scores that are not numbers, two topics
      with one id, and options that cannot change the result, such as ``names`` with a dict.
    * With ``perquery='both'`` topics without judgements do not make the averages NaN.

    Args:
        retr_systems: list of transformers or results, or dict of them by name.
        topics: frame with ``qid`` and ``query``, or a file.
        qrels: frame with ``qid``, ``docno``, ``label``, a file, or :class:`~pyterrier_asl.Qrels`.
        eval_metrics: measures, or names of measures.
        names: names of the systems in a list.
        perquery: False: means; True: one value per query; ``'both'``.
        dataframe: whether to return frames; otherwise dicts.
        batch_size: number of topics per batch; None: all.
        filter_by_qrels: drop topics that are not in the qrels.
        filter_by_topics: drop qrels that are not in the topics.
        baseline: number of a system, or its name, or a list of them.
        test: ``'t'``, ``'wilcoxon'``, or a function like ``scipy.stats.ttest_rel``.
        correction: how p-values are corrected over the compared systems, for each measure and
            baseline: ``'holm'`` (as in :func:`~pyterrier_asl.compare`), ``'bonferroni'``,
            ``'bh'``, ``'none'``, or the name of another method of statsmodels; None: ``'none'``, as
            in ``pt.Experiment``.
        correction_alpha: the family-wise error rate.
        highlight: ``'bold'`` or ``'color'`` marks the best value of each column; ``'latex'``: a
            table of means in LaTeX, with the best ones and the significant differences from a
            single baseline.
        round: decimal places of all means, or by measure.
        verbose: whether progress is shown.
        validate: ``'warn'``, ``'error'`` or ``'ignore'``, for pipelines that cannot work.
        save_dir: a folder for the results, and for two summaries of the values as CSV.
        save_mode: ``'reuse'``, ``'overwrite'``, ``'error'`` or ``'warn'``.
        save_format: ``'trec'``, a module such as pickle, or a pair of functions.
        ranks: whether to add the best and the worst rank that each system could have by each
            measure: columns ``rank low`` and ``rank high`` (see :func:`~pyterrier_asl.ranks`), and
            ``*`` if a system with the best mean is better, by p corrected for all pairs.
        **options: further options of ``pt.Experiment``, such as ``plan='tree'``.

    Returns:
        A frame; a dict (``dataframe=False``); a Styler or LaTeX (``highlight``); or, with
        ``perquery='both'``, averages and per-query values as a tuple.

    Raises:
        ValueError: for an unknown measure, baseline or option, and for results that cannot be
            scored, with the name of the system.

    Warns:
        UserWarning: of a pool of fewer than 8 systems.

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
    given = dict(locals())
    names, systems = named_systems(retr_systems, names)
    baselines = baseline_numbers(baseline, names)
    columns, mrt = columns_of(eval_metrics, baselines, names)
    check_options(given, baselines)
    if verbose != "auto":  # PyTerrier 1.0 does not have this option
        options["verbose"] = verbose
    trial = Trial(
        names=names,
        topics=read_topics(topics),
        qrels=qrels,
        filters={"filter_by_qrels": filter_by_qrels, "filter_by_topics": filter_by_topics},
        saving=Saving(None if save_dir is None else os.fspath(save_dir), save_mode, save_format),
        running={"batch_size": batch_size, "test": test, "validate": validate, **options},
        quiet=perquery is False,
    )
    _check_used(given, baselines, any(column.preference for column in columns))
    trial.check(columns, ranks)
    round = _by_label(round, [c.label for c in columns] + ["mrt"] * mrt)
    before = read_summaries(save_dir)
    scored = score(trial, systems, columns, mrt=mrt and perquery is False)
    table = partial(averages, scored, baselines, test, correction, correction_alpha, round, ranks)
    if save_dir is not None:
        write_summaries(Path(save_dir), before, table(), per_query(scored, round))
    if perquery is True:
        return per_query(scored, round) if dataframe else scored.by_query
    if not dataframe:
        return (means_by_name(scored), scored.by_query) if perquery else means_by_name(scored)
    shown = (
        latex(scored, table(), baselines, _how(test, correction), correction_alpha)
        if highlight == LATEX
        else highlighted(table(), highlight, directions(scored, baselines))
    )
    return Results(shown, per_query(scored, round)) if perquery else shown


def _how(test: Any, correction: str | None) -> str:
    """The test and its correction, in words."""
    name = test if isinstance(test, str) else test.__name__
    return f"{name}-test, correction: {correction or 'none'}"


def _by_label(
    round: int | Mapping[str, int] | None, labels: list[str]
) -> int | dict[str, int] | None:
    """Decimal places by the label of a measure; one number for all measures is unchanged."""
    if not isinstance(round, Mapping):
        return round
    check_names("round", round, labels, "measures")
    return {str(measure): places for measure, places in round.items()}


def _check_used(given: Mapping[str, Any], baselines: list[int], has_preferences: bool) -> None:
    """Raises ValueError for an option that changes nothing in what is returned or saved.

    Args:
        given: the arguments of :func:`Experiment`.
        baselines: the numbers of the baselines.
        has_preferences: whether a measure is a preference, which needs a baseline.
    """
    defaults = inspect.signature(Experiment).parameters
    is_list = not isinstance(given["retr_systems"], Mapping)
    means, saved = given["perquery"] is not True, given["save_dir"] is not None
    has_frame = given["dataframe"] and means
    both = "is for a frame of means (perquery='both' returns it as well) or save_dir"
    for is_used, why, names in (
        (is_list, "is for a list of systems, and a dict names them", ["names"]),
        (baselines, "is for comparisons with a baseline", ["test"]),
        (given["correction"] is not None, "is for a correction", ["correction_alpha"]),
        (saved, "is for save_dir", ["save_mode", "save_format"]),
        (means or saved, "is for means", ["round"] if isinstance(given["round"], Mapping) else []),
        (given["dataframe"] or saved, "is for a frame", ["round"]),
        (has_frame, "is for a frame of means", ["highlight"]),
        (has_frame or saved, both, ["ranks"] if has_preferences else ["ranks", "baseline"]),
        (given["highlight"] != LATEX, "is not in LaTeX", ["ranks"]),
    ):
        if not is_used:
            refuse(why, **{n: given[n] for n in names if given[n] != defaults[n].default})


def check_options(given: Mapping[str, Any], baselines: list[int]) -> None:
    """Raises ValueError for an invalid option, or options that do not fit together.

    Args:
        given: the arguments of :func:`Experiment`.
        baselines: the numbers of the baselines.
    """
    if given["perquery"] not in (False, True, "both"):
        raise ValueError(f"perquery must be False, True or 'both', not {given['perquery']!r}")
    if given["correction"] not in (None, "none") and not baselines:
        raise ValueError("correction is for comparisons with a baseline: pass baseline=")
    check_name("highlight", given["highlight"], (None, "bold", "color", "colour", LATEX))
    if not (callable(given["test"]) or given["test"] in ("t", "wilcoxon")):
        raise ValueError(
            "test must be 't', 'wilcoxon', or a function as scipy.stats.ttest_rel, not "
            f"{given['test']!r}"
        )
    check_probability("correction_alpha", given["correction_alpha"])
    if (method := given["correction"]) is not None and method not in CORRECTIONS:
        from statsmodels.stats.multitest import multitest_alias

        if method.lower() not in multitest_alias:
            check_name("correction", method, CORRECTIONS)
