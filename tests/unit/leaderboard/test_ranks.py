"""Leaderboards with intervals of ranks: tables, sentences, refusals, collections and judges.
Tests of samples.py, numbers.py."""

import dataclasses
from functools import cache

import brute_force
import numpy as np
import pandas as pd
import pytest
import small
from small import JUDGE, RUNS

import pyterrier_asl as asl
from pyterrier_asl.leaderboard.numbers import p_text
from pyterrier_asl.leaderboard.ranks import with_rank_columns
from pyterrier_asl.statistics.rank_intervals import rank_intervals

DEFAULTS = {"alpha": 0.05, "seed": 0, "draws": 10_000, "variance": "averaged"}
TOPICS = [f"q{number:02}" for number in range(30)]
QRELS = {qid: {"d1": 1, "d2": 0} for qid in TOPICS}


def run_with(ranks):
    """A run with the relevant document of each topic at the given rank."""
    return {
        qid: {("d1" if place == rank else f"x{place}"): -place for place in range(1, 8)}
        for qid, rank in zip(TOPICS, ranks)
    }


def boards(seed=0, topics=30):
    """Runs a to d from good to bad, listed in another order with each seed."""
    generator = np.random.default_rng(seed)
    runs = {
        name: run_with(np.minimum(generator.geometric(share, topics), 7))
        for name, share in zip("abcd", (0.9, 0.8, 0.4, 0.15))
    }
    return {name: runs[name] for name in ("bdca", "cadb", "dbac")[seed % 3]}


@cache
def ranked(measure="RR", names="bdca", **options):
    """The leaderboard of some of the runs."""
    return asl.ranks({name: boards()[name] for name in names}, QRELS, measure, **options)


def test_a_board_tells_how_its_table_was_made():
    board = ranked()
    values = asl.evaluate(boards(), QRELS, "RR").pivot(index="name", columns="qid", values="RR")
    expected = rank_intervals(values.loc[[*"abcd"], TOPICS].to_numpy())
    assert board.table["possibly_first"].tolist() == (expected.low == 1).tolist()
    assert board.critical == expected.critical
    assert (board.topics, board.alpha, board.judges) == (30, 0.05, ["qrels"])


def test_the_best_mean_comes_first_and_equal_means_share_a_rank():
    runs = boards()
    del runs["c"]
    board = asl.ranks(runs | {"b2": runs["b"]}, QRELS, "RR")
    assert board.names == ["a", "b", "b2", "d"]
    assert board.table["rank"].tolist() == [1, 2, 2, 4]
    ends = board.table.set_index("name")[["low", "high"]]
    assert ends.loc["b"].tolist() == ends.loc["b2"].tolist()


def test_means_that_differ_by_rounding_share_a_rank_on_any_scale():
    """a and b differ by 1e-3 of 1e8: rounding of such values, but not of values below 1."""
    generator = np.random.default_rng(0)
    values = 1e8 + generator.random(30) * 1e7
    table = pd.DataFrame({"name": "a", "qid": TOPICS, "measure": "cost", "value": values})
    others = [table.assign(name=n, value=values + by) for n, by in (("b", 1e-3), ("c", 1e5))]
    scores = asl.read_scores(pd.concat([table, *others]), lower_is_better=["cost"])
    board = asl.ranks(scores, measures="cost").table.set_index("name")
    assert board.loc[["a", "b", "c"], "rank"].tolist() == [1, 1, 3]


def test_pairs_have_the_better_mean_first():
    board = ranked()
    pairs, means = board.pairs(), board.table.set_index("name")["mean"]
    assert [*map("".join, zip(pairs["a"], pairs["b"]))] == ["ab", "ac", "ad", "bc", "bd", "cd"]
    expected = [means[a] - means[b] for a, b in zip(pairs["a"], pairs["b"])]
    assert pairs["difference"].tolist() == pytest.approx(expected)
    assert pairs["ordered"].sum() == board.better.to_numpy().sum()
    assert pairs["ordered"].tolist() == (pairs["p"] <= board.alpha).tolist()


