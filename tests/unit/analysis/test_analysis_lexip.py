"""Analyses of preferences, against loops over all pairs and the numbers of the paper.
Tests of incomplete_judgements.py, preferred_systems.py, recall_levels.py, tied_rankings.py."""

from itertools import combinations, permutations, product
from math import comb

import brute_force
import numpy as np
import pandas as pd
import pytest
import scipy.stats
import small
from brute_force import ranking

from pyterrier_asl.analysis.incomplete_judgements import missing_labels
from pyterrier_asl.analysis.preferred_systems import cycles, mc4, system_order, system_preferences
from pyterrier_asl.analysis.recall_levels import (
    level_correlations,
    level_regressions,
    prediction_from_suffixes,
    recall_level_needed,
)
from pyterrier_asl.analysis.tied_rankings import (
    preference_levels,
    tie_probability,
    tie_probability_by_rank,
    ties,
    ties_by_recall_level,
)
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.preferences import preference_matrix, recall_levels
from pyterrier_asl.scoring.preferences import KINDS, level, preference_cube
from pyterrier_asl.statistics.tests import compare_all
from pyterrier_asl.statistics.tukey import randomized_hsd

pytestmark = pytest.mark.filterwarnings("ignore")


def some_runs(seed: int, systems: int = 4, queries: int = 6) -> tuple[dict, dict]:
    """Runs of which two have the same rankings, and qrels."""
    runs, qrels = small.collection(queries, systems, seed)
    return {**runs, "twin": runs["delta"]}, qrels


def reciprocal_ranks(run: dict, qrels: dict, rel: float) -> dict[str, list[float]]:
    """RR_1, RR_2, ... in plain loops."""
    return {
        qid: brute_force.reciprocal_ranks(ranking(run.get(qid, {}), grades), grades, rel)
        for qid, grades in qrels.items()
    }


def compared(a: list[float], b: list[float]) -> tuple[int, float]:
    """i* and rrLP in a plain loop."""
    for i, (x, y) in enumerate(zip(a, b), 1):
        if x != y:
            return i, x - y
    return 0, 0.0


def loop_over_pairs(runs, qrels, rel):
    """(a's RRs, b's RRs) of every two systems and every query."""
    values = {name: reciprocal_ranks(run, qrels, rel) for name, run in runs.items()}
    for a, b in combinations(runs, 2):
        for qid in qrels:
            yield values[a][qid], values[b][qid]


@pytest.mark.parametrize("rel", [1, 2])
def test_ties_are_counted_as_in_loops(rel):
    runs, qrels = some_runs(2)
    pairs = list(loop_over_pairs(runs, qrels, rel))
    found = ties(runs, qrels, rel=rel).set_index("preference")
    tied = {
        "rrLP, sgnLP": sum(a == b for a, b in pairs),
        "RR": sum(a[:1] == b[:1] for a, b in pairs),
    }
    assert found["pairs"].tolist() == [len(pairs)] * 2 and found["ties"].to_dict() == tied
    assert found["percent"].tolist() == [100 * n / len(pairs) for n in tied.values()]


def test_ties_by_rank_and_level_match_loops():
    runs, qrels = some_runs(3)
    pairs = list(loop_over_pairs(runs, qrels, 1))
    both = pairs + [(b, a) for a, b in pairs]
    for row in tie_probability_by_rank(runs, qrels, deepest=5).itertuples():
        at = [b[0] == a[0] for a, b in both if a and a[0] == 1 / row.p_1]
        assert row.pairs == len(at)
        assert row.probability == pytest.approx(np.mean(at), nan_ok=True) if at else True
    for row in ties_by_recall_level(runs, qrels, levels=4).itertuples():
        level = [(a[row.i - 1], b[row.i - 1]) for a, b in pairs if len(a) >= row.i]
        assert row.pairs == len(level)
        assert row.probability == pytest.approx(np.mean([x == y for x, y in level]))
        assert row.both_missing == pytest.approx(np.mean([x == y == 0 for x, y in level]))
    needed = recall_level_needed(runs, qrels, levels=8)
    stars = [compared(a, b)[0] for a, b in pairs]
    assert needed["pairs"].tolist() == [stars.count(i) for i in range(1, 9)]
    assert needed["cumulative"].iloc[-1] == pytest.approx(np.mean(np.array(stars) > 0))


