"""Clarke's (2019) experiment, BM25 with feedback tuned for several measures: table and figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt

from ..charts import HEIGHT, WIDE_CAPTION, WIDTH, alt, captioned, tooltips
from ..charts.saving import save_chart
from ..common.types import Floats
from ..io.atomic import check_replaceable, replacing
from ..measures.parsing import NamedMeasure, parse_measures, unique
from ..printing.table_lines import PValue
from ..statistics.pairwise import t_test
from . import StagedResult, StagedSearch, bm25_stages, use_settings
from .collection import IndexedCollection
from .stages import fixed_objective, mean_rows, table_of, warn_of_tuned_topics

#: Beginnings of the names of rows: BM25 without feedback and the whole pipeline, both with default
#: parameters, and the differences of the tuned pipeline from each.
_UNTUNED = {"BM25 on ": "difference from BM25 on ", "defaults on ": "difference on "}
_TRANSFER = "transfer to "
#: The end of the names of rows of p-values.
_P = " p-value"

#: The first bytes of saved files; tables of trials begin with their first column.
_BEGINS = {"table.csv": b"stage,name,", "scores.html": b"<"}

#: The paper's measures, which are always reported.
MEASURES = ("AP", "TBG")


def tune_for_each(
    collection: IndexedCollection,
    measures: Sequence[str] = MEASURES,
    *,
    transfer: IndexedCollection | None = None,
    split: bool = False,
    weights: str = "idf",
    **options: Any,
) -> dict[str, StagedResult]:
    """Tunes the three stages for each of several measures.

    Args:
        collection: the collection to tune on.
        measures: names of measures; TBG without lengths gets the lengths of the collection. Every
            trial reports all of them and the paper's measures.
        transfer: other topics, of the same or of another collection. On them the tuned pipelines
            are compared with BM25 without feedback and with the pipeline, both with default
            parameters. Without it these two are measured on ``collection``.
        split: tune on every second topic of the collection, and transfer to the others.
        weights: the term weights of feedback, see :func:`~pyterrier_asl.tuning.bm25_stages`.
        options: ``n_trials``, ``trials_only``, ``seed``, ``jobs``, ``storage``, ``verbose`` of
            :func:`~pyterrier_asl.StagedSearch`.

    Returns:
        The result for each measure, by its name; measures are called by their names.

    Raises:
        ValueError: for an unknown measure or for both ``transfer`` and ``split``, and see
            :func:`~pyterrier_asl.StagedSearch`.
    """
    if split and transfer is not None:
        raise ValueError("split and transfer exclude each other: give one of them")
    if split:
        collection, transfer = collection.every_other_topic(0), collection.every_other_topic(1)
    wanted = parse_measures(measures)
    reported = _all_measures(wanted, collection)
    if transfer is not None:
        warn_of_tuned_topics(collection.topics, transfer.topics, transfer.name)
    results = {}
    for name in (measure.name for measure in wanted):
        result = StagedSearch(
            bm25_stages(collection.index, weights=weights),
            collection.topics,
            collection.qrels,
            reported[name],
            measures=reported.values(),
            study_name=f"{collection.name}-{name}",
            **options,
        )
        others = _comparison(
            transfer or collection, wanted, result.settings if transfer else None, weights
        )
        results[name] = replace(result, table=pd.concat([result.table, others], ignore_index=True))
    return results


def _all_measures(
    wanted: Sequence[NamedMeasure], collection: IndexedCollection
) -> dict[str, NamedMeasure]:
    """The reported measures by name, the paper's first, with the collection's lengths."""
    measures = unique([*wanted, *parse_measures(MEASURES)])
    measures.sort(key=lambda m: MEASURES.index(m.name) if m.name in MEASURES else len(MEASURES))
    return {m.name: m.with_params(lengths=collection.lengths) for m in measures}


def _values_of(
    pipeline: pt.Transformer, collection: IndexedCollection, measures: Iterable[NamedMeasure]
) -> tuple[dict[str, Floats], dict[str, float]]:
    """A pipeline's measures on a collection, per query, and their means."""
    objective = fixed_objective(pipeline, collection.topics, collection.qrels, measures)
    values = objective.per_query(())
    return values, objective.means(values)


