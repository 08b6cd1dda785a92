"""How many pairs of systems does a measure distinguish, and does the better one stay better?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ..charts import (
    BESIDE_NAMES,
    LETTERS,
    LONG_NAME,
    POINT,
    STEP,
    TWO_LINES,
    alt,
    bars,
    better,
    captioned,
    category,
    figure,
    shape,
    tooltips,
    up_to_1,
)
from ..common.lazy import pd
from ..common.notices import counted
from ..common.parameters import check_names, check_probability
from ..common.types import Floats
from ..evaluation.evaluation import Runs
from ..evaluation.preferences import preference_cubes
from ..evaluation.sources import QrelsLike, refuse
from ..measures._base import check_from_0
from ..statistics.rounding import NO_DIFFERENCE
from ..statistics.settings import check_draws
from ..statistics.tests import compare_all
from ..statistics.tukey import randomized_hsd
from .asl_options import PUBLISHED
from .inputs import measures_with_rel, read
from .preferred_systems import compare_preferences
from .registry import DIAZ, REAL, TURKMEN, analysis
from .tables import described

#: The tests of preferences, as the columns of the paper's table.
PREFERENCE_TESTS: tuple[str, ...] = ("tukey-randomized", "paired")

#: P and AP, each without rareness and with two weights of it, as in the paper's tables.
RARENESS_MEASURES: tuple[str, ...] = (
    "P@100",
    "P_Rareness(alpha=0.5)@100",
    "P_Rareness(alpha=1)@100",
    "AP@100",
    "AP_Rareness(alpha=0.5)@100",
    "AP_Rareness(alpha=1)@100",
)


@analysis(TURKMEN, "Table 1", question=REAL)
def discriminative_power(
    runs: Runs,
    qrels: QrelsLike | None = None,
    measures: Sequence[Any] | None = None,
    *,
    rel: float | None = None,
    test: str = "t",
    correction: str = "auto",
    levels: Sequence[float] = (0.05, 0.01),
    draws: int | None = None,
    seed: int | None = None,
    as_published: bool = False,
) -> pd.DataFrame:
    """How many pairs of systems do measures distinguish?

    The number of pairs of systems that differ significantly in each measure. The t-test with Holm's
    correction holds its level over all pairs. ``'tukey-randomized'`` does too. The other forms of
    Tukey's HSD pool the variances of all systems. If the variances differ much, these forms miss
    differences between systems with small variances.

    Args:
        measures: measures or their names; a rareness measure without a pool gets the pool of these
            runs. None: the measures of Türkmen et al.'s Table 1, see
            :data:`RARENESS_MEASURES`.
        rel: minimum grade of a relevant document, for measures without one.
        test: one of :data:`~pyterrier_asl.statistics.tests.PAIR_TESTS`, or of
            :data:`~pyterrier_asl.statistics.tests.TUKEY_TESTS`, which test all pairs together.
        correction: over all pairs; ``'auto'`` is Holm's.
        levels: the levels of significance.
        as_published: the method of Türkmen et al.: rankings by 64-bit scores, and an unpaired test
            of each pair without correction. The paper calls it Tukey's HSD. It finds too many pairs
            and is meant for comparison with the paper only.

    Returns:
        A row for each measure and level, with ``measure``, ``level``, ``pairs``, ``significant``,
        ``percent``, and how it was tested: ``test``, ``correction``, ``family`` (the number of
        p-values corrected together), ``dropped`` (pairs that cannot be tested).

    Source: Türkmen, Lease and Kutlu, New Metrics to Encourage Innovation and Diversity in
    Information Retrieval Approaches, 2023, Table 1; Sakai, Metrics, statistics, tests, 2014.
    """
    refuse(
        PUBLISHED,
        test=as_published and test != "t" and test,
        correction=as_published and correction != "auto" and correction,
    )
    _check_levels(levels)
    judged, _ = read(runs, qrels, rel, measures, double_scores=as_published)
    if as_published:
        test, correction = "unpaired-t", "none"

    options: dict[str, Any] = {"test": test, "correction": correction, "draws": draws, "seed": seed}
    measures = RARENESS_MEASURES if measures is None else measures
    pairs = {
        name: compare_all(judged.values(measure), judged.names, **options)
        for name, measure in measures_with_rel(measures, rel).items()
    }
    tables = [_rows_by_level("measure", name, of, levels) for name, of in pairs.items()]
    return pd.concat(tables, ignore_index=True)


@discriminative_power.chart
def discrimination_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The share of pairs of systems that each measure, or preference, distinguishes."""
    what = "measure" if "measure" in frame else "preference"
    levels = sorted(frame["level"].unique(), reverse=True)
    # Signs have another test than the other preferences, but are shown in the same panel.
    groups = frame["test"].where(
        frame["correction"] == "none", "tests of pairs, correction: " + frame["correction"]
    )
    panels = []
    for how, part in frame.groupby(groups, sort=False):
        shown = part.assign(name=part[what])
        if part["test"].nunique() > 1:
            shown["name"] += ", " + part["test"]
        panel = bars(
            shown,
            "percent",
            ".1f",
            x=alt.X("percent:Q", title="significant (%)", scale=alt.Scale(domainMin=0)),
            y=alt.Y(
                "name:N",
                title=None,
                sort=None,
                axis=alt.Axis(labelLimit=LONG_NAME, labelExpr=TWO_LINES),
            ),
            yOffset=alt.YOffset("level:N", sort=levels),
            color=category("level", "level", domain=levels).legend(
                alt.Legend(orient="bottom") if len(levels) > 1 else None
            ),
            tooltip=tooltips(
                what,
                "level",
                "pairs",
                "significant",
                alt.Tooltip("percent", format=".2f"),
                "test",
                "correction",
                "family",
                "dropped",
            ),
        )
        heading = alt.TitleParams(str(how), fontSize=LETTERS, fontWeight="normal", anchor="start")
        panels.append(panel.properties(title=heading, width=BESIDE_NAMES, height=alt.Step(STEP)))
    return captioned(
        alt.vconcat(*panels).resolve_scale(x="shared"),
        "Pairs of systems distinguished",
        f"The share of {counted(int(frame['pairs'].max()), 'pair')} of systems whose difference is "
        f"significant{f' at {levels[0]:g}' * (len(levels) == 1)}"
        f"{', with the correction of each test' * (len(panels) > 1)}.",
    )