def test_levels_are_those_that_an_enumeration_finds_and_exact_for_large_collections():
    n = 7
    for m, cutoff in product(range(1, n + 1), [None, *range(1, n + 1)]):
        seen = {
            tuple(p for p in positions if cutoff is None or p <= cutoff)
            for positions in combinations(range(1, n + 1), m)
        }
        found = preference_levels(n, [m], cutoff=cutoff).iloc[0]
        assert found["lexiprecision"] == len(seen)
        assert found["RR"] == len({positions[:1] for positions in seen})
    found = preference_levels(50_000, [1, 250])
    assert found["RR"].tolist() == [50_000, 49_751]
    assert found["lexiprecision"].tolist() == [50_000, comb(50_000, 250)]


def test_tie_probability_is_a_share_of_arrangements():
    n, m = 8, 3
    arrangements = list(combinations(range(1, n + 1), m))
    found = tie_probability(n, [m], range(1, n + 1))
    expected = [sum(a[0] == p for a in arrangements) / len(arrangements) for p in range(1, n + 1)]
    assert found["probability"].tolist() == pytest.approx(expected)
    # Figure 2: n = 50000, m = 250. At p_1 = 1 it is m/n, and the sum over all ranks is 1.
    large = tie_probability(50_000, [250], range(1, 50_001))["probability"]
    assert large[0] == pytest.approx(250 / 50_000)
    assert large.sum() == pytest.approx(1)


def test_locality_matches_all_pairs_written_out():
    runs, qrels = some_runs(4, systems=9)
    values = {name: reciprocal_ranks(run, qrels, 1) for name, run in runs.items()}

    def differences(first, last, pairs=permutations):
        return np.array(
            [
                np.subtract(values[a][qid], values[b][qid])[first - 1 : last]
                for a, b in pairs(runs, 2)
                for qid in qrels
                if len(values[a][qid]) >= last
            ]
        )

    def mean(name):
        return np.mean([sum(ranks) for ranks in values[name].values()])

    for row in level_correlations(runs, qrels, levels=3).itertuples():
        d = differences(1, row.j)
        assert row.pairs == len(d) // 2
        one_way = differences(1, row.j, lambda of, n: combinations(sorted(of, key=mean), n))
        both, one = (np.corrcoef(of[:, row.i - 1], of[:, row.j - 1])[0, 1] for of in (d, one_way))
        assert abs(both - one) > 1e-4 and row.correlation == pytest.approx(both, rel=1e-9)
    for i, rows in level_regressions(runs, qrels, levels=2, following=2).groupby("i"):
        d = differences(i, i + 2)
        fit, left, *_ = np.linalg.lstsq(d[:, 1:], d[:, 0], rcond=None)
        assert rows["coefficient"].tolist() == pytest.approx(fit.tolist())
        assert rows["R2"].iloc[0] == pytest.approx(1 - left[0] / (d[:, 0] ** 2).sum())


@pytest.mark.parametrize("rel", [1, 2])
def test_prediction_from_suffixes_matches_a_loop(rel):
    runs, qrels = some_runs(5)
    right, tied, pairs = np.zeros(2), np.zeros(2), 0
    for a, b in loop_over_pairs(runs, qrels, rel):
        if a[:1] == b[:1]:
            continue
        pairs += 1
        second = compared(a[1:2], b[1:2])[1]
        for i, predicted in enumerate((compared(a[1:], b[1:])[1], second)):
            right[i] += np.sign(predicted) == np.sign(a[0] - b[0])
            tied[i] += predicted == 0
    found = prediction_from_suffixes(runs, qrels, rel=rel)
    assert found["pairs"].tolist() == [pairs, pairs]
    assert found["right"].tolist() == right.tolist()
    assert found["ties"].tolist() == tied.tolist()
    np.testing.assert_allclose(found["percent"], 100 * right / pairs)
    np.testing.assert_allclose(found["percent_of_untied"], 100 * right / (pairs - tied))


def test_shares_of_samples_lie_within_1():
    with pytest.raises(ValueError, match="above 0 and up to 1, but 0 does not"):
        missing_labels(*some_runs(7), fractions=[0.5, 0, 2])


def test_orders_do_not_depend_on_how_runs_are_listed_or_called():
    runs, qrels = some_runs(9)
    for kind in KINDS:
        found = system_order(runs, qrels, kind).set_index("system")
        backwards = system_order(dict(reversed(runs.items())), qrels, kind).set_index("system")
        columns = ["mean_rank", "borda_rank", "mc4_rank"]
        pd.testing.assert_frame_equal(found[columns], backwards.loc[found.index, columns])
        assert (found.loc["twin", columns] == found.loc["delta", columns]).all()