def _comparison(
    collection: IndexedCollection,
    wanted: Sequence[NamedMeasure],
    tuned: Mapping[str, Mapping[str, Any]] | None,
    weights: str,
) -> pd.DataFrame:
    """The measures of untuned pipelines, after the measures of a tuned one, as rows of the table.

    Args:
        collection: the topics.
        wanted: the measures.
        tuned: the settings of the tuned pipeline; None: there is none.
        weights: the term weights of feedback.
    """
    reported = _all_measures(wanted, collection).values()
    first, *_, last = bm25_stages(collection.index, weights=weights)
    rows = []
    if tuned is not None:
        stages = bm25_stages(collection.index, weights=weights)
        use_settings(stages, tuned)
        values, means = _values_of(stages[-1].pipeline, collection, reported)
        rows += mean_rows(f"{_TRANSFER}{collection.name}", means)
    for stage, pipeline in zip(_UNTUNED, (first.pipeline, last.pipeline)):
        others, other_means = _values_of(pipeline, collection, reported)
        rows += mean_rows(f"{stage}{collection.name}", other_means)
        if tuned is not None:
            difference = {name: means[name] - other_means[name] for name in means}
            p = {name + _P: float(t_test(values[name] - others[name])) for name in values}
            rows += mean_rows(f"{_UNTUNED[stage]}{collection.name}", difference | p)
    return table_of(rows)


def winners(results: Mapping[str, StagedResult]) -> list[str]:
    """A sentence for each measure: the candidates that are the best settings of the stages.

    Args:
        results: the results of :func:`tune_for_each`.
    """
    return [
        f"The best settings by {metric}: "
        + ", ".join(
            f"{stage} {candidate}"
            + " (all settings are equal)" * (result.trials[stage][metric].nunique() == 1)
            for stage, candidate in result.candidates.items()
        )
        + "."
        for metric, result in results.items()
    ]


def transfer_verdicts(results: Mapping[str, StagedResult]) -> list[str]:
    """Sentences on whether tuning for each measure improved the measure on other topics.

    The tuned pipeline is compared with the better one, by that measure, of BM25 without feedback
    and the pipeline with default parameters.

    Args:
        results: the results of :func:`tune_for_each`; without ``transfer`` there are no verdicts.
    """
    sentences = []
    for metric, result in results.items():
        others = result.table[result.table["trial"].isna()]
        table = others.set_index(["stage", "name"])["value"]
        for stage in others["stage"].unique():
            if stage.startswith(_TRANSFER):
                where = stage.removeprefix(_TRANSFER)
                rows = [stage, *(f"{s}{where}" for pair in _UNTUNED.items() for s in pair)]
                sentences.append(
                    _verdict(metric, where, *(table.loc[row].to_dict() for row in rows))
                )
    return sentences


def _verdict(
    metric: str,
    where: str,
    tuned: Mapping[str, float],
    bm25: Mapping[str, float],
    from_bm25: Mapping[str, float],
    defaults: Mapping[str, float],
    from_defaults: Mapping[str, float],
) -> str:
    """The sentences on one measure, from the rows of :func:`_comparison`."""
    sign = _sign(metric)
    (name, best, difference), (other, second, _) = sorted(
        [
            ("BM25 without feedback", bm25, from_bm25),
            ("feedback with default parameters", defaults, from_defaults),
        ],
        key=lambda untuned: -sign * untuned[1][metric],
    )
    p = difference[metric + _P]
    effect = {
        (True, True): "helps",
        (False, True): "hurts",
        (True, False): "has no significant effect",
        (False, False): "does not help",
    }[sign * difference[metric] > 0, p <= 0.05]
    sentence = (
        f"Tuning for {metric} {effect} on {where}: {metric} is {tuned[metric]:.4f}, with {name} "
        f"{best[metric]:.4f} ({_p_text(p)}), with {other} {second[metric]:.4f}."
    )
    worse = [
        f"{measure} ({tuned[measure]:.4f}, before {best[measure]:.4f}, "
        f"{_p_text(difference[measure + _P])})"
        for measure in tuned
        if measure != metric
        and _sign(measure) * difference[measure] < 0
        and difference[measure + _P] <= 0.05
    ]
    if worse:
        sentence += f" Significantly worse than with {name}: {', '.join(worse)}."
    return sentence


def _sign(measure: str) -> int:
    """The direction of a measure: 1 where higher is better, -1 where lower is, 0 for a count."""
    better = parse_measures(measure)[0].higher_is_better
    return 0 if better is None else 1 if better else -1


def _p_text(p: float) -> str:
    """The part of a sentence on a p-value, NaN for a single query or without a difference."""
    return "no test can be made" if math.isnan(p) else f"paired t-test, p = {p:.3g}"


