"""Are preferences stable when labels or queries are missing?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..charts import HEIGHT, WIDTH, alt, captioned, figure, tooltips, undrawn, up_to_1
from ..common.lazy import pd
from ..common.notices import progress_bar
from ..common.types import Bools, Floats, Ints
from ..evaluation.evaluation import Runs
from ..evaluation.preferences import recall_levels
from ..evaluation.relevant_documents import RelevantRanks
from ..evaluation.sources import QrelsLike
from ..scoring.preferences import pairwise_preferences
from ..statistics.rounding import signs
from ..statistics.settings import check_draws
from .inputs import read
from .registry import DIAZ, MORE, analysis

#: The shares of labels or queries that are kept.
FRACTIONS: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

#: Colour and dash of each preference, which all readers can distinguish, also without colours.
_STYLES = {"RR": ("#117733", [1, 0]), "rrLP": ("#cc3311", [6, 3]), "sgnLP": ("#0077bb", [2, 2])}


def _samples(
    items: int, fractions: Sequence[float], draws: int, seed: int, progress: bool | None
) -> Iterator[tuple[float, Bools]]:
    """Draws samples of labels or queries: fraction, and which items are kept, at least 1.

    Args:
        items: the number of labels or queries.
        fractions: shares to keep, each in (0, 1].
        draws: the number of random samples of each.
        seed: seed of the draws.
        progress: whether to show a progress bar; None: only on a terminal.
    """
    if wrong := [fraction for fraction in fractions if not 0 < fraction <= 1]:
        raise ValueError(f"a share to keep lies above 0 and up to 1, but {wrong[0]} does not")
    check_draws(draws, seed)
    generator = np.random.default_rng(seed)
    for fraction in progress_bar(
        np.repeat(fractions, draws).tolist(), desc="samples", shown=progress, leave=False
    ):
        kept = np.zeros(items, dtype=bool)
        kept[generator.permutation(items)[: max(1, round(fraction * items))]] = True
        yield fraction, kept


@analysis(DIAZ, "Figure 8a", question=MORE)
def missing_labels(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    fractions: Sequence[float] = FRACTIONS,
    draws: int = 10,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """How well do preferences agree with RR when labels are missing?

    A sample keeps a share of all labels of relevant documents, drawn without replacement; the other
    documents count as not relevant. Preferences on the sample are compared with δRR_1 on all
    labels, over the pairs that δRR_1 distinguishes: pairs of rankings (``ranking``), and pairs of
    systems by the mean over queries (``system``). A tie is no agreement.

    Args:
        fractions: shares of labels to keep, each in (0, 1].
        draws: the number of random samples of each.

    Returns:
        A row for each ``fraction`` and ``preference`` (RR, rrLP, sgnLP), with the number of
        ``samples``, and the mean and the standard deviation over them of ``ranking`` and
        ``system``, the shares of pairs with agreement, and ``tied``, the share of pairs of rankings
        that tie.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figures 8a and 9.

    >>> runs = {"a": {"q": {"d": 3, "e": 2}}, "b": {"q": {"x": 3, "d": 2, "e": 1}}}
    >>> table = missing_labels(runs, {"q": {"d": 1, "e": 1}}, fractions=[0.5, 1], draws=4)
    >>> table[["fraction", "preference", "samples", "ranking", "ranking_sd", "tied"]]
       fraction preference  samples  ranking  ranking_sd  tied
    0       0.5         RR        4      1.0         0.0   0.0
    1       0.5       rrLP        4      1.0         0.0   0.0
    2       0.5      sgnLP        4      1.0         0.0   0.0
    3       1.0         RR        4      1.0         0.0   0.0
    4       1.0       rrLP        4      1.0         0.0   0.0
    5       1.0      sgnLP        4      1.0         0.0   0.0
    """
    judged, rel = read(runs, qrels, rel)
    ranks = judged.once(RelevantRanks.of, rel, cutoff)
    truth = _preferences_by_name(ranks.reciprocal(), ranks.total)["RR"]
    compared = int((truth != 0).sum())
    rows = [
        (
            fraction,
            name,
            int((values * truth > 0).sum()) / compared if compared else np.nan,
            _agreement(values.mean(axis=1), truth.mean(axis=1)),
            int((values == 0).sum()) / max(values.size, 1),
        )
        for fraction, kept in _samples(len(ranks.pairs), fractions, draws, seed, progress)
        for name, values in _preferences_by_name(ranks.reciprocal(kept), ranks.total).items()
    ]
    return _over_samples(rows, ["ranking", "system", "tied"])


@missing_labels.chart
def missing_labels_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Agreement with reciprocal rank on all labels, as labels are removed."""
    # Of two rankings sgnLP and rrLP have the same sign.
    parts = {"ranking": frame[frame["preference"] != "sgnLP"], "system": frame}
    scale = up_to_1(low for value, rows in parts.items() for low in _means(rows, value)["low"])
    panels = [
        _with_band(rows, value, f"sign agreement, two {value}s", "label fraction", scale)
        for value, rows in parts.items()
    ]
    return captioned(
        # The panels have different preferences, and colours go by their position among them.
        alt.hconcat(*panels).resolve_scale(color="independent", strokeDash="independent"),
        "Agreement as labels are removed",
        "Preferences on some of the labels against reciprocal rank on all labels"
        + _of_samples(frame)
        + undrawn(frame["system"]),
    )