def test_borda_counts_wins_and_half_of_ties_and_mc4_queries():
    runs, qrels = some_runs(10)
    for kind in ("sgnLP", "RPP", "RR"):
        judged = Evaluation.of(runs, qrels)
        cube = preference_cube(kind, judged.reciprocal_ranks(), judged.judgements.num_relevant(1))
        points = dict.fromkeys(judged.names, 0.0)
        for i, j in permutations(range(len(runs)), 2):
            won = np.sum(cube[:, i, j] > 0) + np.sum(cube[:, i, j] == 0) / 2
            points[judged.names[i]] += won / len(qrels)
        found = system_order(runs, qrels, kind).set_index("system").loc[judged.names]
        assert found["borda"].to_dict() == pytest.approx(points)
        by_queries, by_mean = (mc4(of.sum(axis=0) < -1e-9)[0] for of in (np.sign(cube), cube))
        assert found["mc4_round"].tolist() == by_queries.tolist()
        assert (by_queries != by_mean).any() == (kind == "RPP")


def test_mc4_is_the_stationary_distribution_of_its_chain():
    rng = np.random.default_rng(0)
    for _ in range(20):
        beats = np.triu(rng.random((6, 6)) < 0.5, 1)
        beats |= ~(beats | beats.T) & ~np.eye(6, dtype=bool) & np.tri(6, dtype=bool)
        # The column beats the row; a cycle through all systems makes one class.
        for i in range(6):
            beats[i, (i + 1) % 6], beats[(i + 1) % 6, i] = True, False
        rounds, stays = mc4(beats)
        chain = beats / 6
        np.fill_diagonal(chain, 1 - chain.sum(axis=1))
        values, vectors = np.linalg.eig(chain.T)
        stationary = np.real(vectors[:, np.argmin(np.abs(values - 1))])
        assert rounds.tolist() == [1] * 6
        assert stays.tolist() == pytest.approx((stationary / stationary.sum()).tolist())


def test_mc4_orders_a_transitive_tournament_and_lets_equals_share():
    order = np.array([3, 0, 2, 1])  # rank of each system
    beaten_by = order[:, None] > order
    assert mc4(beaten_by)[0].tolist() == [4, 1, 3, 2]
    rounds, stays = mc4(np.zeros((3, 3), dtype=bool))
    assert rounds.tolist() == [1, 1, 1] and stays.tolist() == pytest.approx([1 / 3] * 3)


def test_cycles_are_all_circular_triples_by_their_weakest_preference():
    runs, qrels = some_runs(18, systems=9, queries=5)
    for kind in ("sgnLP", "rrLP"):
        matrix = preference_matrix(runs, qrels)
        mean = getattr(matrix, kind).to_numpy()
        expected = {}
        for a, b, c in permutations(range(len(runs)), 3):
            weakest = min(mean[a, b], mean[b, c], mean[c, a])
            if a < b and a < c and weakest > 1e-9:
                expected[tuple(matrix.names[i] for i in (a, b, c))] = weakest
        reached = mean > 1e-9
        for _ in runs:
            reached |= reached @ reached
        of_cycles = system_order(runs, qrels, kind).set_index("system")["cycle"]
        in_cycles = of_cycles.loc[matrix.names].gt(0).tolist()
        assert in_cycles == np.diag(reached).tolist() and set(in_cycles) == {True, False}
        found = cycles(runs, qrels, kind)
        names = list(map(tuple, found[["a", "b", "c"]].to_numpy()))
        assert len(names) > 2 and set(names) == set(expected)
        weakest = sorted(expected.values(), reverse=True)
        assert found["weakest"].tolist() == pytest.approx(weakest)
        assert [expected[name] for name in names] == pytest.approx(weakest)
    assert len(set(weakest)) > 1 and cycles(runs, qrels, "RR").empty


def test_system_preferences_match_the_matrix():
    runs, qrels = some_runs(12)
    matrix = preference_matrix(runs, qrels).pairs()
    found = system_preferences(runs, qrels)
    for kind in ("rrLP", "sgnLP"):
        mine = found[found["preference"] == kind].reset_index(drop=True)
        assert mine["mean"].tolist() == pytest.approx(matrix[kind].tolist(), abs=1e-15)
        assert mine["wins"].tolist() == matrix["sgnLP +"].tolist()
        assert mine["p"].tolist() == pytest.approx(matrix[f"{kind} p-value"].tolist(), nan_ok=True)


