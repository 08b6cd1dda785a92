"""How many pairs of systems does a measure, or a preference, tell apart?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from tqdm.auto import tqdm

from ..measures import AP_Rareness, P_Rareness
from ..statistics import TUKEY_TESTS, compare_all, compare_differences
from .double_scores import by_double_scores
from .judged_runs import JudgedRuns
from .pairs import KINDS, named_pairs, preference_cube
from .rareness_values import parsed, values
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]

#: The tests of preferences, as the columns of the paper's table.
PREFERENCE_TESTS: tuple[str, ...] = ("tukey-randomized", "paired")


def rareness_measures(cutoff: int = 100, alphas: Sequence[float] = (0.5, 1.0)) -> list[Any]:
    """P and AP at a cut-off, each without rareness and with some weights of it.

    >>> rareness_measures(10, [1])
    [P@10, P_Rareness(alpha=1.0)@10, AP@10, AP_Rareness(alpha=1.0)@10]
    """
    p = [P_Rareness(alpha=alpha) @ cutoff for alpha in alphas]
    ap = [AP_Rareness(alpha=alpha) @ cutoff for alpha in alphas]
    return [parsed(f"P@{cutoff}"), *p, parsed(f"AP@{cutoff}"), *ap]


def discriminative_power(
    runs: Any,
    qrels: Any = None,
    measures: Sequence[Any] | None = None,
    *,
    test: str = "tukey-two-way",
    correction: str | None = "auto",
    levels: Sequence[float] = (0.05, 0.01),
    weights: Any = None,
    by: Any = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    as_published: bool = False,
) -> pd.DataFrame:
    """How many pairs of systems differ significantly in each measure.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        measures: measures or their names; a rareness measure without a pool gets the pool of these
            runs. None: those of Türkmen et al.'s Table 1, see :func:`rareness_measures`.
        test: one of :data:`~pyterrier_asl.statistics.TUKEY_TESTS`, which are about all pairs at
            once, or of :data:`~pyterrier_asl.statistics.PAIR_TESTS`.
        correction: of a test of pairs, over all pairs; ``'auto'`` is Holm's.
        levels: the levels of significance.
        weights: how much each query counts, for the tests that can take it.
        by: what slice each query is in; one table for each.
        n_resamples: draws of the tests that draw at random.
        seed: of those draws.
        as_published: as Türkmen et al. did: rankings by 64-bit scores, and a test of each pair by
            itself as if the systems had answered different queries, uncorrected. It is called
            Tukey's HSD there, finds more pairs than it should, and is here for comparison only.

    Returns:
        A row for each measure and level, with ``measure``, ``level``, ``pairs``, ``significant``,
        ``percent``, and how it was tested: ``test``, ``correction``, ``family`` (p-values corrected
        together), ``dropped`` (pairs that leave the test nothing to work on).

    Source: Türkmen, Lease and Kutlu, New Metrics to Encourage Innovation and Diversity in
    Information Retrieval Approaches, 2023, Table 1; Sakai, Metrics, statistics, tests, 2014.
    """
    judged = JudgedRuns.of(runs, qrels)
    if as_published:
        judged, test, correction = by_double_scores(judged), "unpaired-t", None
    wanted = [parsed(m) for m in (rareness_measures() if measures is None else measures)]
    computed = {str(measure): values(judged, measure) for measure in wanted}

    def of(queries: Queries) -> pd.DataFrame:
        tables = []
        for name, value in computed.items():
            found = compare_all(
                queries.of(value), judged.names, test=test, correction=correction,
                weights=queries.weights, n_resamples=n_resamples, seed=seed,
            )  # fmt: skip
            tables.append(_counted("measure", name, found["p_corrected"], levels, found.attrs))
        return pd.concat(tables, ignore_index=True)

    return per_slice(judged.qids, of, weights, by)


def preference_discrimination(
    runs: Any,
    qrels: Any = None,
    preferences: Sequence[str] = ("rrLP", "sgnLP", "RR"),
    *,
    rel: float = 1,
    cutoff: int | None = None,
    tests: Sequence[str] = PREFERENCE_TESTS,
    levels: Sequence[float] = (0.05,),
    weights: Any = None,
    by: Any = None,
    n_resamples: int = 1000,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """How many pairs of systems differ significantly in each kind of preference (Table 4).

    ``'paired'`` is the t-test for pairs or, for preferences that are signs, the sign test (exact
    binomial, queries that prefer neither left out), with Holm's correction over all pairs. The
    paper says Bonferroni's; Holm's gives its numbers.

    ``'tukey-randomized'`` is the randomisation form of Tukey's HSD, for preferences: in each query
    the systems exchange their rankings at random, all preferences follow, and the largest absolute
    mean preference of any pair is what an observed one is compared with. Of the forms of HSD it is
    the one that comes close to the paper's part (a): on DL 2020 passages 37.46, 40.91 and 28.35 are
    published for rrLP, sgnLP and RR. With 100 exchanges it finds 31.5 to 39.3, 36.5 to 42.7 and
    25.3 to 29.7 for 95 of 100 seeds; with 10,000 about 36.4, 40.9 and 27.4. The paper does not say
    how many it made. HSD by two-way analysis of variance finds 44, 50 and 41.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        preferences: some of rrLP, sgnLP, lexirecall, RPP, RR.
        rel: minimum grade of a relevant document; the paper has 2 on the DL passages collections.
        cutoff: look at the first ``cutoff`` documents only.
        tests: some of ``'tukey-randomized'`` and ``'paired'``.
        levels: the levels of significance.
        weights: how much each query counts; the sign test cannot take it.
        by: what slice each query is in; one table for each.
        n_resamples: draws of ``'tukey-randomized'``.
        seed: of those draws; the same seed gives the same numbers.
        progress: whether to show a progress bar; None: where there is a terminal.

    Returns:
        As of :func:`discriminative_power`, with ``preference`` for ``measure``.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 4; randomised HSD: Carterette,
    Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments,
    2012.
    """
    unknown = [test for test in tests if test not in PREFERENCE_TESTS]
    if unknown:
        known = " or ".join(map(repr, PREFERENCE_TESTS))
        raise ValueError(f"there is no test {unknown[0]!r} of preferences: use {known}")
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    reciprocal = judged.reciprocal_ranks(rel, cutoff)
    cubes = {kind: preference_cube(kind, reciprocal, total) for kind in preferences}

    def of(queries: Queries) -> pd.DataFrame:
        tables = []
        for test in tests:
            for kind, cube in cubes.items():
                if test == "paired":
                    p, attrs = _paired(kind, cube, judged.names, queries)
                else:
                    p = randomized_hsd(
                        cube[queries.at], n_resamples=n_resamples, seed=seed,
                        weights=queries.weights, progress=progress,
                    )  # fmt: skip
                    attrs = {"test": test, "correction": None, "family": p.size, "dropped": 0}
                tables.append(_counted("preference", kind, p, levels, attrs))
        return pd.concat(tables, ignore_index=True)

    return per_slice(judged.qids, of, weights, by)


def randomized_hsd(
    preferences: Floats,
    *,
    n_resamples: int = 1000,
    seed: int = 0,
    weights: Floats | None = None,
    progress: bool | None = False,
) -> Floats:
    """Randomised Tukey HSD of preferences: p-values of all pairs, which need no correction.

    Under the hypothesis that all systems are alike it does not matter which of them made which of a
    query's rankings. With differences of a measure's values for preferences it is the test
    ``'tukey-randomized'`` of :mod:`pyterrier_asl.statistics`.

    Args:
        preferences: the row's system against the column's, for every query, shape (Q, S, S).
        n_resamples: random exchanges.
        seed: of those.
        weights: how much each query counts, shape (Q,).
        progress: whether to show a progress bar; None: where there is a terminal.

    Returns:
        For each pair a < b, as :func:`numpy.triu_indices` lists them, the share of exchanges, the
        observed one among them, whose largest absolute mean preference is as large.

    Source: Carterette, 2012, section 4.
    """
    queries, systems, _ = preferences.shape
    share = np.full(queries, 1 / queries) if weights is None else weights / weights.sum()
    shares = preferences * share[:, None, None]
    observed = np.abs(shares.sum(axis=0)[np.triu_indices(systems, k=1)])
    generator = np.random.default_rng(seed)
    labels = np.tile(np.arange(systems), (queries, 1))
    largest = np.empty(n_resamples)
    hidden = None if progress is None else not progress
    for draw in tqdm(range(n_resamples), desc="exchanges", disable=hidden, leave=False):
        total = np.zeros((systems, systems))
        for share_of_query, order in zip(shares, generator.permuted(labels, axis=1)):
            total += share_of_query.take(order, axis=0).take(order, axis=1)
        largest[draw] = total.max(initial=0)  # the negative ones stand on the other side
    largest.sort()
    # A hair below the observed value, so that rounding does not part what is equal.
    at = np.searchsorted(largest, observed - 1e-12 * max(1.0, float(np.abs(preferences).max())))
    p: Floats = (n_resamples - at + 1) / (n_resamples + 1)
    return p


def _paired(
    kind: str, cube: Floats, names: list[str], queries: Queries
) -> tuple[Floats, dict[Any, Any]]:
    first, second = np.triu_indices(len(names), k=1)
    found = compare_differences(
        cube[queries.at][:, first, second].T, named_pairs(names),
        test="sign" if KINDS[kind] else "t", weights=queries.weights,
    )  # fmt: skip
    return found["p_corrected"].to_numpy(dtype=np.float64), found.attrs


def _counted(
    what: str, name: str, p: Any, levels: Sequence[float], attrs: dict[Any, Any]
) -> pd.DataFrame:
    """A row for each level; a p-value that is not a number is never significant."""
    p = np.asarray(p, dtype=np.float64)
    significant = np.array([int(np.sum(p <= level)) for level in levels])
    return pd.DataFrame(
        {
            what: name,
            "level": list(levels),
            "pairs": p.size,
            "significant": significant,
            "percent": 100 * significant / max(p.size, 1),
            "test": attrs["test"],
            "correction": "none" if attrs["test"] in TUKEY_TESTS else attrs["correction"] or "none",
            "family": attrs["family"],
            "dropped": attrs["dropped"],
        }
    )