@pytest.mark.parametrize("measure", ["RR", "ASL@5"])
@pytest.mark.parametrize(("names", "ordered"), [("ad", True), ("ab", False)])
def test_two_systems_have_the_interval_of_their_difference(measure, names, ordered):
    """They are called different exactly where the pair is ordered."""
    board = ranked(measure, names)
    [pair] = board.pairs().itertuples()
    low, high = board.difference_interval
    assert low < pair.difference < high
    assert pair.ordered == ordered == (low > 0 or high < 0)
    assert (board.table["could_be_best"].sum() == 1) == ordered
    assert board.stars == [False, ordered]
    first = board.sentences()[0]
    assert first.startswith(f"a is significantly better than d by {measure}") == ordered
    assert first.endswith(
        f"the difference of the means is {pair.difference:.4f}, its 95 % interval [{low:.4f}, "
        f"{high:.4f}], p {f'= {pair.p:.4f}' if pair.p else '< 0.0001'} (sign flips)."
    )


def test_a_p_is_printed_on_the_side_of_alpha_where_it_is():
    """Of 2^12 sign vectors 205 is a share of .050049: the pair is not ordered."""
    assert p_text(205 / 4096, 4096, 0.05) == "p = 0.05005"
    assert p_text(204 / 4096, 4096, 0.05) == "p = 0.0498"
    assert p_text(205 / 4096, 4096, 0.1) == "p = 0.0500"


def test_the_interval_of_an_ordered_pair_is_printed_without_0():
    board = ranked("ASL@5", "ad")
    near = dataclasses.replace(board, difference_interval=(-2.0, -0.00003))
    assert "interval [-2.00000, -0.00003], p" in near.sentences()[0]


def test_who_could_be_the_best_is_tested_system_by_system():
    """Where intervals of ranks, which are about all pairs together, leave rank 1 to others, too."""
    drawn = np.random.default_rng(2).random((4, 10)).round(1)
    values = dict(zip("dbac", drawn + np.array([[0.3], [0.1], [0], [-0.1]])))
    rows = [(name, f"q{q}", v) for name, of in values.items() for q, v in enumerate(of)]
    scores = asl.read_scores(
        pd.DataFrame(rows, columns=["name", "qid", "value"]), higher_is_better=["value"]
    )
    table = asl.ranks(scores, alpha=0.3).table.set_index("name")
    better, _, stays, _ = brute_force.rank_intervals([*values.values()], alpha=0.3)
    assert table["could_be_best"].to_dict() == {n: at in stays for at, n in enumerate(values)}
    beaten = {name: any(pair[1] == at for pair in better) for at, name in enumerate(values)}
    assert table["possibly_first"].to_dict() == {name: not beaten[name] for name in values}
    assert 0 < table["could_be_best"].sum() < table["possibly_first"].sum()


def test_who_could_be_the_best_outside_its_interval_is_named():
    board = ranked()
    table = board.table.assign(low=[1, 2, 3, 4], could_be_best=[True, True, False, False])
    sentences = dataclasses.replace(board, table=table).sentences()
    assert (
        "Rank 1 is outside the interval of b: the intervals are about all pairs together, but who "
        "could be the best is tested system by system, at level 0.025."
    ) in sentences


def test_stars_are_the_pairs_with_the_best_mean_that_are_ordered():
    board = ranked()
    first = board.pairs().query("a == 'a'")
    assert board.stars == [False, *first["ordered"]]
    assert board.shown()["*"].tolist() == ["*" * star for star in board.stars]
    assert board.to_latex().count(" * ") == sum(board.stars) + 1
    assert any(board.stars) and not all(board.stars[1:])


