"""BM25 with feedback tuned in stages for one measure and for another: Clarke's (2019) Table 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ._atomic import replacing
from .charts.saving import save_chart
from .collection import Collection
from .requested import Requested, parse_measures, unique
from .tuning import (
    StagedResult,
    StagedSearch,
    bm25_stages,
    measured,
    study,  # noqa: F401 - says before anything is indexed that Optuna is missing
    use_settings,
)

#: What the paper calls the parameters of feedback.
_PAPER = {"fb_docs": "depth (m)", "fb_terms": "expansions (n)", "gamma": "mixing (gamma)"}

#: The paper's measures: what it tunes for, and reports whatever is tuned for.
METRICS = ("AP", "TBG")


def tune_for_each(
    collection: Collection,
    metrics: Sequence[str] = METRICS,
    *,
    transfer: Collection | None = None,
    **options: Any,
) -> dict[str, StagedResult]:
    """Tunes the three stages for each of some measures.

    Args:
        collection: to tune on.
        metrics: names of measures; TBG without lengths gets those of the collection. All of them,
            and the paper's, are reported of every trial.
        transfer: other topics, of the same or of another collection, on which the tuned pipelines
            are measured as well.
        options: ``n_trials``, ``seed``, ``jobs``, ``storage``, ``verbose`` of
            :func:`~pyterrier_asl.StagedSearch`.

    Returns:
        For each measure, by its name, what was found; measures are called by their names.

    Raises:
        ValueError: for an unknown measure, or what a search raises.
    """
    wanted = parse_measures(metrics)
    named = _named(wanted, collection)
    results = {}
    for one in wanted:
        result = StagedSearch(
            bm25_stages(collection.index), collection.topics, collection.qrels, named[one.name],
            measures=list(named.values()), study_name=f"{collection.name}-{one.name}", **options,
        )  # fmt: skip
        plain = {str(measure): name for name, measure in named.items()}
        result = replace(
            result,
            table=result.table.replace({"name": plain}),
            trials={stage: frame.rename(columns=plain) for stage, frame in result.trials.items()},
        )
        if transfer is not None:
            rows = _transferred(result, transfer, _named(wanted, transfer))
            result = replace(result, table=pd.concat([result.table, rows], ignore_index=True))
        results[one.name] = result
    return results


def _named(wanted: Sequence[Requested], collection: Collection) -> dict[str, Any]:
    """What is reported, the paper's measures first, with the collection's lengths."""
    asked = unique([*wanted, *parse_measures(METRICS)])
    asked.sort(key=lambda one: METRICS.index(one.name) if one.name in METRICS else len(METRICS))
    return {one.name: one.given(lengths=collection.lengths).measure for one in asked}


def _transferred(
    result: StagedResult, collection: Collection, named: Mapping[str, Any]
) -> pd.DataFrame:
    """The measures of the tuned pipeline on other topics, as rows of its table."""
    stages = bm25_stages(collection.index)
    use_settings(stages, result.settings)
    found = measured(stages[-1].pipeline, collection.topics, collection.qrels, named.values())
    rows = [
        (f"transfer to {collection.name}", "best", pd.NA, "measure", name, value)
        for name, value in zip(named, found.values())
    ]
    columns = list(result.table.columns)
    return pd.DataFrame(rows, columns=columns).astype({"trial": "Int64"})


def side_by_side(results: Mapping[str, StagedResult]) -> pd.DataFrame:
    """Table 2.

    Args:
        results: what :func:`tune_for_each` returned.

    Returns:
        A row for each stage and parameter or measure: ``stage``, ``name``, and for every measure
        that was tuned for its best and its worst trial, in columns such as ``AP best``.
    """
    long = pd.concat({name: one.table for name, one in results.items()}, names=["for"])
    long = long.reset_index("for")
    long["column"] = long["for"] + " " + long["which"]
    keys = ["stage", "name"]
    wide = long.pivot(index=keys, columns="column", values="value")
    order = pd.MultiIndex.from_frame(long[keys].drop_duplicates())
    wide = wide.reindex(order)[list(dict.fromkeys(long["column"]))]
    frame = wide.reset_index()
    whole = frame["name"].isin(_whole_numbered(results))
    for column in wide.columns:
        cells = [int(v) if is_whole else v for is_whole, v in zip(whole, frame[column])]
        frame[column] = pd.Series(cells, dtype=object)
    frame.columns.name = None
    return frame


def _whole_numbered(results: Mapping[str, StagedResult]) -> set[str]:
    """The parameters that are whole numbers."""
    return {
        name
        for result in results.values()
        for setting in result.settings.values()
        for name, value in setting.items()
        if isinstance(value, int)
    }


def in_the_papers_words(table: pd.DataFrame) -> pd.DataFrame:
    """Table 2 with the paper's names of parameters."""
    return table.assign(name=table["name"].replace(_PAPER))


def save(results: Mapping[str, StagedResult], folder: str | Path) -> list[Path]:
    """Saves the table and all trials as CSV, and the chart where Altair is installed.

    Args:
        results: what :func:`tune_for_each` returned.
        folder: where; it is made if it is not there.

    Returns:
        The files that were written.
    """
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    tables = {out / "table.csv": side_by_side(results)}
    for name, result in results.items():
        for stage, trials in result.trials.items():
            tables[out / f"{_as_file(name)}-{_as_file(stage)}.csv"] = trials
    for path, table in tables.items():
        with replacing(path) as beside:
            table.to_csv(beside, index=False)
    written = list(tables)
    try:
        from .charts.tuning import scores_by_parameters
    except ModuleNotFoundError as error:
        if error.name != "altair":
            raise
        return written
    written.append(out / "scores.html")
    save_chart(scores_by_parameters(results), written[-1])
    return written


def _as_file(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in ".@=" else "-" for letter in name)
