"""Agreement of rankings and of judges, against definitions and published numbers."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.statistics.agreement import (
    agreement_of_tables,
    tau_ap,
    taus_ap,
)

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


def test_tau_ap_of_urbano_and_marrero():
    # The example in the README of their R package ircor: x is the truth, then y has ties.
    x = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
    y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
    assert tau_ap(y, x) == pytest.approx(0.7491182, abs=5e-8)
    assert tau_ap(np.round(y * 5) / 5, x) == pytest.approx(0.6074515, abs=5e-8)


@pytest.mark.filterwarnings("error")
def test_tau_ap_of_a_single_item_is_undefined():
    assert np.isnan(taus_ap(np.array([[0.4]]), np.array([[0.3]]))).all()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_kappa_is_its_definition(pairs):
    """1 less the share of differing pairs over that of independent labels; several tables."""
    a, b = np.array(pairs).T
    table = [[np.sum((a == one) & (b == other)) for other in range(3)] for one in range(3)]
    by_chance = np.mean(np.not_equal.outer(a, b))
    kappa = 1 - np.mean(a != b) / by_chance if by_chance else np.nan
    shares, kappas = agreement_of_tables([table, np.eye(3)])
    assert shares.tolist() == pytest.approx([np.mean(a == b), 1])
    assert kappas.tolist() == pytest.approx([kappa, 1], nan_ok=True)