def test_a_star_is_by_any_of_several_best_systems():
    values = np.full((3, 30), 0.8) - [[0], [0], [0.1]]
    values[0] += np.tile([0.3, -0.3], 15)
    assert rank_intervals(values).better[:, 2].tolist() == [False, True, False]
    found = with_rank_columns({"m": []}, "xyz", TOPICS, {"m": values}, {"m": True})
    table = pd.DataFrame(values.T, TOPICS, [*"xyz"]).melt(var_name="name", ignore_index=False)
    scores = asl.read_scores(table.reset_index(names="qid"), higher_is_better=["value"])
    assert asl.ranks(scores).stars == [*map(bool, found["m *"])] == [False, False, True]


def test_a_single_system():
    board = asl.ranks({"<b>": run_with([1] * 30)}, QRELS, "RR")
    assert board.sentences() == ["There is a single system, <b>: its rank is 1."]
    assert "<b>" not in board._repr_html_()
    assert board.table[["low", "high"]].to_numpy().tolist() == [[1, 1]]
    assert board.critical == [] and board.pairs().empty


def test_the_chart_of_queries_has_each_value():
    board = ranked("ASL@7", "dbca")
    drawn = board.chart(kind="queries").to_dict()
    (rows,) = drawn["datasets"].values()
    expected = asl.evaluate(boards(), QRELS, "ASL@7").set_index(["name", "qid"])["ASL@7"].to_dict()
    assert {(row["name"], row["topic"]): row["value"] for row in rows} == expected
    assert drawn["encoding"]["y"]["sort"] == board.names
    assert "labels" not in drawn["encoding"]["x"]["axis"] and drawn["width"] == 12 * board.topics
    medians = board.values.median()
    assert medians[drawn["encoding"]["x"]["sort"]].is_monotonic_increasing
    with pytest.raises(ValueError, match="kind 'topics' is unknown: use one of .*'ranks', 'q"):
        board.chart("topics")


def test_the_chart_draws_what_the_table_says():
    board = ranked()
    chart = board.chart().to_dict()
    (rows,) = chart["datasets"].values()
    shown = ["name", "low", "high"]
    assert [[row[name] for name in shown] for row in rows] == board.table[shown].values.tolist()
    assert "30 topics; with 95 % confidence" in " ".join(chart["title"]["subtitle"])
    could_be_best = ["yes" if could else "no" for could in board.table["could_be_best"]]
    assert [row["could_be_best"] for row in rows] == could_be_best
    assert "could_be_best" in str(chart["layer"]) and set(could_be_best) == {"yes", "no"}


@pytest.mark.parametrize("unjudged", [False, True])
@pytest.mark.parametrize("option", DEFAULTS)
def test_an_option_reaches_the_intervals_of_all_topics_and_of_each_collection(option, unjudged):
    value = {"alpha": 0.4, "seed": 3, "draws": 76, "variance": "common"}[option]
    options = {"draws": 77, option: value, "unjudged": unjudged}
    pair = boards(3), {qid: {**QRELS[qid], "x1": 0, "x2": 0} for qid in TOPICS}
    board = asl.ranks(*pair, "ASL@3", **options)
    plain = asl.ranks(*pair, "ASL@3", **options | {option: DEFAULTS[option]})
    several = {"x": pair, "y": (boards(1), QRELS)}
    of_track = asl.ranks(several, measures="ASL@3", **options).tracks["x"]
    assert board.alpha == of_track.alpha == options.get("alpha", 0.05)
    assert of_track.critical == pytest.approx(board.critical) != plain.critical
    pd.testing.assert_frame_equal(of_track.p, board.p)
    pd.testing.assert_frame_equal(of_track.table, board.table)


def some(number, start=0):
    return {qid: QRELS[qid] for qid in TOPICS[start : start + number]}


def swapped():
    """A judge for whom d is good and a is bad."""
    runs = boards()
    return {qid: {list(runs["d"][qid])[0]: 1, "d2": 0} for qid in TOPICS}