@missing_labels.another(
    "ties-with-missing-labels", "Figure 9", "How many rankings tie when labels are missing?"
)
def ties_as_labels_go_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Tied rankings as labels are removed."""
    return figure(
        _with_band(
            frame[frame["preference"] != "sgnLP"],  # which has the same ties as rrLP
            "tied",
            "fraction tied",
            "label fraction",
            alt.Scale(),
        ),
        "Ties as labels are removed",
        f"Pairs of rankings that tie{_of_samples(frame)} sgnLP has the same ties as rrLP.",
    )


@analysis(DIAZ, "Figure 8b", question=MORE)
def missing_queries(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    fractions: Sequence[float] = FRACTIONS,
    draws: int = 10,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """How well do preferences agree with RR when queries are missing?

    Mean preferences over the queries of a sample are compared with mean reciprocal rank over all
    queries.

    Args:
        fractions: shares of queries to keep, each in (0, 1].
        draws: the number of random samples of each.

    Returns:
        A row for each ``fraction`` and ``preference`` (RR, rrLP, sgnLP), with the number of
        ``samples``, and the mean and the standard deviation over them of ``system``: among the
        pairs of systems that mean δRR_1 over all queries distinguishes, the share that the mean
        preference over the sample orders in the same way.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 8b.
    """
    judged, rel = read(runs, qrels, rel)
    by_name = _preferences_by_name(*judged.once(recall_levels, rel, cutoff))
    truth = by_name["RR"].mean(axis=1)
    rows = [
        (fraction, name, _agreement(values[:, kept].mean(axis=1), truth))
        for fraction, kept in _samples(len(judged.qids), fractions, draws, seed, progress)
        for name, values in by_name.items()
    ]
    return _over_samples(rows, ["system"])


@missing_queries.chart
def missing_queries_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Agreement with reciprocal rank on all queries, as queries are removed."""
    return figure(
        _with_band(
            frame,
            "system",
            "sign agreement, two systems",
            "query fraction",
            up_to_1(_means(frame, "system")["low"]),
        ),
        "Agreement as queries are removed",
        "Mean preferences over some of the queries against mean reciprocal rank over all queries"
        + _of_samples(frame)
        + undrawn(frame["system"]),
    )


def _preferences_by_name(reciprocal: Floats, total: Ints) -> dict[str, Floats]:
    """RR, rrLP and sgnLP of every pair of systems for every query, each of shape (P, Q)."""
    i_star, rrlp = pairwise_preferences(reciprocal, total)
    return {"RR": np.where(i_star == 1, rrlp, 0.0), "rrLP": rrlp, "sgnLP": np.sign(rrlp)}


def _agreement(mean: Floats, truth: Floats) -> float:
    """The share of the pairs decided by the truth that a mean decides in the same way."""
    decided = signs(truth) != 0
    agreed = signs(mean)[decided] == np.sign(truth[decided])
    return float(agreed.mean()) if decided.any() else float("nan")


def _over_samples(rows: Sequence[tuple[Any, ...]], values: Sequence[str]) -> pd.DataFrame:
    """The number of samples of each fraction and preference, with means and deviations."""
    keys = ["fraction", "preference"]
    kinds = product(values, {"": "mean", "_sd": "std"}.items())
    columns = {f"{value}{end}": (value, of) for value, (end, of) in kinds}
    groups = pd.DataFrame(rows, columns=[*keys, *values]).groupby(keys, sort=False, as_index=False)
    return groups.agg(samples=(values[0], "size"), **columns)


def _of_samples(frame: pd.DataFrame) -> str:
    """The end of a caption, on lines and bands."""
    samples = frame["samples"].max()
    return (
        "; one sample per share."
        if samples == 1
        else f"; lines are means over {samples} samples, bands one standard deviation."
    )


def _means(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """Means over samples, and one standard deviation below and above, within [0, 1]."""
    mean, deviation = frame[value], frame[f"{value}_sd"]
    low, high = ((mean + way * deviation.fillna(0)).clip(0, 1) for way in (-1, 1))
    return frame[["fraction", "preference"]].assign(mean=mean, std=deviation, low=low, high=high)


def _with_band(
    frame: pd.DataFrame, value: str, title: str, across: str, scale: alt.Scale
) -> alt.TopLevelMixin:
    """Means over samples as lines, one standard deviation as bands."""
    means = _means(frame, value)
    shown = [name for name in _STYLES if name in set(means["preference"])]
    colors, dashes = (
        alt.Scale(domain=shown, range=[_STYLES[name][part] for name in shown]) for part in (0, 1)
    )
    low, y = (alt.Y(f"{end}:Q", title=title, scale=scale) for end in ("low", "mean"))
    legend = alt.Legend(
        orient="bottom", title=None, symbolType="stroke", symbolSize=400, symbolOpacity=1
    )
    base = alt.Chart(means, width=WIDTH, height=HEIGHT).encode(
        x=alt.X("fraction:Q", title=across),
        color=alt.Color("preference:N", scale=colors, legend=legend),
    )
    return alt.layer(
        base.mark_area(opacity=0.2).encode(y=low, y2=alt.Y2("high:Q")),
        base.mark_line().encode(
            y=y,
            strokeDash=alt.StrokeDash("preference:N", scale=dashes, legend=legend),
            tooltip=tooltips(
                "fraction",
                "preference",
                alt.Tooltip("mean", format=".3f"),
                alt.Tooltip("std", format=".3f"),
            ),
        ),
    )
