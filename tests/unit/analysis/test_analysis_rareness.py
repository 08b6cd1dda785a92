"""Analyses of rareness, against the measures, loops and the numbers of the paper.
Tests of discrimination.py, finders.py, rareness_agreement.py, rareness_pools.py."""

import warnings
from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, P
from scipy.stats import kendalltau, rankdata, ttest_ind

from pyterrier_asl import AP_Rareness, P_Rareness, RarenessPool
from pyterrier_asl.analysis.discrimination import discriminative_power, stabilities, stability
from pyterrier_asl.analysis.finders import rare_documents, rare_finds
from pyterrier_asl.analysis.rareness_agreement import (
    agreement_by_alpha,
    agreement_by_number_of_systems,
)
from pyterrier_asl.analysis.rareness_pools import (
    agreement_of_pools,
    pools_by,
    rareness_by_pool,
    rareness_without_own_group,
    synthetic_systems,
)
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.measures.rareness import Pools
from pyterrier_asl.statistics.agreement import tau_ap

QUERIES = ["q1", "q2", "q3", "q4"]


def some_runs(seed: int, systems: int = 9, documents: int = 15) -> tuple[dict, dict]:
    """Random runs, each with favourite documents, so that some documents are rare."""
    rng = np.random.default_rng(seed)
    docnos = [f"d{i}" for i in range(documents)]
    qrels = {q: {d: int(g) for d, g in zip(docnos, rng.integers(0, 3, documents))} for q in QUERIES}
    likes = {q: rng.random(documents) for q in QUERIES}
    runs: dict[str, dict] = {f"s{s}": {} for s in range(systems)}
    for run, q in product(runs.values(), QUERIES):
        order = np.argsort(-(likes[q] + rng.random(documents)))[: rng.integers(4, documents)]
        run[q] = {docnos[d]: float(50 - i) for i, d in enumerate(order)}
    return runs, qrels


def pool_of(runs: dict, **options) -> RarenessPool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # warning of a pool of few runs
        return RarenessPool.from_runs(runs, **options)


MEASURES = [
    P_Rareness(alpha=0.7) @ 5,
    P_Rareness(alpha=0.7, depth=3, rel=2) @ 8,
    P_Rareness(alpha=0.4, normalized=True) @ 5,
    AP_Rareness(alpha=1.0) @ 6,
    AP_Rareness(alpha=0.5),
    AP_Rareness(alpha=1.0, normalized=True) @ 6,
]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("grouped", [False, True])
def test_values_are_the_measures_for_members_and_others(measure, grouped):
    runs, qrels = some_runs(0)
    groups = {"s0": "g", "s1": "g", "s4": "g", "s7": "h", "s8": "h"} if grouped else None
    judged = Evaluation.of(runs, qrels)
    members = np.arange(len(runs)) < 6
    of_pool = {n: g for n, g in (groups or {}).items() if n in judged.names[:6]}
    pool = pool_of({name: runs[name] for name in judged.names[:6]}, groups=of_pool or None)
    labels = [(groups or {}).get(name, name) for name in judged.names]
    codes = np.unique(labels, return_inverse=True)[1] if grouped else None
    found = Pools(measure, judged.runs).values(members, codes)
    for row, run, member in zip(found, judged.runs, members):
        expected = measure(pool=pool, member=bool(member)).values(run)
        assert row.tolist() == pytest.approx(expected.tolist())


def test_a_measure_with_a_pool_is_an_error():
    runs, qrels = some_runs(4)
    with pytest.raises(ValueError, match="has a pool already"):
        agreement_by_alpha(runs, qrels, [P_Rareness(pool=pool_of(runs)) @ 5])


@pytest.mark.slow
def test_discriminative_power_is_a_count_of_tests():
    runs, qrels = some_runs(5)
    measures = [P @ 5, P_Rareness(alpha=0.5) @ 5, AP @ 5, AP_Rareness(alpha=0.5) @ 5]
    found = discriminative_power(runs, qrels, measures, as_published=True).set_index(
        ["measure", "level"]
    )
    judged = Evaluation.of(runs, qrels)
    for measure in measures:
        value = judged.values(measure)
        p = np.array([ttest_ind(a, b).pvalue for a, b in combinations(value, 2)])
        for level in (0.05, 0.01):
            row = found.loc[(str(measure), level)]
            assert row["significant"] == np.sum(p <= level)
            assert (row["test"], row["correction"]) == ("unpaired-t", "none")
    honest = discriminative_power(runs, qrels, measures)
    assert set(honest["test"]) == {"t"} and set(honest["correction"]) == {"holm"}
    pooled = discriminative_power(runs, qrels, measures, test="tukey-two-way")
    assert set(pooled["correction"]) == {"none"}


