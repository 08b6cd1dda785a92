"""Does the better of two systems stay the better one on other queries?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..charts.forms import TWO_LINES, alt, category, figure, shape
from ..evaluation.rareness_values import values_by_name
from .double_scores import by_double_scores
from .registry import TURKMEN, Floats, JudgedRuns, Queries, analysis


@analysis("stability", TURKMEN, "Table 2")
def stability(
    judged: JudgedRuns,
    chosen: Queries,
    measures: Sequence[Any] | None = None,
    *,
    rel: float | None = None,
    draws: int = 1000,
    queries: int | None = None,
    fuzz: float = 0.05,
    seed: int = 0,
    as_published: bool = False,
) -> pd.DataFrame:
    """Does the better system stay better on other queries?

    How often two systems come out in their usual order on half of the queries (Table 2).

    Half of the queries are drawn many times. In each draw the system with the better mean wins, if
    the means differ by more than ``fuzz``. A pair's stability is the share of draws in which the
    one of the two that wins more often wins; a measure's is the mean over all pairs.

    **An absolute fuzz favours measures on a wide scale**: those that reach up to 2, as rareness
    measures do, pass a difference of .05 more easily than those that reach up to 1, and look more
    stable. So stability is given with a relative fuzz too, a share of the larger of the two means,
    which does not depend on the scale. Compare measures by that one.

    Args:
        measures: measures or their names; a rareness measure without a pool gets the pool of these
            runs. None: those of the paper, see
            :func:`~pyterrier_asl.evaluation.rareness_values.rareness_measures`.
        rel: minimum grade of a relevant document, for measures that do not say it themselves.
        draws: how often to draw.
        queries: how many to draw, without replacement; None: half, an odd half to the even number.
        fuzz: the difference that is none, absolute and as a share.
        as_published: on rankings by 64-bit scores; the paper's numbers are those of ``absolute``.

    Returns:
        A row for each measure, with ``measure``, ``absolute``, ``relative``, ``queries`` drawn,
        ``draws``.

    Raises:
        ValueError: for fewer than two runs, or more queries to draw than there are.

    Source: Türkmen, Lease and Kutlu, 2023, Table 2, after Buckley and Voorhees, Evaluating
    Evaluation Measure Stability, 2000.
    """
    if len(judged) < 2:
        raise ValueError(f"stability is about pairs of systems, but there is only {judged.names}")
    judged = judged.once(by_double_scores) if as_published else judged
    size = round(len(chosen) / 2) if queries is None else queries
    if not 1 <= size <= len(chosen):
        raise ValueError(f"{size} of {len(chosen)} queries cannot be drawn")
    share = _drawn_queries(len(chosen), size, draws, seed) * chosen.each
    share /= share.sum(axis=1, keepdims=True)
    rows = [
        (name, *stabilities(share @ chosen.of(value).T, fuzz), size, draws)
        for name, value in values_by_name(judged, measures, rel).items()
    ]
    return pd.DataFrame(rows, columns=["measure", "absolute", "relative", "queries", "draws"])


@stability.chart
def stability_chart(frame: pd.DataFrame) -> Any:
    """How often two systems come out in their usual order, as points."""
    kinds = ["absolute", "relative"]
    long = frame.melt(["measure", "queries", "draws"], kinds, "fuzz", "stability")
    return figure(
        alt.Chart(long).mark_point(filled=True, size=70, opacity=1),
        "Stability of the order of two systems",
        f"The share of {int(frame['draws'].max())} draws of {int(frame['queries'].max())} queries "
        "that put two systems in their usual order, in the mean over pairs. An absolute fuzz "
        "favours measures on a wide scale: compare them by the relative one.",
        rows=1.4,
        x=alt.X("stability:Q", title="stability", scale=alt.Scale(zero=False)),
        y=alt.Y("measure:N", title=None, sort=None,
                axis=alt.Axis(labelLimit=260, labelExpr=TWO_LINES)),
        color=category("fuzz", "fuzz", domain=kinds).legend(orient="bottom"),
        shape=shape("fuzz", "fuzz", domain=kinds),
        tooltip=["measure", "fuzz", alt.Tooltip("stability", format=".4f"), "queries", "draws"],
    )


def _drawn_queries(items: int, size: int, draws: int, seed: int) -> Floats:
    """Which items each draw holds, as zeros and ones, shape (draws, items)."""
    generator = np.random.default_rng(seed)
    first = np.arange(items) < size
    return generator.permuted(np.tile(first, (draws, 1)), axis=1).astype(np.float64)


def stabilities(means: Floats, fuzz: float) -> tuple[float, float]:
    """Stability with an absolute and with a relative fuzz.

    Args:
        means: the mean of each system in each draw, shape (draws, S).
        fuzz: the difference that is none, absolute and as a share of the larger mean.

    >>> stabilities(np.array([[0.5, 0.4], [0.5, 0.47], [0.3, 0.4]]), 0.05)
    (0.3333333333333333, 0.6666666666666666)
    """
    systems = means.shape[1]
    usual = np.zeros(2)
    for a in range(systems - 1):
        first, others = means[:, a, None], means[:, a + 1 :]
        difference = first - others
        # A hair above, so that rounding does not make a win of a difference that is the fuzz.
        larger = np.maximum(np.abs(first), np.abs(others))
        for kind, least in enumerate((np.full_like(larger, fuzz), fuzz * larger)):
            wins = np.sum(difference > least + 1e-12, axis=0)
            losses = np.sum(difference < -least - 1e-12, axis=0)
            usual[kind] += np.maximum(wins, losses).sum()
    absolute, relative = usual / (len(means) * systems * (systems - 1) / 2)
    return float(absolute), float(relative)