def test_whichever_judge_is_right():
    alone = ranked().table.set_index("name")
    board = asl.ranks(boards(), QRELS, "RR", judges={"m": swapped()})
    assert board.judges == ["qrels", "m"] and len(board.critical) == 2
    assert board.table["mean"].tolist() == alone["mean"].tolist()
    sentences, (summary,) = board.sentences(), board.judge_summaries.values()
    assert any("whichever of these judges is right: qrels, m." in s for s in sentences)
    # Each judge has a verdict beside.
    assert {"kappa", "tau"} < set(summary.agreement["agreement"])
    assert all(sentence in sentences for sentence in summary.lines().values())
    assert ranked().judge_summaries == {}


def test_the_difference_is_by_the_first_judge_and_the_interval_over_all():
    """The other judge gives both runs other values, so its interval has another end."""
    runs = {name: boards()[name] for name in "ad"}
    alone, other = (asl.ranks(runs, qrels, "RR") for qrels in (QRELS, swapped()))
    board = asl.ranks(runs, QRELS, "RR", judges={"m": swapped()})
    low, high = board.difference_interval
    same = other.names == board.names
    ends = [end if same else -end for end in other.difference_interval]
    ends += alone.difference_interval
    assert (low, high) == pytest.approx((min(ends), max(ends)))
    [pair] = board.pairs().itertuples()
    assert pair.difference == pytest.approx(alone.pairs()["difference"][0])
    assert (
        f"the difference of the means by qrels is {pair.difference:.4f}, its 95 % interval over "
        f"all 2 judges [{low:.4f}, {high:.4f}], p = "
    ) in board.sentences()[0]
    sentence = "Means and their differences are by qrels."
    assert sentence in board.sentences() and sentence not in alone.sentences()
    assert sentence in " ".join(str(board).split()) and sentence in board._repr_html_()


def test_topics_that_not_every_judge_has_are_left_out():
    board = asl.ranks(boards(), QRELS, "RR", judges={"m": some(28, 1)})
    assert (board.topics, board.left_out) == (28, 2)
    assert "2 topics that not every judge has are left out." in board.sentences()
    expected = asl.ranks(boards(), some(28, 1), "RR")
    pd.testing.assert_frame_equal(board.table, expected.table)
    uneven = asl.ranks(RUNS, small.QRELS, "RR", judges={"uneven": JUDGE})
    either, both = small.QRELS.keys() | JUDGE, small.QRELS.keys() & JUDGE
    assert len(either - both) > len(small.QRELS.keys() - both) > 0
    assert (uneven.topics, uneven.left_out) == (len(both), len(either - both))


def collections(*sizes):
    """The runs of each collection come in another order, of which none is that of the means."""
    return {
        f"c{number}": ({name: boards(number, size)[name] for name in order}, some(size))
        for number, (size, order) in enumerate(zip(sizes, ("bdca", "cadb", "dbac")))
    }


def test_overall_is_the_mean_of_the_collections():
    given = collections(30, 30)
    runs = given["c1"][0]
    runs["c"], runs["d"] = runs["d"], runs["c"]  # the worst run is better than the third here
    board = asl.ranks(given, measures="RR")
    tracks = {track: asl.ranks(*pair, "RR") for track, pair in given.items()}
    assert list(board.table["track"].unique()) == ["overall", "c0", "c1"]
    for track, alone in tracks.items():
        pd.testing.assert_frame_equal(board.tracks[track].table, alone.table)
        own = alone.table.set_index("name")["mean"]
        assert board.means[track].to_dict() == pytest.approx(own.to_dict())
        assert board.shown().set_index("name")[track].to_dict() == pytest.approx(own.to_dict())
    means = board.overall.set_index("name")["mean"]
    assert means.to_numpy() == pytest.approx(board.means.mean(axis=1)[means.index].to_numpy())
    everywhere = np.all(
        [alone.better.loc[board.names, board.names] for alone in tracks.values()], axis=0
    )
    assert board.better_everywhere.to_numpy().tolist() == everywhere.tolist()
    columns = ["name", "c0", "c1", "mean", "*", "rank", "ranks", "could be the best"]
    assert list(board.shown()) == columns
    assert any("chosen, not drawn" in sentence for sentence in board.sentences())


