"""Intervals of ranks: worked cases, plain loops over all sign vectors, and what must not change."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyterrier_asl.statistics.rank_intervals import (
    RankIntervals,
    joint_ranks,
    p_of_pair,
    rank_intervals,
)


def plain(values, collections=None, weights=None, alpha=0.05, lower=None, common=False):
    """The definition in plain loops, with all sign vectors: better, critical, who stays."""
    if lower is None:
        lower = [[[a - b for a, b in zip(x, y)] for y in values] for x in values]
        scale = max(abs(v) for row in values for v in row)
    else:
        off = [(j, k) for j in range(len(lower)) for k in range(len(lower)) if j != k]
        scale = max((abs(v) for j, k in off for v in lower[j][k]), default=0)
    systems, topics = len(lower), len(lower[0][0])
    collections = collections or ["all"] * topics
    names = sorted(set(collections))
    members = {g: [q for q in range(topics) if collections[q] == g] for g in names}
    if weights is None:
        weights = [1 / (len(names) * len(members[g])) for g in collections]
    w = [x / sum(weights) for x in weights]
    pairs = [(j, k) for j in range(systems) for k in range(systems) if j != k]
    t, r, v = {}, {}, {}
    for j, k in pairs:
        a = lower[j][k]
        t[j, k] = sum(w[q] * a[q] for q in range(topics))
        t[j, k] = 0 if abs(t[j, k]) <= 1e-9 * scale else t[j, k]
        r[j, k] = [0.0] * topics
        for g in names:
            total = sum(w[q] for q in members[g])
            h = {q: w[q] / total for q in members[g]}
            mean = sum(h[q] * a[q] for q in members[g])
            for q in members[g]:
                factor = math.sqrt(1 - 2 * h[q] + sum(h[p] ** 2 for p in members[g]))
                residual = w[q] * (a[q] - mean) / factor
                r[j, k][q] = 0 if abs(residual) <= 1e-9 * scale * max(w) else residual
        v[j, k] = sum(x * x for x in r[j, k])
    if not pairs:
        return [], [], list(range(systems))
    mean_v = sum(v.values()) / len(v)

    def divided(t, v):
        size = mean_v if common else (v + mean_v) / 2
        return 0.0 if t == 0 else t / math.sqrt(size) if size > 0 else math.copysign(math.inf, t)

    observed = {pair: divided(t[pair], v[pair]) for pair in pairs}
    drawn = []
    for signs in itertools.product((1, -1), repeat=topics):
        drawn.append({})
        for pair in pairs:
            sums = [sum(signs[q] * r[pair][q] for q in members[g]) for g in names]
            error = v[pair] - sum(s * s / len(members[g]) for s, g in zip(sums, names))
            drawn[-1][pair] = divided(sum(sums), error) if v[pair] > 0 else 0.0
    nth = math.ceil((1 - alpha) * len(drawn) - 1e-9) - 1

    def quantile(some):
        return sorted(max(0, *(draw[pair] for pair in some)) for draw in drawn)[nth]

    def exceeds(pair, c):
        return observed[pair] > c * (1 + 1e-9) and t[pair] > 0

    unordered, better, critical = set(pairs), [], []
    while unordered:
        critical.append(quantile(unordered))
        rejected = {pair for pair in unordered if exceeds(pair, critical[-1])}
        if not rejected:
            break
        better += rejected
        unordered -= rejected | {(k, j) for j, k in rejected}
    against = {j: [(k, j) for k in range(systems) if k != j] for j in range(systems)}
    stays = [
        j
        for j, those in against.items()
        if not any(exceeds(pair, c) for c in [quantile(those)] for pair in those)
    ]
    return sorted(better), critical, stays


def ranked(result: RankIntervals):
    return result.low.tolist(), result.high.tolist()


def test_worked_cases(ranks_vectors):
    for case in ranks_vectors["cases"]:
        check_case(case)
    assert len(ranks_vectors["cases"]) == 29


def check_case(case):
    key = "values" if "values" in case else "lower"
    array, of_one_judge = np.array(case[key], float), 2 if key == "values" else 3
    options = {"collections": case.get("strata"), "weights": case.get("weights")}
    by_judge = [
        rank_intervals(**{key: judge}, alpha=case["alpha"], **options)
        for judge in (array if array.ndim > of_one_judge else [array])
    ]
    result = joint_ranks(by_judge) if len(by_judge) > 1 else by_judge[0]
    name, expected = (case["name"], case["alpha"]), case["expected"]
    assert ranked(result) == (expected["low"], expected["high"]), name
    assert np.argwhere(result.better).tolist() == expected["better"], name
    assert np.flatnonzero(result.low == 1).tolist() == expected["possibly_first"], name
    if expected["possibly_best"] is not None:
        assert np.flatnonzero(result.possibly_best).tolist() == expected["possibly_best"], name
    lists = (result.critical, expected["critical"])
    for critical, wanted in zip(*lists, strict=True) if len(by_judge) > 1 else [lists]:
        assert critical == pytest.approx(wanted, rel=1e-12, abs=1e-12), name


@st.composite
def boards(draw, topics=(2, 6)):
    systems, queries = draw(st.integers(1, 4)), draw(st.integers(*topics))
    cells = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.4, 0.5, 0.7, 0.8, 1.0])
    return draw(
        st.lists(
            st.lists(cells, min_size=queries, max_size=queries),
            min_size=systems,
            max_size=systems,
        )
    )


@settings(max_examples=60, deadline=None)
@given(
    boards(topics=(4, 6)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.05, 0.2, 0.5]),
)
def test_plain_loops_with_all_sign_vectors(values, two, weighted, common, alpha):
    topics = len(values[0])
    collections = ["a", "b", "a", "b", "b", "a"][:topics] if two else None
    weights = [1, 2, 3, 1, 1, 5][:topics] if weighted else None
    result = rank_intervals(
        values,
        collections=collections,
        weights=weights,
        alpha=alpha,
        variance="common" if common else "averaged",
    )
    better, critical, stays = plain(values, collections, weights, alpha, common=common)
    assert list(map(tuple, np.argwhere(result.better).tolist())) == better
    assert result.critical == pytest.approx(critical, rel=1e-9, abs=1e-9)
    assert np.flatnonzero(result.possibly_best).tolist() == stays


@settings(max_examples=30, deadline=None)
@given(boards(topics=(3, 5)), st.integers(0, 2**20), st.sampled_from([0.1, 0.5]))
def test_plain_loops_of_bounds(values, seed, alpha):
    exact = np.array(values)[:, np.newaxis] - np.array(values)
    lower = exact - np.random.default_rng(seed).choice([0, 0.1, 0.3], exact.shape)
    result = rank_intervals(lower=lower, alpha=alpha)
    better, critical, stays = plain(None, alpha=alpha, lower=lower.tolist())
    assert list(map(tuple, np.argwhere(result.better).tolist())) == better
    assert result.critical == pytest.approx(critical, rel=1e-9, abs=1e-9)
    assert np.flatnonzero(result.possibly_best).tolist() == stays


def board(systems=12, topics=40, seed=0):
    generator = np.random.default_rng(seed)
    means = np.linspace(0.3, 0.7, systems)[:, np.newaxis]
    return means + generator.normal(0, 0.2, topics) + generator.normal(0, 0.15, (systems, topics))


def test_bounds_without_unjudged_documents_are_the_values():
    values = board()
    by_value = rank_intervals(values)
    by_bounds = rank_intervals(lower=values[:, np.newaxis] - values)
    assert ranked(by_value) == ranked(by_bounds)
    assert by_value.critical == pytest.approx(by_bounds.critical, rel=1e-12)
    assert by_value.possibly_best.tolist() == by_bounds.possibly_best.tolist()


def test_several_collections_have_the_same_formula_as_one():
    """Two collections of whose second all systems have one value: only the first is a sample."""
    values = board(6, 20)
    constant = np.concatenate((values, np.full((6, 10), 0.5)), axis=1)
    alone = rank_intervals(values, draws=200)
    result = rank_intervals(constant, collections=["a"] * 20 + ["b"] * 10, draws=200)
    assert result.statistic == pytest.approx(alone.statistic)


def test_costs_reverse_the_ranks():
    values = board()
    low, high = ranked(rank_intervals(values))
    reverse_low, reverse_high = ranked(rank_intervals(-values))
    assert reverse_low == [13 - rank for rank in high]
    assert reverse_high == [13 - rank for rank in low]


@pytest.mark.parametrize("seed", range(3))
def test_systems_in_another_order_have_the_same_ranks(seed):
    values, order = board(seed=seed), np.random.default_rng(seed).permutation(12)
    result, permuted = rank_intervals(values), rank_intervals(values[order])
    assert ranked(permuted) == (result.low[order].tolist(), result.high[order].tolist())
    assert permuted.possibly_best.tolist() == result.possibly_best[order].tolist()


def test_equal_systems_are_never_ordered_and_share_an_interval():
    values = board(6)
    result = rank_intervals(np.concatenate((values, values[:2])))
    assert not result.better[[0, 6, 1, 7], [6, 0, 7, 1]].any()
    for ends in ranked(result):
        assert ends[6:] == ends[:2]


def test_a_larger_alpha_never_widens():
    widths = [
        (result.high - result.low, result.possibly_best)
        for alpha in (0.01, 0.05, 0.1, 0.3, 0.6)
        for result in [rank_intervals(board(), alpha=alpha)]
    ]
    for (wide, many), (narrow, few) in itertools.pairwise(widths):
        assert (narrow <= wide).all() and (few <= many).all()


def test_the_draws_are_those_of_the_definition():
    values, topics = board(3, 15), 15
    signs = 1 - 2 * np.random.default_rng(7).integers(0, 2, (200, topics))
    residuals = (values - values.mean(axis=1, keepdims=True)) / topics * np.sqrt(topics / 14)
    r = residuals[:, np.newaxis] - residuals
    v = (r**2).sum(axis=-1)
    mean = v.sum() / 6
    t = np.einsum("nq,jkq->njk", signs, r)
    size = np.sqrt((v - t**2 / topics + mean) / 2)
    largest = (t / size).max(axis=(1, 2))
    assert rank_intervals(values, draws=200, seed=7).critical[0] == pytest.approx(
        np.sort(largest)[189], rel=1e-12
    )


def test_p_of_a_pair_is_the_smallest_level_that_orders_it():
    values = board(12, 9)[[5, 7]]
    p = p_of_pair(values)
    assert 0 < p < 1
    assert rank_intervals(values, alpha=p).better.any()
    assert not rank_intervals(values, alpha=p - 1 / 512).better.any()
    assert p_of_pair(values[::-1]) == p


def test_p_of_a_pair_with_random_draws_counts_the_observed_value():
    assert p_of_pair([[1.0] * 20, [0.0] * 20], draws=99) == 1 / 100
    assert p_of_pair([[0.5] * 20, [0.5] * 20], draws=99) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [[0.1, 0.2]], "alpha": 1}, "alpha is 1"),
        ({"values": [[0.1, np.nan]]}, "system 0 for topic 1 is nan"),
        ({"lower": np.full((2, 2, 3), np.inf)}, "system 0 less 1 for topic 0 is inf"),
        ({"values": [[0.1, 0.2]], "weights": [1, 0]}, "positive"),
        ({"values": [[0.1, 0.2]], "weights": [1]}, "each of the 2 topics"),
        ({"values": [[0.1, 0.2, 0.3]], "collections": ["a", "a", "b"]}, "'b' has a single topic"),
        ({"values": [[0.1, 0.2, 0.3]], "collections": ["a"]}, "1 topics have a collection"),
        ({"values": [[0.1]]}, "has a single topic"),
        ({"values": [0.1, 0.2]}, "systems x topics"),
        ({"lower": np.zeros((2, 3, 4))}, "systems x systems x topics"),
        ({}, "either values or lower"),
        ({"values": [[0.1, 0.2]], "variance": "none"}, "variance 'none' is unknown"),
        ({"values": [[0.1, 0.2]], "draws": 0}, "draws is 0"),
    ],
)
def test_what_cannot_be_computed_is_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        rank_intervals(**arguments)


def test_a_pair_is_two_systems():
    with pytest.raises(ValueError, match="two systems, not 3"):
        p_of_pair(board(3))


def test_ranks_whichever_judge_is_right():
    """Three systems: the judges agree on the last, and not on the first two."""
    noise = np.random.default_rng(4).normal(0, 0.02, (2, 3, 20))
    means = np.array([[0.9, 0.5, 0.1], [0.6, 0.8, 0.1]])
    judges = [rank_intervals(each) for each in means[:, :, np.newaxis] + noise]
    assert [judge.low.tolist() for judge in judges] == [[1, 2, 3], [2, 1, 3]]
    joint = joint_ranks(judges)
    assert joint.low.tolist() == [1, 1, 3] and joint.high.tolist() == [2, 2, 3]
    assert np.argwhere(joint.better).tolist() == [[0, 2], [1, 2]]
    assert joint.possibly_best.tolist() == [True, True, False]
    # Shown are the first judge's.
    assert np.array_equal(joint.difference, judges[0].difference)
    assert np.array_equal(joint.statistic, judges[0].statistic)
    assert joint.critical == [judge.critical for judge in judges]
    without = [
        rank_intervals(each, possibly_best=False) for each in means[:, :, np.newaxis] + noise
    ]
    assert joint_ranks(without).possibly_best is None
