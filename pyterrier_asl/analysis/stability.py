"""Does the better of two systems stay the better one on other queries?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .discrimination import rareness_measures
from .double_scores import by_double_scores
from .judged_runs import JudgedRuns
from .rareness_values import parsed, values
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]


def stability(
    runs: Any,
    qrels: Any = None,
    measures: Sequence[Any] | None = None,
    *,
    draws: int = 1000,
    queries: int | None = None,
    fuzz: float = 0.05,
    weights: Any = None,
    by: Any = None,
    seed: int = 0,
    as_published: bool = False,
) -> pd.DataFrame:
    """How often two systems come out in their usual order on half of the queries (Table 2).

    Half of the queries are drawn many times. In each draw the system with the better mean wins, if
    the means differ by more than ``fuzz``. A pair's stability is the share of draws in which the
    one of the two that wins more often wins; a measure's is the mean over all pairs.

    **An absolute fuzz favours measures on a wide scale**: those that reach up to 2, as rareness
    measures do, pass a difference of .05 more easily than those that reach up to 1, and look more
    stable. So stability is given with a relative fuzz too, a share of the larger of the two means,
    which does not depend on the scale. Compare measures by that one.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        measures: measures or their names; a rareness measure without a pool gets the pool of these
            runs. None: those of the paper, see
            :func:`~pyterrier_asl.analysis.discrimination.rareness_measures`.
        draws: how often to draw.
        queries: how many to draw, without replacement; None: half, an odd half to the even number.
        fuzz: the difference that is none, absolute and as a share.
        weights: how much each query counts in a mean.
        by: what slice each query is in; one table for each.
        seed: of the draws; the same seed gives the same numbers.
        as_published: on rankings by 64-bit scores; the paper's numbers are those of ``absolute``.

    Returns:
        A row for each measure, with ``measure``, ``absolute``, ``relative``, ``queries`` drawn,
        ``draws``.

    Raises:
        ValueError: for fewer than two runs, or more queries to draw than there are.

    Source: Türkmen, Lease and Kutlu, 2023, Table 2, after Buckley and Voorhees, Evaluating
    Evaluation Measure Stability, 2000.
    """
    judged = JudgedRuns.of(runs, qrels)
    if len(judged) < 2:
        raise ValueError(f"stability is about pairs of systems, but there is only {judged.names}")
    judged = by_double_scores(judged) if as_published else judged
    wanted = [parsed(m) for m in (rareness_measures() if measures is None else measures)]
    computed = {str(measure): values(judged, measure) for measure in wanted}

    def of(chosen: Queries) -> pd.DataFrame:
        size = round(len(chosen) / 2) if queries is None else queries
        if not 1 <= size <= len(chosen):
            raise ValueError(f"{size} of {len(chosen)} queries cannot be drawn")
        drawn = _drawn(len(chosen), size, draws, seed) * chosen.each
        drawn /= drawn.sum(axis=1, keepdims=True)
        rows = [
            (name, *stabilities(drawn @ chosen.of(value).T, fuzz), size, draws)
            for name, value in computed.items()
        ]
        return pd.DataFrame(rows, columns=["measure", "absolute", "relative", "queries", "draws"])

    return per_slice(judged.qids, of, weights, by)


def _drawn(items: int, size: int, draws: int, seed: int) -> Floats:
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