def test_stability_matches_a_loop():
    judged = Evaluation.of(*some_runs(6, systems=5))
    measures = [P @ 5, AP_Rareness(alpha=1.0) @ 5]
    found = stability(judged, None, measures, draws=40, seed=3).set_index("measure")
    halves = np.tile(np.arange(len(QUERIES)) < 2, (40, 1))
    drawn = np.random.default_rng(3).permuted(halves, axis=1)
    fuzz = {"absolute": lambda a, b: 0.05, "relative": lambda a, b: 0.05 * max(a, b)}
    for measure, (column, least) in product(measures, fuzz.items()):
        usual = []
        for a, b in combinations(judged.values(measure), 2):
            means = [(a[chosen].mean(), b[chosen].mean()) for chosen in drawn]
            wins = sum(x - y > least(x, y) + 1e-12 for x, y in means)
            losses = sum(y - x > least(x, y) + 1e-12 for x, y in means)
            usual.append(max(wins, losses) / len(drawn))
        assert found.loc[str(measure), column] == pytest.approx(np.mean(usual))
    assert stabilities(np.array([[1.0, 0.951]]), 0.05) == (0, 0)  # a tie by the larger mean only


def test_an_odd_half_is_rounded_to_the_even_number():
    runs, qrels = some_runs(8)
    three, one = ({q: qrels[q] for q in QUERIES[:number]} for number in (3, 1))
    assert stability(runs, three, [P @ 5], draws=5)["queries"].tolist() == [2]
    with pytest.raises(ValueError, match="0 of 1 query cannot be drawn: half of the"):
        stability(runs, one, [P @ 5])
    with pytest.raises(ValueError, match="two systems or more"):
        stability({"s0": runs["s0"]}, qrels, [P @ 5])


def test_algorithm_1_matches_the_measures_with_a_pool_of_the_sample():
    runs, qrels = some_runs(9)
    judged = Evaluation.of(runs, qrels)
    found = agreement_by_number_of_systems(judged, None, MEASURES, sizes=[4], draws=6, seed=1)
    drawn = np.random.default_rng(1 + 4).permuted(np.tile(np.arange(9), (6, 1)), axis=1)[:, :4]
    taus = np.empty((len(MEASURES), len(drawn)))
    whole = pool_of(runs)
    for at, sample in enumerate(drawn):
        chosen = judged.select([judged.names[i] for i in sample])
        pool = pool_of({name: runs[name] for name in chosen.names})
        for row, measure in enumerate(MEASURES):
            among_all, among_some = (
                chosen.values(measure(pool=of)).mean(axis=1).round(12) for of in (whole, pool)
            )
            taus[row, at] = kendalltau(among_some, among_all)[0]
    assert found["tau"].tolist() == pytest.approx(np.nanmean(taus, axis=1).tolist())


def test_agreement_by_alpha_matches_the_measures():
    runs, qrels = some_runs(10)
    judged, pool = Evaluation.of(runs, qrels), pool_of(runs)
    found = agreement_by_alpha(runs, qrels, ["P_Rareness@5", "AP_Rareness@5"], alphas=[1, 0.3])
    assert found["alpha"].tolist() == [1, 0.3] * 2, "compared with alpha 0, which is not among them"
    for row in found.itertuples():
        rare, plain = (P_Rareness, P) if row.measure.startswith("P_") else (AP_Rareness, AP)
        with_alpha = judged.values((rare @ 5)(pool=pool, alpha=row.alpha)).mean(axis=1).round(12)
        without = judged.values(plain @ 5).mean(axis=1).round(12)
        assert row.tau == pytest.approx(kendalltau(with_alpha, without)[0])
    same = agreement_by_alpha(runs, qrels, ["AP_Rareness@5"], alphas=[0])
    assert same["tau"].tolist() == same["tau_AP"].tolist() == [1]


