"""Two runs and the effect of unjudged documents on their difference (holes.py, pairs.py)."""

import re
from itertools import product

import numpy as np
import pytest
import small
from brute_force import ranking
from hypothesis import given, settings
from hypothesis import strategies as st

from pyterrier_asl import evaluate, holes, preferences
from pyterrier_asl.unjudged.pairs import verdict_of

QRELS = {"q": {"a": 1, "b": 0}, "p": {"a": 1, "b": 0}}
GOOD = {"q": {"a": 3, "x": 2}, "p": {"a": 1}}
OTHER = {"q": {"y": 3, "a": 2}, "p": {"y": 2, "a": 1}}
BAD = {"q": {"b": 3, "a": 2}, "p": {"b": 2, "a": 1}}


@pytest.mark.parametrize("qids", [["q"], ["q", "p"]])
def test_the_row_says_what_the_difference_and_its_test_say(qids):
    runs = [{qid: run[qid] for qid in qids} for run in (GOOD, BAD)]
    found = holes(dict(zip("AB", runs)), {qid: QRELS[qid] for qid in qids}, "RR")
    row, test = found.table.iloc[0], found.difference.test
    assert row[["a", "b", "measure", "verdict"]].tolist() == ["A", "B", "RR", "A"]
    assert row[["difference", "low", "high"]].tolist() == [-0.5, -0.5, -0.5]
    assert row["unjudged"] == 1  # x
    assert (test is None) == (len(qids) == 1)
    assert row["significance"] == (None if test is None else test.verdict)


@pytest.mark.parametrize(("alpha", "verdict"), [(0.05, "impossible"), (0.1, "certain")])
def test_the_test_is_at_the_level_that_is_given(alpha, verdict):
    """Three of eight queries are worse by .5: p = .08, whatever the labels."""
    qrels = {f"q{n}": {"a": 1, "n": 0} for n in range(8)}
    one = {qid: {"a": 2, "n": 1} for qid in qrels}
    two = {qid: {"n": 2, "a": 1} if qid < "q3" else one[qid] for qid in qrels}
    runs = {"two": two, "one": one}
    assert holes(runs, qrels, "RR", alpha=alpha).difference.test.verdict == verdict
    of_three = holes({**runs, "none": {"q0": {"n": 1}}}, qrels, "RR", alpha=alpha)
    assert of_three.pair("one", "two").test.verdict == verdict


def test_the_chart_has_a_line_per_query_the_widest_first():
    found = holes({"A": GOOD, "B": BAD}, QRELS, "P@2")
    drawn = found.chart().to_dict()
    (rows,) = drawn["datasets"].values()
    # q: A has a, x and B has b, a. The unjudged x makes P@2 of A 1/2 or 1. p is fully judged.
    assert [(row["qid"], row["low"], row["high"]) for row in rows] == [("q", -0.5, 0), ("p", 0, 0)]
    caption = " ".join(drawn["title"]["subtitle"])
    assert found.sentences() == [found.describe()] and "2 queries" in caption
    assert caption.endswith("First: the widest line.")


def test_of_many_runs_open_pairs_come_first():
    for measure, first in (("RR", 2), ("ASL@5", 3)):
        found = holes({"good": GOOD, "bad": BAD, "other": OTHER}, QRELS, measure)
        assert found.table["verdict"].tolist() == ["open", "open", "A"], measure
        matrix = found.matrix()
        assert matrix.loc["good", "bad"] == 1 and matrix.loc["bad", "good"] == -1
        assert matrix.isna().sum().sum() == 4
        assert found.counts() == {"pairs": 3, "settled": 1, "equal": 0, "open": 2}
        assert found.is_open and "significance" not in found.table
        assert found.sentences() == [
            f"{measure}: 2 open of 3 pairs of runs, 1 settled, 0 equal.",
            "Open: some labels of the unjudged documents make the other run better.",
            f"Judge first: {first} documents of 1 open pair of contenders (2 runs that no other "
            "run is certain to beat).",
        ]
        for pair, verdict in ((("good", "bad"), "A"), (("bad", "good"), "B")):
            one = found.pair(*pair)
            assert one.verdict == verdict and ": settled for good" in one.describe()


def test_of_the_chart_of_pairs_only_open_cells_have_a_strong_colour():
    found = holes({"good": GOOD, "bad": BAD, "other": OTHER}, QRELS, "RR")
    color = found.chart().to_dict()["encoding"]["color"]["scale"]
    shades = dict(zip(color["domain"], color["range"]))
    rgb = {name: bytes.fromhex(shade[1:]) for name, shade in shades.items()}
    depth = {name: max(shade) - min(shade) for name, shade in rgb.items()}
    assert depth.pop("open") > 200 and max(depth.values()) < 50
    of_two = holes({"a": GOOD, "b": BAD}, QRELS, "RR").chart("pairs").to_dict()
    assert of_two["mark"]["type"] == "rect"
    caption = " ".join(of_two["title"]["subtitle"])
    assert caption.endswith("First: the run that is certainly better than most.")


