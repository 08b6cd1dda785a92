"""Inputs of calls: runs, qrels and measures, and the options that complete measures.

**Runs** are a dict from name to run, a folder of run files, or several files; a single frame or
dict of dicts is one run, called ``run``.

**The minimum grade of a relevant document** (``rel``) has one rule for all commands and functions.
The grade of a judge (``judge_rel``, ``machine_rel``) has priority over the ``rel`` of a measure, as
in ``AP(rel=2)``, and this over the option ``rel``. Without any of them it is 1. The default
measures of a known ir_datasets collection have its official grade. If there are grades above 1 and
no ``rel``, a warning says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ForwardRef, TypeAlias

from ir_measures import Measure

from ..common.lazy import pd
from ..common.notices import counted, names_of, warn
from ..io.columns import is_table
from ..io.opening import StrPath
from ..io.qrels import official_measures
from ..io.runs import list_runs
from ..judging.judgements import Judgements
from ..judging.qrels import Qrels, source_of
from ..measures.defaults import default_measures, official_rel
from ..measures.lengths import DocLengths
from ..measures.parsing import (
    Measures,
    NamedMeasure,
    named_measures,
    parse_measure,
    unique,
    with_options,
)
from ..measures.pool import RarenessPool

#: Qrels in calls: Qrels, Judgements, a frame, dicts, a file, or an ir_datasets id.
QrelsLike: TypeAlias = (
    "Qrels | Judgements | pd.DataFrame | Mapping[Any, Any] | Iterable[Any] | StrPath"
)
#: Minimum grades of relevant documents by judge, or one for all judges but the reference.
JudgeRel: TypeAlias = float | Mapping[str, float]
if not TYPE_CHECKING:  # documentation looks the names up in the module of a function
    QrelsLike = ForwardRef(QrelsLike, module=__name__)


def named_runs(runs: Any) -> dict[str, Any]:
    """The runs by name, unread.

    Args:
        runs: dict of name -> run, folder of run files, or several files; a single frame, Arrow
            table or dict of dicts is one run.

    Raises:
        ValueError: if there are no runs.

    >>> list(named_runs({"q": {"d": 1.5}})), list(named_runs({"bm25": {"q": {"d": 1.5}}}))
    (['run'], ['bm25'])
    """
    named: dict[str, Any] = {"run": runs} if _is_one_run(runs) else dict(list_runs(runs))
    for name, run in named.items():
        if is_repeated(run):
            raise ValueError(
                f"{name!r} has {counted(len(run), 'run')}: only compare tests several runs of one "
                "system (repetitions), as pyterrier-asl compare --repetitions does; elsewhere give "
                "one run"
            )
    return named


def is_repeated(run: Any) -> bool:
    """Whether a value in a dict of runs is a list of runs: repetitions, such as seeds.

    >>> is_repeated(["seed1.run", "seed2.run"]), is_repeated({"q": {"d": 1}}), is_repeated([])
    (True, False, False)
    """
    is_list = isinstance(run, (list, tuple)) and len(run) > 0
    return is_list and all(
        isinstance(of, (str, os.PathLike, Mapping)) or is_table(of) for of in run
    )


def _is_one_run(runs: Any) -> bool:
    if not isinstance(runs, Mapping):
        return is_table(runs)
    # A query without documents does not show what the dict holds.
    documents = next((run for run in runs.values() if not isinstance(run, Mapping) or run), None)
    if not isinstance(documents, Mapping):
        return False
    score = next(iter(documents.values()))
    return not (isinstance(score, Mapping) or is_table(score))


def tracks_by_name(tracks: Sequence[tuple[str, str, str]]) -> dict[str, tuple[Any, str]]:
    """The runs and qrels of each track of the option ``--track``, for the functions."""
    named: dict[str, tuple[Any, str]] = {}
    for name, qrels, runs in tracks:
        if name in named:
            raise ValueError(f"track {name!r} is given twice: name each differently")
        named[name] = [runs], qrels
    return named


def refuse(why: str, **options: Any) -> None:
    """Checks that options without a use were not given.

    Args:
        why: what the option is for.
        **options: the options; None, False or (): not given.

    Raises:
        ValueError: for an option that was given.
    """
    for name, value in options.items():
        if not (value is None or value is False or (isinstance(value, tuple) and not value)):
            shown = f"={value:g}" if isinstance(value, float) else f"={value!r}"
            shown *= isinstance(value, (str, int, float)) and value is not True
            raise ValueError(f"{name}{shown} {why}: leave it out")


#: Parameter of measures -> which measures have it.
_HAVE = {"rel": "a minimum grade", "pool": "a pool", "lengths": "document lengths"}


def refuse_unused(
    measures: Iterable[NamedMeasure], parameter: str, **options: Any
) -> list[NamedMeasure]:
    """Checks that at least one of the measures has the parameter that options set.

    Args:
        measures: the measures.
        parameter: ``rel``, ``pool`` or ``lengths``.
        **options: the options that set the parameter; None: not given.

    Returns:
        The measures.

    Raises:
        ValueError: for an option that no measure can use, also because each has its own value;
            ``machine_rel`` replaces that.

    >>> from pyterrier_asl.measures.parsing import named_measures
    >>> refuse_unused(named_measures("nDCG@10 Bpref"), "lengths", lengths="irds:vaswani")
    Traceback (most recent call last):
    ...
    ValueError: lengths='irds:vaswani' is for measures with document lengths, not for nDCG@10 \