def test_made_up_systems_come_out_as_if_they_had_taken_part():
    runs, qrels = some_runs(12)
    found = synthetic_systems(runs, qrels, "q2", cutoff=5, alphas=[0.5, 1.0])
    relevant = [d for d, grade in qrels["q2"].items() if grade >= 1]
    assert found[found["system"] == "common"]["documents"].max() == min(5, len(relevant))
    counts = {d: sum(d in list(run["q2"])[:5] for run in runs.values()) for d in relevant}
    common = sorted(relevant, key=lambda d: -counts[d])
    for (system, number), rows in found.groupby(["system", "documents"]):
        made_up = [f"new{i}" for i in range(number)]
        wanted = made_up if system == "rare" else common[:number]
        answer = {d: 99.0 - i for i, d in enumerate([*wanted, *(f"x{i}" for i in range(5))])}
        answer[common[0]] = answer.get(common[0], 1.0)  # all runs need a judged document
        everyone = {**runs, "made up": {"q2": answer}}
        judged_by = {"q2": {**qrels["q2"], **dict.fromkeys(made_up, 1)}}
        judged, pool = Evaluation.of(everyone, judged_by), pool_of(everyone)
        for row in rows.itertuples():
            # Documents that other systems do not retrieve do not change their scores.
            measure = P_Rareness(pool=pool, alpha=row.alpha) @ 5
            given = judged.values(measure)[:, 0].round(9)
            assert row.value == pytest.approx(given[-1])
            assert row.rank == 1 + np.sum(given[:-1] > given[-1])


def test_a_made_up_system_shares_the_rank_of_an_equal_one_despite_rounding():
    found = {f"d{at}": 20 - at for at in range(12)}
    runs = {"equal": {"q": found}, "none": {"q": {"n": 1}}}
    qrels = {"q": dict.fromkeys(found, 1) | {"n": 0}}
    table = synthetic_systems(runs, qrels, "q", cutoff=20, alphas=[0.5], documents=[11, 12])
    assert table.query("system == 'rare'")["rank"].tolist() == [2, 1]


def test_rare_documents_are_counted_as_in_a_loop():
    runs, qrels = some_runs(14)
    groups = {"s1": "s0", "s2": "s0"}  # a group with the name of a run has only its named members
    for depth, grouping in ((None, None), (5, None), (5, groups)):
        found = rare_documents(runs, qrels, depth=depth, groups=grouping)
        assert len(found) == sum(g >= 1 for ds in qrels.values() for g in ds.values())
        for row in found.itertuples():
            finders = [n for n, run in runs.items() if row.docno in list(run[row.qid])[:depth]]
            of = grouping or {}
            labels = {("g", of[n]) if n in of else ("r", n) for n in finders}
            assert row.S_d == len(labels) and row.S == (9 if grouping is None else 8)
            assert sorted(row.found_by) == sorted(name for _, name in labels)
            assert row.rareness == pytest.approx(1 - row.S_d / row.S)
            rankings = [list(run[row.qid]) for run in runs.values() if row.docno in run[row.qid]]
            assert row.best_rank == min((r.index(row.docno) + 1 for r in rankings), default=0)
    one = rare_documents(runs, qrels, "q3")
    assert set(one["qid"]) == {"q3"} and one["S_d"].is_monotonic_increasing


def test_pools_of_some_runs():
    runs, qrels = some_runs(15)
    measure = AP_Rareness(alpha=1.0) @ 6
    kinds = {name: "odd" if int(name[1]) % 2 else "even" for name in runs}
    pools = pools_by(kinds)
    found = rareness_by_pool(runs, qrels, pools, measure)
    judged, ways = Evaluation.of(runs, qrels), []
    for name, members in {"all": list(runs), **pools}.items():
        pool = pool_of({run: runs[run] for run in members})
        rows = found[found["pool"] == name].set_index("run")
        expected = judged.values(measure(pool=pool)).mean(axis=1)
        assert rows["value"].tolist() == pytest.approx(expected.tolist())
        assert rows.index[rows["member"]].tolist() == [n for n in runs if n in members]
        ranks = (-expected.round(9)[:, None] > -expected.round(9)).sum(axis=1) + 1
        assert rows["rank"].tolist() == ranks.tolist()
        every = found[found["pool"] == "all"].set_index("run")
        assert rows["moved"].tolist() == (every["rank"] - rows["rank"]).tolist()
        if name != "all":
            row = agreement_of_pools(found).set_index("pool").loc[name]
            assert (row["runs"], row["largest_move"]) == (len(members), rows["moved"].abs().max())
            assert row["tau"] == pytest.approx(kendalltau(rows["value"], every["value"])[0])
            pair = rows["value"].to_numpy(), every["value"].to_numpy()
            ways.append((tau_ap(*pair), tau_ap(*pair[::-1])))  # the pool estimates the order
            assert row["tau_AP"] == pytest.approx(ways[-1][0])
    assert found["moved"].abs().max() > 0 and any(way != back for way, back in ways)
    with pytest.raises(ValueError, match="pool 'x' names 's99', which is none of the runs"):
        rareness_by_pool(runs, qrels, {"x": ["s99"]}, measure)
    with pytest.raises(ValueError, match="'x' has no runs"):
        rareness_by_pool(runs, qrels, {"x": []}, measure)