def test_equal_runs_have_nothing_to_judge():
    equal = holes({"a": GOOD, "b": GOOD, "c": GOOD}, QRELS, "AP@3")
    assert equal.table["verdict"].tolist() == ["equal"] * 3 and not equal.is_open
    assert equal.sentences() == ["AP@3: 0 open of 3 pairs of runs, 0 settled, 3 equal."]
    columns = "qid docno weight rank runs contenders".split()
    assert equal.todo.empty and list(equal.todo) == columns


def test_the_pair_of_a_track_counts_documents_of_all_its_runs():
    """u, which a third run retrieves, would halve the recall of the first."""
    runs = {"one": {"q": {"a": 1}}, "two": {"q": {"n": 1}}, "three": {"q": {"u": 2, "a": 1}}}
    qrels = {"q": {"a": 1, "n": 0}}
    alone = holes({name: runs[name] for name in ("one", "two")}, qrels, "R@1").difference
    among = holes(runs, qrels, "R@1").pair("one", "two")
    assert (alone.low, alone.high) == (-1, -1)
    assert (among.low, among.high) == (-1, -0.5)


TRACK_QRELS = {"q": {"a": 1, "b": 0, "c": 1}, "p": {"a": 1, "b": 0}}


def rankings_of(seed):
    random, documents = np.random.default_rng(seed), [*"abcuvwxyz"]
    return {
        name: {
            qid: dict(zip(random.permutation(documents)[:5].tolist(), range(5, 0, -1)))
            for qid in TRACK_QRELS
        }
        for name in ("one", "two", "three", "four")
    }


@pytest.mark.parametrize(
    ("measure", "seed"), [("P@3", 0), ("AP@4", 1), ("nDCG@3", 11), ("LexiP@4", 11)]
)
def test_what_to_judge_next_for_many_runs_by_loops(measure, seed):
    """The sum of the changes of the open pairs' differences, by evaluating with each label."""
    runs = rankings_of(seed)
    found = holes(runs, TRACK_QRELS, measure)
    opens = found.table[found.table["verdict"] == "open"]
    pairs, k = list(zip(opens["a"], opens["b"])), int(measure[-1])
    assert len(pairs)

    def means(qrels):
        return evaluate(runs, qrels, measure).groupby("name")[measure].mean()

    beaten = {
        row.b if row.verdict == "A" else row.a
        for row in found.table.itertuples()
        if row.verdict in ("A", "B")
    }
    contenders = {*runs} - beaten
    assert found.contenders == [name for name in runs if name in contenders]
    of_contenders = [pair for pair in pairs if contenders.issuperset(pair)]
    before, expected, best = means(TRACK_QRELS), [], {}
    for qid, grades in TRACK_QRELS.items():
        tops = {name: [*run[qid]][:k] for name, run in runs.items()}
        for docno in {doc for top in tops.values() for doc in top} - {*grades}:
            after = means({**TRACK_QRELS, qid: {**grades, docno: 1}})
            change = {name: after[name] - before[name] for name in runs}
            first, all_pairs = (
                round(sum(abs(change[a] - change[b]) for a, b in some), 12)
                for some in (of_contenders, pairs)
            )
            weight = first or all_pairs
            some = of_contenders if first else pairs
            in_pairs = {name for pair in some for name in pair if docno in tops[name]}
            ranks = [tops[name].index(docno) + 1 for name in in_pairs]
            everywhere = [top.index(docno) + 1 for top in tops.values() if docno in top]
            best[qid, docno], number = min(everywhere), len(everywhere)
            expected.append((not first, -weight, min(ranks, default=99), qid, docno, number))
    rows = found.todo
    expected.sort()
    assert rows[["qid", "docno", "runs"]].values.tolist() == [[*row[3:]] for row in expected]
    assert rows["weight"].tolist() == pytest.approx([-row[1] for row in expected])
    ranks = rows["rank"].fillna(99).tolist()
    assert ranks == [row[2] for row in expected]
    assert seed < 11 or ranks != [best[row[3], row[4]] for row in expected]
    assert rows["contenders"].tolist() == [not row[0] for row in expected]
    number = sum(rows["contenders"])
    assert any(f"Judge first: {number} document" in text for text in found.sentences())