@pytest.mark.parametrize(("simultaneous", "of"), [(False, "scores"), (True, "runs")])
def test_simultaneous_intervals_are_those_of_half_of_alpha_for_two(simultaneous, of):
    """With a level at which half of it gives other intervals."""
    tracks = {"x": (boards(), QRELS), "y": (boards(3), QRELS)}
    given = tracks if of == "runs" else asl.read_scores(asl.evaluate(tracks, measures="RR"))
    board = asl.ranks(given, None, "RR", alpha=0.4, simultaneous=simultaneous)
    whole, half = (ranked(alpha=alpha) for alpha in (0.4, 0.2))
    assert whole.critical != half.critical
    expected = half if simultaneous else whole
    assert board.tracks["x"].critical == expected.critical
    assert board.tracks["x"].alpha == expected.alpha
    at_once = "The intervals of all collections hold at once with 60 % confidence."
    assert (board.sentences()[-1] == at_once) is simultaneous


def test_a_small_collection_counts_in_overall_only():
    board = asl.ranks(collections(30, 5), measures="RR")
    assert board.limits == ["c1 has fewer than 10 topics: it counts in overall, but has no table"]
    assert list(board.tracks) == ["c0"] and board.better_everywhere is None
    assert list(board.means) == ["c0", "c1"]
    assert list(asl.ranks(collections(30, 10), measures="RR").tracks) == ["c0", "c1"]
    two = asl.ranks(collections(30, 9, 9), measures="RR")
    assert list(two.tracks) == ["c0"]
    assert two.limits[-1].startswith("c1 and c2 have fewer than 10 topics: they count in")
    assert (
        "c1 has fewer than 10 topics, too few for intervals, so pairs are not compared in every "
        "collection."
    ) in board.sentences()


def test_pairs_that_are_ordered_in_every_collection_are_counted():
    """Also where the collections order the systems differently: in one a and d are exchanged."""
    runs, equal = boards(), {name: run_with([2] * 30) for name in "abcd"}
    exchanged = {name: runs[{"a": "d", "d": "a"}.get(name, name)] for name in "cabd"}
    several = "{} of 6 pairs {} the same significantly better system in every collection."
    none = "No system is significantly better than another in every collection."
    for other, text in ((exchanged, several), (equal, none)):
        board = asl.ranks({"x": (other, QRELS), "y": (runs, QRELS)}, measures="RR")
        both = [asl.ranks(each, QRELS, "RR").better for each in (other, runs)]
        pairs = {(a, b) for a in "abcd" for b in "abcd" if all(of.loc[a, b] for of in both)}
        found = board.better_everywhere.stack()
        assert {*found[found].index} == pairs and bool(pairs) is (text is several)
        assert text.format(len(pairs), ("have", "has")[len(pairs) == 1]) in board.sentences()


def test_a_system_that_a_collection_lacks():
    tracks = collections(30, 12)
    del tracks["c1"][0]["c"]
    with pytest.raises(ValueError, match="system 'c' has no run in collection 'c1'"):
        asl.ranks(tracks, measures="RR")
    board = asl.ranks(tracks, measures="RR", common=True)
    assert sorted(board.names) == ["a", "b", "d"]


def test_judges_of_collections_are_by_collection():
    tracks = collections(30, 12)
    fewer = {"c0": {"m": some(28, 2)}, "c1": {"m": some(11)}}
    board = asl.ranks(tracks, measures="RR", judges=fewer)
    assert (board.left_out, board.topics) == (2 + 1, 28 + 11)
    assert "3 topics that not every judge has are left out." in board.sentences()
    alone = {track: (runs, fewer[track]["m"]) for track, (runs, _) in tracks.items()}
    pd.testing.assert_frame_equal(board.table, asl.ranks(alone, measures="RR").table)
    with pytest.raises(ValueError, match="give collection -> name -> qrels"):
        asl.ranks(tracks, measures="RR", judges={"m": QRELS})