def side_by_side(results: Mapping[str, StagedResult]) -> pd.DataFrame:
    """Table 2.

    Args:
        results: the results of :func:`tune_for_each`.

    Returns:
        A row for each stage and parameter or measure: ``stage``, ``name``, and for every tuned
        measure its best and its worst trial, in columns such as ``AP best``.
    """
    whole = {
        name
        for result in results.values()
        for setting in result.settings.values()
        for name, value in setting.items()
        if isinstance(value, int)
    }
    long = pd.concat({metric: result.table for metric, result in results.items()}, names=["for"])
    types = {name: PValue for name in long["name"] if name.endswith(_P)} | dict.fromkeys(whole, int)
    cells = [types.get(name, float)(value) for name, value in zip(long["name"], long["value"])]
    column = long.index.get_level_values("for") + " " + long["which"]
    long = long.assign(value=pd.Series(cells, index=long.index, dtype=object), column=column)
    keys = ["stage", "name"]
    order = pd.MultiIndex.from_frame(long[keys].drop_duplicates())
    wide = long.pivot(index=keys, columns="column", values="value")
    return wide.reindex(order, columns=column.unique()).rename_axis(columns=None).reset_index()


def scores_by_parameters(results: Mapping[str, StagedResult]) -> alt.TopLevelMixin:
    """Score against b and k1, for each measure and retrieval stage; the best trial is red.

    Clarke (2019), Figures 1 and 2.

    Args:
        results: the results of :func:`tune_for_each`.
    """
    return captioned(
        alt.vconcat(
            *[
                alt.hconcat(*(_scatter(result, stage, metric, x) for x in ("b", "k1")))
                for stage in ("initial retrieval", "final retrieval")
                for metric, result in results.items()
            ]
        ),
        "Score by b and k1",
        "Each point is a trial of random search; the red point is the best trial.",
        WIDE_CAPTION,
    )


def _scatter(result: StagedResult, stage: str, metric: str, parameter: str) -> alt.Chart:
    trials = result.trials[stage]
    best = result.table.set_index(["stage", "which"])["trial"].loc[stage, "best"].iloc[0]
    points = trials[["trial", "b", "k1"]].assign(
        # Names of measures have dots and brackets, which Vega-Lite reads as paths.
        score=trials[metric],
        best=trials["trial"] == best,
    )
    scale = alt.Scale(type="log" if parameter == "k1" else "linear", nice=False)
    return (
        alt.Chart(alt.Data(values=points.sort_values("best").to_dict("records")))
        .mark_circle()
        .encode(
            x=alt.X(f"{parameter}:Q", scale=scale),
            y=alt.Y("score:Q", title=metric, scale=alt.Scale(zero=False)),
            color=alt.Color("best:N", legend=None).scale(
                domain=[False, True], range=["steelblue", "crimson"]
            ),
            size=alt.Size("best:N", legend=None).scale(domain=[False, True], range=[12, 120]),
            tooltip=tooltips("trial:Q", "b:Q", "k1:Q", "score:Q"),
        )
        .properties(width=WIDTH, height=HEIGHT, title=f"{stage}, tuned on {metric}")
    )


def check_folder(folder: str | Path, *, force: bool = False) -> None:
    """Creates the folder of :func:`save`, and checks that its table and chart can be written.

    Args:
        folder: the folder.
        force: whether files of another kind are overwritten, too.

    Raises:
        OSError: if not.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, begins in _BEGINS.items():
        check_replaceable(Path(folder) / name, begins=begins, force=force)


def save(
    results: Mapping[str, StagedResult], folder: str | Path, *, force: bool = False
) -> list[Path]:
    """Saves the table and all trials as CSV, and the chart where Altair is installed.

    Args:
        results: the results of :func:`tune_for_each`.
        folder: the folder; it is created if it does not exist.
        force: whether files of another kind are overwritten, too.

    Returns:
        The files that were written.

    Raises:
        OSError: for a file that cannot be written, or is of another kind.
    """
    check_folder(folder, force=force)
    out = Path(folder)
    tables = {out / "table.csv": side_by_side(results)} | {
        out / (re.sub(r"[^\w.@=]|_", "-", f"{metric}-{stage}") + ".csv"): trials
        for metric, result in results.items()
        for stage, trials in result.trials.items()
    }
    for path, table in tables.items():
        with replacing(path, begins=_BEGINS.get(path.name, b"trial,"), force=force) as beside:
            table.to_csv(beside, index=False)
    written = list(tables)
    if find_spec("altair") is not None:
        written.append(out / "scores.html")
        save_chart(scores_by_parameters(results), written[-1], force=force)
    return written