and Bpref: leave it out
    """
    named = list(measures)
    having = [measure for measure in named if parameter in measure.measure.SUPPORTED_PARAMS]
    if not having:
        names = f", not for {names_of([measure.name for measure in named])}" if named else ""
        refuse(f"is for measures with {_HAVE[parameter]}{names}", **options)
    elif all(measure.measure.params.get(parameter) is not None for measure in having):
        names = names_of([measure.name for measure in having])
        options.pop("machine_rel", None)
        refuse(
            f"is for measures without {_HAVE[parameter]} of their own, unlike {names}", **options
        )
    return named


#: Why scores refuse an option.
NOT_FOR_SCORES = "is for runs and qrels, not for scores"
#: Why a single collection refuses an option.
FOR_SEVERAL = "is for several collections"


# Measures


def chosen_measures(
    measures: Measures | None, qrels: Any = None, *, several: bool = False, **options: Any
) -> list[NamedMeasure]:
    """The measures of a call, each once, completed by the options.

    Args:
        measures: measures or their names; None: the default ones, see :func:`measures_for`.
        qrels: the qrels as the caller gave them.
        several: whether there are several runs, which rareness needs.
        options: see :func:`complete_measures`.
    """
    if measures is None:
        has_pool, has_lengths = (options.get(name) is not None for name in ("pool", "lengths"))
        named = measures_for(
            qrels, several=several or has_pool, lengths=has_lengths, rel=options.get("rel")
        )
    else:
        named = named_measures(measures)
    return unique(complete_measures(named, **options), "name")


def measures_for(
    qrels: Any, *, several: bool, lengths: bool, rel: float | None = None
) -> list[NamedMeasure]:
    """The default measures; without ``rel`` also the official ones of an ir_datasets id."""
    return default_measures(
        official_of(qrels) if rel is None else (), several=several, lengths=lengths
    )


def complete_measures(
    measures: Iterable[NamedMeasure],
    *,
    rel: float | None = None,
    pool: Any = None,
    lengths: Any = None,
) -> list[NamedMeasure]:
    """Measures completed by ``rel``, pool and lengths.

    Args:
        measures: the measures.
        rel: minimum grade of a relevant document, for measures without ``rel``.
        pool: a pool, its name or file, or runs, for the rareness measures without a pool; None: the
            measured runs.
        lengths: for TBG; what ``TBG(lengths=...)`` takes.

    Raises:
        ValueError: for an option that a measure does not take, or that no measure can use.
    """
    named = list(measures)
    for parameter, value in {"rel": rel, "pool": pool, "lengths": lengths}.items():
        refuse_unused(named, parameter, **{parameter: value})
    if lengths is not None:
        lengths = DocLengths.of_option("lengths", lengths)
    if pool is not None:
        pool = RarenessPool.of_option("pool", pool)
    return [measure.with_params(rel=rel, pool=pool, lengths=lengths) for measure in named]


def official_of(qrels: Any) -> list[Any]:
    """The official measures of an ir_datasets collection; none for other qrels.

    Args:
        qrels: qrels as the caller gave them; a str is an id if it is not a file.
    """
    source = source_of(qrels)
    if not isinstance(source, str) or os.path.exists(source):
        return []
    return [parse_measure(name) for name in official_measures(source)]


def with_rel(
    measure: NamedMeasure, rel: float | None = None, judge_rel: float | None = None
) -> NamedMeasure:
    """The measure with the minimum grade of a relevant document, also in its name.

    A measure without a minimum grade, such as nDCG, does not change.

    Args:
        measure: the measure, with or without ``rel``.
        rel: for measures without ``rel``; None: the default of the measure.
        judge_rel: the minimum grade of the judge, which has priority over both; None: the judge has
            none.

    Raises:
        ValueError: for a grade that the measure does not take.

    >>> from ir_measures import AP
    >>> own, plain = NamedMeasure("AP(rel=3)", AP(rel=3)), NamedMeasure("AP", AP)
    >>> [with_rel(measure, 2).name for measure in (own, plain)]
    ['AP(rel=3)', 'AP(rel=2)']
    >>> [with_rel(measure, 2, judge_rel=4).name for measure in (own, plain)]
    ['AP(rel=4)', 'AP(rel=4)']
    """
    if judge_rel is None:
        return measure.with_params(rel=rel)
    if "rel" not in measure.measure.SUPPORTED_PARAMS:
        return measure
    by_judge = with_options(measure.measure, judge_rel)
    return NamedMeasure(str(by_judge), by_judge)


def default_rel(qrels: Any, rel: float | None = None) -> float:
    """``rel``, or the official grade of a known collection, or 1.

    Args:
        qrels: qrels as the caller gave them.
        rel: the option; None: not given.

    >>> default_rel({"q": {"d": 3}}), default_rel({"q": {"d": 3}}, 2)
    (1, 2)
    """
    return rel if rel is not None else official_rel(official_of(qrels)) or 1


def common_rel(measures: Iterable[Any]) -> float | None:
    """The ``rel`` of all measures with this parameter; None if they differ.

    It is the default of preferences.

    >>> from ir_measures import AP, RR, nDCG
    >>> common_rel([AP(rel=2), nDCG, RR(rel=2)]), common_rel([AP(rel=2), RR]), common_rel([nDCG])
    (2, None, None)
    """
    rels = {measure.params.get("rel") for measure in measures if "rel" in measure.SUPPORTED_PARAMS}
    return rels.pop() if len(rels) == 1 else None


def warn_of_grades(
    judgements: Judgements, measures: Mapping[str, Measure] | None, *given: Any
) -> None:
    """Warns of what :func:`on_grades` says, where a result has no notes."""
    warn(*on_grades(judgements, measures, *given))


def on_grades(
    judgements: Judgements, measures: Mapping[str, Measure] | None, *given: Any
) -> list[str]:
    """A sentence if grades are 1 and more without a minimum grade, or if nothing is relevant.

    Args:
        judgements: the qrels.
        measures: the measures by name; None: the call takes ``rel`` in any case.
        *given: minimum grades; None: not given.
    """
    grades = judgements.grades
    highest, low = grades.max(initial=-1), int(((grades >= 1) & (grades < 2)).sum())
    is_sound = highest >= 1 and (highest < 2 or not low)
    if is_sound or not len(grades) or any(rel is not None for rel in given):
        return []
    graded = [of for of in (measures or {}).values() if "rel" in of.SUPPORTED_PARAMS]
    if any("rel" in of.params for of in graded):
        return []
    names = names_of([*map(str, graded)] or ["the measures with rel"])
    none = f"no judged document has a grade of 1 or more (the highest is {highest:g}), so that"
    if highest <= 0:
        return [f"{none} nothing is relevant: check the qrels"]
    if measures is not None and not graded:
        return []
    if highest < 1:
        return [
            f"{none} none is relevant by {names}: give the minimum grade of a relevant document as "
            "rel, or as in ASL(rel=0.5)"
        ]
    return [
        f"{low:,} of {int((grades >= 0).sum()):,} judged documents have a grade from 1 to below 2 "
        f"and count as relevant, but grades go up to {highest:g}: give the minimum grade of a "
        "relevant document as rel, or as in ASL(rel=2)"
        + (" (2 for the passages of TREC DL)" if highest == 3 else "")
    ]
