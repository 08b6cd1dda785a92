"""Results of an experiment: means, comparisons with baselines, values by query, summaries.

They are computed from per-query values, with the direction of each measure. The columns have the
names that ``pt.Experiment`` gives them.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ..common.notices import counted
from ..common.types import Floats
from ..io.atomic import replacing
from ..io.files import SUMMARIES
from ..leaderboard.ranks import with_rank_columns
from ..printing.tables import SIGNS, MarkedMeans, latex_of_means, latex_text
from ..statistics.tests import CORRECTIONS, correct
from .arguments import Column, Test, suffix
from .trial import ExperimentValues

#: Decimal places of all means, or by measure.
Places: TypeAlias = int | Mapping[str, int] | None

#: A value of ``highlight``.
LATEX = "latex"

#: The marks of the last best value of a column, and of others that are equal to it.
_MARKS = {"bold": ("font-weight: bold", "font-weight: bold")} | dict.fromkeys(
    ("color", "colour"), ("background-color: lightgreen", "background-color: antiquewhite")
)


def averages(
    scored: ExperimentValues,
    baselines: list[int],
    test: Test,
    correction: str | None,
    alpha: float,
    round: Places,
    ranks: bool = False,
) -> pd.DataFrame:
    """One row per system: means, then comparisons with each baseline."""
    values = scored.values
    means: dict[str, Any] = {"name": scored.names} | {
        c.label: _rounded(map(c.mean, values[c.label]), c.label, round) for c in scored.columns
    }
    if ranks:
        directions = {c.label: c.higher_is_better for c in scored.columns if c.preference is None}
        means = with_rank_columns(means, scored.names, scored.queries, values, directions)
    if scored.mrt is not None:
        means["mrt"] = _rounded(scored.mrt, "mrt", round)
    parts = [pd.DataFrame(means)]
    for baseline, column, label in _compared(scored, baselines):
        parts.append(comparison_columns(column, values[column.label], baseline, label, test))
        if correction not in (None, "none"):
            parts.append(corrected_columns(parts[-1].iloc[:, -1], correction, alpha))
    table = pd.concat(parts, axis=1)
    table.attrs["notes"] = list(scored.notes)
    return table


def _compared(scored: ExperimentValues, baselines: list[int]) -> list[tuple[int, Column, str]]:
    """The comparisons: baseline, column, and the beginning of the names of its columns."""
    return [
        (baseline, column, column.label + versus * (column.preference is None))
        for baseline in baselines
        for versus in [suffix(baseline, baselines, scored.names)]
        for column in scored.columns
        if column.baseline in (None, baseline)
    ]


def comparison_columns(
    column: Column, values: Floats, baseline: int, label: str, test: Test
) -> pd.DataFrame:
    """Comparison of every system with a baseline by a measure.

    Args:
        column: the measure.
        values: its values, shape (systems, queries).
        baseline: the row of the baseline.
        label: the beginning of the columns' names.
        test: the significance test.

    Returns:
        ``+`` and ``-``, numbers of better and worse queries, and ``p-value``, one row per system;
        NaN for the baseline.
    """
    better = -values if column.higher_is_better is False else values
    if column.preference is None:
        better = better - better[baseline]
    frame = pd.DataFrame(
        {
            f"{label} +": (better > 0).sum(1),
            f"{label} -": (better < 0).sum(1),
            f"{label} p-value": [
                np.nan if row == baseline else column.p_value(own, values[baseline], test)
                for row, own in enumerate(values)
            ],
        },
        dtype=np.float64,
    )
    frame.loc[baseline] = np.nan
    return frame


def corrected_columns(p_values: pd.Series[float], method: str, alpha: float) -> pd.DataFrame:
    """Corrects the p-values of all compared systems, as one family.

    Args:
        p_values: one for each system, NaN for the baseline and where no test can be made; the name
            ends in ``p-value``.
        method: one of :data:`~pyterrier_asl.statistics.tests.CORRECTIONS`, or another method
            of statsmodels' ``multipletests``, as in PyTerrier.
        alpha: the family-wise error rate.

    Returns:
        ``reject`` and ``p-value corrected``, a row for each system.
    """
    label, values = str(p_values.name), p_values.to_numpy(copy=True)
    family = ~np.isnan(values)
    if method in CORRECTIONS:
        values = correct(values, method).p
    elif family.any():
        from statsmodels.stats.multitest import multipletests

        values[family] = multipletests(values[family], alpha=alpha, method=method)[1]
    return pd.DataFrame(
        {f"{label.removesuffix('p-value')}reject": values <= alpha, f"{label} corrected": values}
    )


def directions(scored: ExperimentValues, baselines: list[int]) -> dict[str, bool | None]:
    """The direction of each column; None: neither is better."""
    higher = {column.label: column.higher_is_better for column in scored.columns} | {"mrt": False}
    for _, column, label in _compared(scored, baselines):
        if column.higher_is_better is not None:
            higher |= {f"{label} +": True, f"{label} -": False}
    return higher


def highlighted(
    table: pd.DataFrame, how: str | None, higher_is_better: Mapping[str, bool | None]
) -> Any:
    """Marks the best value of each column, in LaTeX as well.

    Args:
        table: the table.
        how: ``'bold'``, ``'color'`` or ``'colour'``; None: the table is returned unchanged.
        higher_is_better: the direction of each column; None: it is not marked.
    """
    if how is None:
        return table
    from .highlighting import HighlightedTable  # its import takes long

    def mark(values: pd.Series[Any]) -> list[str]:
        higher = higher_is_better.get(str(values.name))
        marks = np.full(len(values), "", object)
        if higher is not None:
            best = np.flatnonzero(values == (values.max() if higher else values.min()))
            marks[best[-1:]], marks[best[:-1]] = _MARKS[how]
        return marks.tolist()

    return HighlightedTable(table).apply(mark, axis=0)


def latex(
    scored: ExperimentValues, table: pd.DataFrame, baselines: list[int], how: str, alpha: float
) -> str:
    """The means in LaTeX, with the differences from a single baseline that are significant.

    Args:
        scored: the values.
        table: the table of :func:`averages`, with comparisons.
        baselines: the rows of the baselines.
        how: the test and its correction.
        alpha: the level of significance.
    """
    measures = {}
    for column in scored.columns:
        if column.preference is None:
            means, up = table[column.label], column.higher_is_better
            signs = np.zeros(len(means), int)
            if len(baselines) == 1 and up is not None:
                name = f"{column.label} p-value"
                p = table.get(f"{name} corrected", table[name])
                better = (means > means[baselines[0]]) == up
                signs = np.where(p <= alpha, np.where(better, 1, -1), 0)
            measures[column.label] = MarkedMeans([*means], up, [*signs])
    caption = f"Means over {counted(len(scored.queries), 'query', 'queries')}"
    if baselines:
        first = latex_text(scored.names[baselines[0]])
        caption += f"; {SIGNS.replace('the first row', first)} ({how}, $p \\leq {alpha:g}$)"
    return latex_of_means(scored.names, measures, f"{caption}.", 4)


def per_query(scored: ExperimentValues, round: Places) -> pd.DataFrame:
    """One row per system, query and measure."""
    rows = [
        (scored.names[system], qid, label, value)
        for system, queries in scored.by_query.items()
        for qid, values in queries.items()
        for label, value in values.items()
    ]
    frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    if not isinstance(round, Mapping):  # a dict is for means only
        frame["value"] = _rounded(frame["value"], "", round)
    return frame.sort_values(["name", "qid"], kind="stable")


def means_by_name(scored: ExperimentValues) -> dict[str, dict[str, float]]:
    """The means by system, then by measure."""
    means: Any = averages(scored, [], "t", None, 0.05, None).drop(columns="name")
    return dict(zip(scored.names, means.to_dict("records")))


def _rounded(values: Iterable[float], label: str, places: Places) -> list[float]:
    places = places.get(label) if isinstance(places, Mapping) else places
    return [value if places is None else builtins.round(value, int(places)) for value in values]


def read_summaries(folder: str | os.PathLike[str] | None) -> list[pd.DataFrame]:
    """Reads the summaries of earlier experiments in a folder.

    Raises:
        ValueError: for a file that is not a table with a column ``name``.
    """
    paths = [Path(folder) / name for name in SUMMARIES] if folder is not None else []
    return [_read_summary(path) if path.exists() else pd.DataFrame() for path in paths]


def _read_summary(path: Path) -> pd.DataFrame:
    try:  # all as text: a system 'NA' is not missing, and numbers keep their digits
        return pd.read_csv(path, dtype=str, keep_default_na=False).astype({"name": str})
    except (ValueError, KeyError) as error:
        raise ValueError(
            f"{path} is not a summary of earlier experiments ({error}): move it, or pass another "
            "save_dir="
        ) from error


def write_summaries(
    folder: Path, before: list[pd.DataFrame], table: pd.DataFrame, by_query: pd.DataFrame
) -> None:
    """Replaces the summaries of pt.Experiment, which lack the measures computed here.

    Systems of earlier experiments stay, as they do there.
    """
    for name, old, new in zip(SUMMARIES, before, (table, by_query)):
        others = old[~old["name"].isin(table["name"])] if len(old) else old
        whole = pd.concat([new, others], ignore_index=True) if len(others) else new
        with replacing(folder / name) as path:
            whole.to_csv(path, index=False)