@analysis(DIAZ, "Table 4")
def preference_discrimination(
    runs: Runs,
    qrels: QrelsLike | None = None,
    preferences: Sequence[str] = ("rrLP", "sgnLP", "RR"),
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    tests: Sequence[str] = PREFERENCE_TESTS,
    levels: Sequence[float] = (0.05,),
    draws: int | None = None,
    seed: int | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """How many pairs of systems do preferences distinguish?

    The number of pairs of systems that differ significantly in each kind of preference.

    ``'paired'`` is the t-test for pairs or, for preferences that are signs, the sign test (exact
    binomial, queries that prefer neither left out), with Holm's correction over all pairs. The
    paper names Bonferroni's correction, but Holm's gives its numbers.

    ``'tukey-randomized'`` is the randomisation form of Tukey's HSD, for preferences: in each query
    the systems exchange their rankings at random, and their preferences with them. An observed mean
    preference is compared with the largest absolute mean preference of any pair after the exchange.
    Of the forms of HSD this one comes closest to part (a) of the paper's table: on DL 2020 passages
    37.46, 40.91 and 28.35 are published for rrLP, sgnLP and RR. With 100 exchanges it finds 31.5 to
    39.3, 36.5 to 42.7 and 25.3 to 29.7 for 95 of 100 seeds; with 10,000 about 36.4, 40.9 and 27.4.
    The paper does not give its number. HSD by two-way analysis of variance finds 44, 50 and 41.

    Args:
        preferences: some of rrLP, sgnLP, lexirecall, RPP, RR.
        rel: minimum grade of a relevant document; the paper has 2 on the DL passages collections.
        tests: some of ``'tukey-randomized'`` and ``'paired'``.
        levels: the levels of significance.
        draws: the number of exchanges of ``'tukey-randomized'``; None: 1,000.

    Returns:
        The columns of :func:`discriminative_power`, with ``preference`` for ``measure``.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 4; randomised HSD: Carterette,
    Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments,
    2012.
    """
    _check_levels(levels)
    judged, rel = read(runs, qrels, rel)
    check_names("tests", tests, PREFERENCE_TESTS, "tests of preferences")
    if "tukey-randomized" not in tests:
        refuse("is for 'tukey-randomized'", draws=draws, seed=seed)
    draws = 1000 if draws is None else draws

    cubes = judged.once(preference_cubes, tuple(preferences), rel, cutoff)

    tables = []
    for test, (kind, cube) in product(tests, cubes.items()):
        if test == "paired":
            pairs, _ = compare_preferences(kind, cube, judged.names)
        else:
            p = randomized_hsd(cube, draws=draws, seed=seed or 0, progress=progress)
            pairs = described(
                pd.DataFrame({"p_corrected": p}),
                test=test,
                correction="none",
                family=p.size,
                dropped=0,
            )
        tables.append(_rows_by_level("preference", kind, pairs, levels))
    return pd.concat(tables, ignore_index=True)


preference_discrimination.chart(discrimination_chart)


def _check_levels(levels: Sequence[float]) -> None:
    if not len(levels):
        raise ValueError("there is no level of significance: give one or several, such as .05")
    for level in levels:
        check_probability("level", level)


def _rows_by_level(
    what: str, name: str, pairs: pd.DataFrame, levels: Sequence[float]
) -> pd.DataFrame:
    """A row for each level; a p-value that is not a number is never significant."""
    significant = np.array([int(np.sum(pairs["p_corrected"] <= level)) for level in levels])
    return pd.DataFrame(
        {
            what: name,
            "level": list(levels),
            "pairs": len(pairs),
            "significant": significant,
            "percent": 100 * significant / max(len(pairs), 1),
            **{
                attribute: pairs.attrs[attribute]
                for attribute in ("test", "correction", "family", "dropped")
            },
        }
    )


@analysis(TURKMEN, "Table 2", question=REAL)
def stability(
    runs: Runs,
    qrels: QrelsLike | None = None,
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

    The share of draws of half of the queries in which two systems have their usual order (Table 2).

    Half of the queries are drawn many times. In each draw the system with the better mean wins, if
    the means differ by more than ``fuzz``. The stability of a pair is the share of draws won by the
    system that wins more often. The stability of a measure is the mean over all pairs.

    **An absolute fuzz favours measures on a wide scale**: rareness measures reach up to 2, so a
    difference of .05 is more frequent than in measures that reach up to 1, and they look more
    stable. Compare measures by the stability with a relative fuzz, a share of the larger of the two
    means, which does not depend on the scale.

    Args:
        measures: measures or their names; a rareness measure without a pool gets the pool of these
            runs. None: the measures of the paper, see
            :data:`RARENESS_MEASURES`.
        rel: minimum grade of a relevant document, for measures without one.
        draws: the number of draws.
        queries: the number of queries in a draw, without replacement; None: half, rounded to even.
        fuzz: the largest difference that counts as a tie, absolute and as a share.
        as_published: use rankings by 64-bit scores; the paper has the column ``absolute``.

    Returns:
        A row for each measure, with ``measure``, ``absolute``, ``relative``, ``queries`` drawn,
        ``draws``.

    Raises:
        ValueError: for fewer than two runs, or more queries in a draw than exist.

    Source: Türkmen, Lease and Kutlu, 2023, Table 2, after Buckley and Voorhees, Evaluating
    Evaluation Measure Stability, 2000.
    """
    judged, _ = read(runs, qrels, rel, measures, double_scores=as_published)
    if len(judged) < 2:
        raise ValueError(
            f"stability needs two systems or more, but there is only {judged.names[0]!r}"
        )
    check_draws(draws, seed)
    check_from_0("fuzz", fuzz)

    default = RARENESS_MEASURES if measures is None else measures
    total = len(judged.qids)
    size = round(total / 2) if queries is None else queries
    if not 1 <= size <= total:
        half = "half of the queries are drawn, so two are needed"
        raise ValueError(
            f"{size} of {counted(total, 'query', 'queries')} cannot be drawn: "
            + (half if queries is None else f"give 1 to {total} as queries=")
        )
    first = np.tile(np.arange(total) < size, (draws, 1))
    share = np.random.default_rng(seed).permuted(first, axis=1) / size
    rows = [
        (name, *stabilities(share @ judged.values(m).T, fuzz), size, draws)
        for name, m in measures_with_rel(default, rel).items()
    ]
    return described(
        pd.DataFrame(rows, columns=["measure", "absolute", "relative", "queries", "draws"]),
        fuzz=fuzz,
    )


@stability.chart
def stability_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The stability of the order of two systems by each measure, as points."""
    kinds = ["absolute", "relative"]
    fuzz = f" of {frame.attrs['fuzz']:g}" if "fuzz" in frame.attrs else ""
    long = frame.melt(["measure", "queries", "draws"], kinds, "fuzz", "stability")
    return figure(
        alt.Chart(long).mark_point(**POINT),
        "Stability of the order of two systems",
        f"The share of {counted(int(frame['draws'].max()), 'draw')} of "
        f"{counted(int(frame['queries'].max()), 'query', 'queries')} that put two systems in their "
        "usual order, in the mean over pairs. Differences up to the fuzz are ties: an absolute one"
        f"{fuzz}, or {'that' if fuzz else 'a'} share of the larger mean, which does not depend on "
        "the scale of the measure.",
        rows=2,
        x=alt.X("stability:Q", title=better("stability", "→"), scale=up_to_1(long["stability"])),
        y=alt.Y(
            "measure:N",
            title=None,
            sort=None,
            axis=alt.Axis(labelLimit=LONG_NAME, labelExpr=TWO_LINES),
        ),
        color=category("fuzz", "fuzz", domain=kinds).legend(orient="bottom"),
        shape=shape("fuzz", "fuzz", domain=kinds),
        tooltip=tooltips(
            "measure", "fuzz", alt.Tooltip("stability", format=".4f"), "queries", "draws"
        ),
    )


def stabilities(means: Floats, fuzz: float) -> tuple[float, float]:
    """Stability with an absolute and with a relative fuzz.

    Args:
        means: the mean of each system in each draw, shape (draws, S).
        fuzz: the largest difference that is a tie, absolute and as a share of the larger mean.

    >>> stabilities(np.array([[0.5, 0.4], [0.5, 0.47], [0.3, 0.4]]), 0.05)
    (0.3333333333333333, 0.6666666666666666)
    """
    systems = means.shape[1]
    usual = np.zeros(2)
    for a in range(systems - 1):
        first, others = means[:, a, None], means[:, a + 1 :]
        difference, larger = first - others, np.maximum(np.abs(first), np.abs(others))
        # A little above the fuzz, so that rounding does not turn an equal difference into a win.
        least = np.stack([np.full_like(larger, fuzz), fuzz * larger]) + NO_DIFFERENCE
        wins, losses = np.sum(difference > least, axis=1), np.sum(difference < -least, axis=1)
        usual += np.maximum(wins, losses).sum(axis=1)
    absolute, relative = (usual / (len(means) * systems * (systems - 1) / 2)).tolist()
    return absolute, relative