@pytest.mark.parametrize("measure", ["AP@5", "ASL@7"])
def test_what_to_judge_next_for_two_runs_by_loops(measure):
    """First what helps the run that is worse now, then by the change of the difference."""
    (runs, qrels), k = small.collection(4, 2, seed=3), int(measure[-1])

    def difference(judged):
        means = evaluate(runs, judged, measure).groupby("name")[measure].mean()
        return means["alpha"] - means["delta"]

    now, expected = difference(qrels), []
    for qid, grades in qrels.items():
        tops = [ranking(run.get(qid, {}), {}, k=k) for run in runs.values()]
        for docno in {doc for top in tops for doc in top} - {*grades}:
            change = difference({**qrels, qid: {**grades, docno: 1}}) - now
            ranks = [top.index(docno) + 1 if docno in top else 99 for top in tops]
            key = (change * now >= 0, -round(abs(change), 12), min(ranks), qid, docno)
            expected.append((key, change, ranks))
    expected.sort()
    found = holes(runs, qrels, measure)
    assert found.todo[["qid", "docno"]].to_numpy().tolist() == [[*key[3:]] for key, *_ in expected]
    assert found.todo["weight"].tolist() == pytest.approx([change for _, change, _ in expected])
    ranks = found.todo[["rank_a", "rank_b"]].fillna(99).to_numpy().tolist()
    assert ranks == [ranks for *_, ranks in expected] and {key[0] for key, *_ in expected} == {0, 1}
    assert found.todo["runs"].tolist() == [sum(rank < 99 for rank in of) for of in ranks]
    assert found.table["exact"].item() is (measure == "ASL@7")
    assert ("outer bounds" in found.describe()) is (measure == "AP@5")


def test_average_precision_of_whole_rankings_is_for_two_runs():
    runs = {name: {"q": {doc: 2.0, "d": 1.0}} for name, doc in zip("abc", "xyz")}
    assert holes({name: runs[name] for name in "ab"}, {"q": {"d": 1}}, "AP").verdict == "open"
    assert holes(runs, {"q": {"d": 1}}, "AP@9").is_open


#: Rankings with at least one of the judged documents a and n.
RANKINGS = st.lists(st.sampled_from("anxy"), unique=True).filter({"a", "n"}.intersection)


@settings(max_examples=10)
@given(RANKINGS, RANKINGS)
def test_verdicts_of_sgnlp_are_those_of_all_labellings(docs_a, docs_b):
    runs = [{"q": {doc: -rank for rank, doc in enumerate(docs)}} for docs in (docs_a, docs_b)]
    qrels = {"q": {"a": 1, "n": 0}}
    given_by = {
        preferences(*runs, {"q": {**qrels["q"], "x": x, "y": y}})["sgnLP"].iloc[0]
        for x, y in product((0, 1), repeat=2)
    }
    (verdicts,) = holes(dict(zip("ab", runs)), qrels, "AP").preferences.to_dict("records")
    expected = {"qid": "q", "b_wins": -1 in given_by, "tie": 0 in given_by, "a_wins": 1 in given_by}
    assert verdicts == expected


def test_where_no_open_pair_is_one_of_contenders():
    """All but the best are surely worse than it; u and v can change their order."""
    qrels = {"q": {"r": 1, "s": 1, "t": 1, "n": 0, "m": 0}}
    rankings = {"w1": "nmu", "best": "rst", "w2": "mnv", "w3": "mnu"}
    runs = {name: {"q": {d: -at for at, d in enumerate(of)}} for name, of in rankings.items()}
    found = holes(runs, qrels, "P@3")
    assert found.contenders == ["best"] and not found.todo["contenders"].any()
    none = "No open pair is one of contenders (1 run that no other run is certain to beat)."
    assert none in found.sentences()


def test_a_difference_is_told_by_query():
    found = holes({"good": GOOD, "other": OTHER}, QRELS, "RR").difference
    assert found.verdict == "open"
    assert (found.difference, found.low, found.high) == (-0.5, -0.5, 0.0)
    assert found.by_query["unjudged"].tolist() == [2, 1]
    assert "open" in found.describe()
    assert "low=-0.5" in repr(found)
    assert not re.search("qids|sides|bounds", repr(found))  # not the long text


@pytest.mark.parametrize("of", [float, np.float64])
def test_the_verdict_by_the_ends_of_a_difference(of):
    for low, high, verdict in ((0.1, 0.2, "BA"), (-0.2, -0.1, "AB")):
        said = "".join(verdict_of(of(low), of(high), higher) for higher in (True, False))
        assert said == verdict
    assert verdict_of(of(-0.1), of(0.1)) == "open" and verdict_of(of(0), of(0)) == "equal"
    # At most 1e-12 is rounding, more is a difference.
    assert verdict_of(of(-1e-12), of(1e-12)) == "equal"
    assert verdict_of(of(1e-12), of(0.1)) == "open" and verdict_of(of(1.1e-12), of(0.1)) == "B"
    assert verdict_of(of(-0.1), of(-1e-12)) == "open" and verdict_of(of(-0.1), of(-1.1e-12)) == "A"
