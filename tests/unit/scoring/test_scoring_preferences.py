"""Preferences between the rankings of a query, against loops over their definitions.
Tests of preferences.py."""

from itertools import combinations

import numpy as np
import pytest

from pyterrier_asl.scoring import preferences


def rankings(seed, levels=None):
    """RR_1, RR_2, ... of nine rankings; with few documents many rankings tie."""
    generator = np.random.default_rng(seed)
    levels = generator.integers(0, 7) if levels is None else levels
    return -np.sort(-generator.choice([0, 0, 1 / 5, 1 / 3, 1 / 2, 1], size=(9, levels)))


def compared(a, b):
    """i* and all preferences, by a loop over recall levels."""
    changes = [x - y for x, y in zip(a, b)]
    levels = [i for i, change in enumerate(changes, 1) if change]
    if not levels:
        return 0, dict.fromkeys(preferences.KINDS, 0.0)
    first, last = levels[0], levels[-1]
    return first, {
        "rrLP": changes[first - 1],
        "sgnLP": np.sign(changes[first - 1]),
        "lexirecall": np.sign(changes[last - 1]),
        "RPP": np.mean(np.sign(changes)),
        "RR": changes[0],
    }


def test_queries_are_compared_one_by_one():
    total = np.array([3, 0, 1, 4])
    parts = [rankings(seed, levels) for seed, levels in enumerate(total)]
    values = np.hstack(parts)
    i_star, rrlp = preferences.pairwise_preferences(values, total)
    cubes = {kind: preferences.preference_cube(kind, values, total) for kind in preferences.KINDS}
    assert i_star.shape == rrlp.shape == (36, 4) and cubes["RPP"].shape == (4, 9, 9)
    for q, part in enumerate(parts):
        for pair, (a, b) in enumerate(combinations(range(9), 2)):
            first, expected = compared(part[a].tolist(), part[b].tolist())
            assert (i_star[pair, q], rrlp[pair, q]) == (first, expected["rrLP"])
            for kind, cube in cubes.items():
                assert cube[q, a, b] == -cube[q, b, a] == pytest.approx(expected[kind], abs=1e-15)
    for i in (1, 2, 4):
        at = [part[:, i - 1] if part.shape[1] >= i else np.zeros(9) for part in parts]
        assert preferences.level(values, total, i).tolist() == np.transpose(at).tolist()
        changes = [
            [at_query[a] - at_query[b] for at_query in at] for a, b in combinations(range(9), 2)
        ]
        assert preferences.difference(values, total, i).tolist() == changes


def test_an_unknown_preference_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="no preference 'AP': use one of rrLP, sgnLP, lexirecall"):
        preferences.preference_cube("AP", np.zeros((2, 1)), np.array([1]))