def test_a_run_without_its_group():
    runs, qrels = some_runs(16)
    measure = P_Rareness(alpha=1.0) @ 5
    groups = {"s0": "g", "s1": "g", "s2": "g", "s3": "h", "s4": "h"}
    found = rareness_without_own_group(runs, qrels, groups, measure).set_index("run")
    judged = Evaluation.of(runs, qrels)
    for name in runs:
        mine = [n for n in runs if n != name and name in groups and groups.get(n) == groups[name]]
        pool = pool_of({n: run for n, run in runs.items() if n not in mine})
        expected = judged.select([name]).values(measure(pool=pool)).mean()
        assert found.loc[name, "value_without"] == pytest.approx(expected)
        assert found.loc[name, "runs_of_group"] == len(mine) + 1
        assert found.loc[name, "group"] == groups.get(name, name)
    for value, rank in (("value", "rank"), ("value_without", "rank_without")):
        expected = rankdata(-found[value].round(9), method="min")
        assert found[rank].tolist() == expected.tolist()
    alone = rareness_without_own_group({"s0": runs["s0"]}, qrels, {"s0": "g"}, measure)
    of_one = rareness_without_own_group(
        dict.fromkeys("ab", runs["s0"]), qrels, dict(a=0, b=0), measure
    )
    assert of_one["value_without"].tolist() == alone["value"].tolist() * 2, "in no pool but its own"


@pytest.mark.parametrize("groups", [None, {"s0": "g", "s1": "g", "s4": "g"}])
@pytest.mark.parametrize("depth", [None, 4])
def test_rare_finds_match_sets(groups, depth):
    runs, qrels = some_runs(21)
    of_system: dict[str, set] = {}
    for name, run in runs.items():
        top = {(q, d) for q in run for d in list(run[q])[:depth] if qrels[q][d] >= 2}
        of_system.setdefault((groups or {}).get(name, name), set()).update(top)
    relevant = sum(g >= 2 for ds in qrels.values() for g in ds.values())
    finders = Counter(one for found in of_system.values() for one in found)
    table = rare_finds(runs, qrels, rel=2, depth=depth, few=2, groups=groups)
    assert set(table["system"]) == set(of_system)
    assert table["alone"].is_monotonic_decreasing
    for row in table.itertuples():
        found = of_system[row.system]
        assert row.found == len(found)
        assert row.alone == sum(finders[one] == 1 for one in found)
        assert row.few == sum(finders[one] <= 2 for one in found)
        rareness = np.mean([1 - finders[one] / len(of_system) for one in found])
        assert row.mean_rareness == pytest.approx(rareness)
        assert row.recall == pytest.approx(len(found) / relevant)
        assert (row.pool, row.coverage) == (len(finders), pytest.approx(len(finders) / relevant))


def test_rare_finds_of_who_finds_nothing():
    runs, qrels = some_runs(22)
    runs["none"] = {"q3": {next(d for d, g in qrels["q3"].items() if not g): 1.0}}
    last = rare_finds(runs, qrels).set_index("system").loc["none"]
    assert last["found"] == 0 and np.isnan(last["mean_rareness"])
    with pytest.raises(ValueError, match="few must be a whole number from 1 on, not 0"):
        rare_finds(runs, qrels, few=0)


def test_bars_of_rareness_are_twentieths_that_contain_their_upper_end():
    pytest.importorskip("altair")
    frame = pd.DataFrame({"rareness": [0.0, 0.05, 0.051, 0.5, 1.0]})
    (bars,) = rare_documents.draw(frame).to_dict()["datasets"].values()
    ends = [pytest.approx((n / 20, (n + 1) / 20)) for n in range(20)]
    assert [(bar["low"], bar["high"]) for bar in bars] == ends
    assert [bar["documents"] for bar in bars] == [2, 1, *[0] * 7, 1, *[0] * 9, 1]


def test_every_collection_has_a_line():
    pytest.importorskip("altair")
    runs, qrels = some_runs(17)
    alphas = agreement_by_alpha(runs, qrels, ["P_Rareness@5"], alphas=[0, 1])
    assert "P_Rareness@5, a" in agreement_by_alpha.draw(alphas.assign(collection="a")).to_json()