def test_differences_of_reciprocal_ranks_have_the_t_test_and_signs_the_sign_test():
    found = system_preferences(*some_runs(12), ["RR", "rrLP", "RPP", "sgnLP", "lexirecall"])
    tests = dict(found[["preference", "test"]].drop_duplicates().to_numpy())
    t, sign = ["RR", "rrLP", "RPP"], ["sgnLP", "lexirecall"]
    assert tests == dict.fromkeys(t, "t") | dict.fromkeys(sign, "sign")


def test_system_preferences_have_effects_and_intervals_and_drop_what_never_differs():
    runs, qrels = some_runs(12)
    found = system_preferences(runs, qrels, ["rrLP"]).set_index(["a", "b"])
    judged = Evaluation.of(runs, qrels)
    total = judged.judgements.num_relevant(1)
    values = preference_cube("rrLP", judged.reciprocal_ranks(), total)[:, 0, 1]
    row = found.loc["delta", "alpha"]
    interval = scipy.stats.ttest_1samp(values, 0).confidence_interval()
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((interval.low, interval.high))
    assert row["effect"] == pytest.approx(values.mean() / values.std(ddof=1))
    twin = found.loc["delta", "twin"]
    assert np.isnan(twin["p"]) and not twin["significant"]
    assert set(found["dropped"]) == {1} and set(found["family"]) == {len(found) - 1}


def test_randomised_hsd_of_differences_matches_values():
    values = np.random.default_rng(3).random((7, 30)) + np.linspace(0, 0.4, 7)[:, None]
    cube = values.T[:, :, None] - values.T[:, None, :]
    p = randomized_hsd(cube, draws=1000, seed=1)
    compared = compare_all(values, list("abcdefg"), test="tukey-randomized", draws=1000, seed=2)
    other = compared["p"].to_numpy()
    slack = 5 * np.sqrt(2 * other * (1 - other) / 1000) + 4e-3
    assert (np.abs(p - other) < slack).all()
    assert p.min() < 0.05 < p.max()
    few, again, other = (randomized_hsd(cube, draws=50, seed=seed).tolist() for seed in (1, 1, 2))
    assert few == again != other


def test_collections_have_colours_and_lines_the_names_of_their_preferences():
    alt = pytest.importorskip("altair")
    runs, qrels = some_runs(17)
    for analysis in (recall_level_needed, ties_by_recall_level, tie_probability_by_rank):
        one = analysis(runs, qrels).assign(collection="a")
        two = pd.concat([one, one.assign(collection="b")])
        assert analysis.draw(two).encoding.color.shorthand == "collection:N"
        assert analysis.draw(one).encoding.color is alt.Undefined
    table = missing_labels(runs, qrels, fractions=[0.5, 1], draws=2, progress=False)
    drawn = missing_labels.draw(table)
    for panel, names in zip(drawn.hconcat, (["RR", "rrLP"], ["RR", "rrLP", "sgnLP"])):
        _, lines = panel.to_dict()["layer"]
        for channel in ("color", "strokeDash"):  # one legend for both
            assert lines["encoding"][channel]["scale"]["domain"] == names
            assert lines["encoding"][channel]["legend"]["orient"] == "bottom"
    assert drawn.to_dict()["resolve"]["scale"]["color"] == "independent"


def test_standardized_coefficients_do_not_depend_on_the_scale_of_a_level():
    runs, qrels = some_runs(3)
    plain, standardized = (
        level_regressions(runs, qrels, levels=1, following=2, standardized=of)
        for of in (False, True)
    )
    judged = Evaluation.of(runs, qrels)
    reciprocal, total = recall_levels(judged, 1, None)
    deep = total >= 3
    levels = [level(reciprocal, total, i)[:, deep] for i in (1, 2, 3)]
    pairs = list(permutations(range(len(runs)), 2))
    y, *x = ([row[a] - row[b] for a, b in pairs] for row in levels)
    y, x = np.ravel(y), np.reshape(x, (2, -1)).T
    expected = np.linalg.lstsq(x / x.std(axis=0), y / y.std(), rcond=None)[0]
    assert standardized["coefficient"].tolist() == pytest.approx(expected.tolist())
    assert plain["R2"].tolist() == standardized["R2"].tolist()
    assert plain["coefficient"].tolist() != pytest.approx(standardized["coefficient"].tolist())


def test_the_predictor_that_is_better_on_untied_pairs_is_named():
    runs, qrels = some_runs(3)
    frame = prediction_from_suffixes(runs, qrels)
    best = frame.loc[frame["percent_of_untied"].idxmax(), "predictor"]
    assert frame.attrs["better on untied pairs"] == best
    assert f"On these {best} predicts better." in " ".join(
        prediction_from_suffixes.draw(frame).title.subtitle
    )
