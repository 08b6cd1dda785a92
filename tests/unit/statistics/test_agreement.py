"""Agreement of rankings and of judges, against definitions and published numbers."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyterrier_asl.statistics.agreement import (
    agreement_of_tables,
    cohen_kappa,
    overlaps_of_scores,
    tau_ap,
    taus_ap,
)

orders = st.integers(2, 12).flatmap(lambda n: st.tuples(*[st.permutations(range(n))] * 2))
tied_scores = st.integers(2, 4).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
)


def tau_ap_by_definition(estimate, reference) -> float:
    """The sum over ranks of Yilmaz et al. (2008), for scores without ties."""
    ranking = sorted(range(len(estimate)), key=lambda item: -estimate[item])
    shares = [
        np.mean([reference[item] > reference[ranking[i]] for item in ranking[:i]])
        for i in range(1, len(ranking))
    ]
    return 2 * sum(shares) / (len(ranking) - 1) - 1


def rbo_by_definition(a, b, p, depth=1200) -> float:
    """The infinite sum of two orders of the same items, cut where the rest is negligible."""
    total = 0.0
    for d in range(1, depth):
        reached = min(d, len(a))
        total += len(set(a[:reached]) & set(b[:reached])) / reached * p ** (d - 1)
    return (1 - p) * total


def ways_to_break_ties(scores):
    """All orders of the items that do not contradict the scores, best first."""
    items = range(len(scores))
    groups = [[i for i in items if scores[i] == s] for s in sorted(set(scores), reverse=True)]
    for parts in product(*(permutations(group) for group in groups)):
        yield [item for part in parts for item in part]


def as_scores(ranking):
    scores = np.empty(len(ranking))
    scores[list(ranking)] = np.arange(len(ranking), 0, -1)
    return scores


@given(tied_scores)
def test_tau_ap_with_ties_is_the_mean_over_all_ways_to_break_them(pair):
    estimate, reference = pair
    every = [
        tau_ap_by_definition(as_scores(a), as_scores(b))
        for a in ways_to_break_ties(estimate)
        for b in ways_to_break_ties(reference)
    ]
    assert tau_ap(estimate, reference) == pytest.approx(np.mean(every), abs=1e-12)


@pytest.mark.filterwarnings("error")
def test_tau_ap_of_urbano_and_marrero_and_of_a_single_item():
    """The example in the README of their R package ircor: x is the truth, then y has ties."""
    x = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
    y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
    assert tau_ap(y, x) == pytest.approx(0.7491182, abs=5e-8)
    assert tau_ap(np.round(y * 5) / 5, x) == pytest.approx(0.6074515, abs=5e-8)
    assert np.isnan(taus_ap(np.array([[0.4]]), np.array([[0.3]]))).all()


@given(orders, st.sampled_from([0.5, 0.9, 0.98]))
def test_rbo_is_the_infinite_sum(pair, p):
    (found,) = overlaps_of_scores(*(as_scores(order)[np.newaxis] for order in pair), p=p)
    assert found == pytest.approx(rbo_by_definition(*pair, p), abs=1e-9)


@settings(max_examples=12)
@given(tied_scores, st.sampled_from([0.5, 0.8]))
def test_rbo_with_ties_is_the_mean_over_all_ways_to_break_them(pair, p):
    every = [
        rbo_by_definition(a, b, p, depth=150)
        for a in ways_to_break_ties(pair[0])
        for b in ways_to_break_ties(pair[1])
    ]
    (of_ties,) = overlaps_of_scores(*np.asarray(pair)[:, np.newaxis], p=p)
    assert of_ties == pytest.approx(np.mean(every), abs=1e-12)


def kappa_by_definition(a, b, penalty) -> float:
    """1 minus the mean penalty of the pairs, divided by the mean penalty of independent grades."""
    observed = np.mean([penalty(x, y) for x, y in zip(a, b)])
    by_chance = np.mean([penalty(x, y) for x in a for y in b])
    return float("nan") if by_chance == 0 else 1 - observed / by_chance


PENALTIES = {
    None: lambda x, y: float(x != y),
    "linear": lambda x, y: abs(x - y),
    "quadratic": lambda x, y: (x - y) ** 2,
}
GRADES = st.sampled_from([-1, 0, 1, 1.7, 3])


@pytest.mark.parametrize("weights", PENALTIES)
@given(st.lists(st.tuples(GRADES, GRADES), min_size=1, max_size=40))
def test_kappa_is_its_definition_and_knows_how_far_grades_are_apart(weights, pairs):
    a, b = np.array(pairs).T
    expected = kappa_by_definition(a, b, PENALTIES[weights])
    assert cohen_kappa(a, b, weights=weights) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    if weights is None:
        labels = np.unique((a, b))
        table = [[np.sum((a == one) & (b == other)) for other in labels] for one in labels]
        shares, kappas = agreement_of_tables([table])
        assert shares[0] == pytest.approx(np.mean(a == b))
        assert kappas[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)
