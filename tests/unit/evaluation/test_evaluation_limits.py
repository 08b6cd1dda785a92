"""Limits from which on evaluations note, name or refuse something, and orders of their tables.
Tests of collections.py, printing.py, scores.py."""

import pytest
from _files import write_qrels

from pyterrier_asl import bounds, evaluate, search_lengths
from pyterrier_asl.evaluation.evaluate import collections_of, measured
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.labellings import Labelled, unjudged_of
from pyterrier_asl.evaluation.printing import headlines, printed_columns, sort_of_many
from pyterrier_asl.evaluation.relevant_documents import RelevantRanks
from pyterrier_asl.evaluation.sources import chosen_measures, refuse, tracks_by_name
from pyterrier_asl.measures.parsing import parse_measure

pytestmark = pytest.mark.filterwarnings("ignore:.* say little about rareness")

QRELS = {"q": {"a": 1, "b": 0}, "p": {"a": 1}}
#: AP: 1 and 1/2, 1 and 0, 1/2 and 1/2; the last run retrieves most.
RUNS = {
    "x": {"q": {"a": 2, "b": 1}, "p": {"b": 2, "a": 1}},
    "y": {"q": {"a": 1}, "p": {"b": 1}},
    "z": {"q": {"b": 3, "a": 2, "c": 1}, "p": {"b": 3, "a": 2, "c": 1}},
}


def done(measures: str, runs=RUNS) -> Evaluation:
    return measured(runs, QRELS, measures)[""]


@pytest.mark.parametrize(
    ("sort", "order"), [("", "xyz"), ("AP", "xyz"), ("ASL@9", "xzy"), ("NumRet", "zxy")]
)
def test_printed_runs_are_in_the_order_of_a_measure_best_first(sort, order):
    """Two runs have the same AP; their order stays. Counts have the largest first."""
    columns = printed_columns(done("AP ASL@9 NumRet"), sort=sort)
    assert columns["run"] == [*order]
    values = {"x": (0.75, 1.5, 4), "y": (0.5, 5.5, 2), "z": (0.5, 2, 6)}
    found = zip(columns["AP"], columns["ASL@9"], columns["NumRet"])
    assert list(found) == [pytest.approx(values[run]) for run in order], "counts are added up"


@pytest.mark.parametrize("summary", [True, False])
def test_printed_queries_are_followed_by_the_mean_of_their_run(summary):
    columns = printed_columns(done("AP ASL@9"), by_query=True, summary=summary, sort="ASL@9")
    expected = {"x": [1, 0.5, 0.75], "z": [0.5, 0.5, 0.5], "y": [1, 0, 0.5]}
    rows = [
        (run, qid, value)
        for run, values in expected.items()
        for qid, value in zip(["q", "p", *["all"] * summary], values)
    ]
    assert list(zip(columns["run"], columns["qid"], columns["AP"])) == rows


def test_a_query_called_all_is_printed_where_no_row_of_means_has_this_name():
    runs = measured({"x": {"all": {"a": 1}}}, {"all": {"a": 1}}, "AP")[""]
    assert printed_columns(runs, by_query=True, summary=False)["qid"] == ["all"]
    assert printed_columns(runs)["AP"] == [1]


def test_many_runs_are_sorted_by_the_first_measure_with_a_direction():
    runs = done("NumRet ASL@9 AP")
    assert [sort_of_many(runs, few) for few in (2, 3, 4)] == ["ASL@9", "", ""]
    assert sort_of_many(done("NumRet"), 0) == ""


@pytest.mark.parametrize(
    ("measures", "names", "sentences"),
    [
        ("RR ASL@9 AP NumRet", "xyz", ["x has the best mean RR, ASL@9 and AP over 2 queries."]),
        ("NumRet ASL@9 P@1 AP", "xyz", ["x has the best mean ASL@9 and AP over 2 queries.",
                                        "x and y share the best mean P@1 over 2 queries."]),
        ("P@1 AP R@9", "xy", ["x has the best mean AP and R@9 over 2 queries.",
                              "All runs have the same mean P@1 over 2 queries."]),
        ("AP", "x", []),
    ],
)  # fmt: skip
def test_measures_with_most_in_common_come_first_and_counts_have_no_best(
    measures, names, sentences
):
    assert headlines(done(measures, {name: RUNS[name] for name in names})) == sentences
    one = measured({name: RUNS[name] for name in "zx"}, {"q": QRELS["q"]}, "AP")[""]
    assert headlines(one) == ["x has the best mean AP over 1 query."]


@pytest.mark.parametrize(
    ("value", "message"),
    [(0, "depth=0 is for runs: leave it out"), (0.5, "depth=0.5 is"), ("x", "depth='x' is")]
    + [(True, "depth is for runs"), ((1,), "depth is for runs"), ([], "depth is for runs")],
)
def test_an_option_that_was_given_is_refused_with_its_value(value, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        refuse("is for runs", other=None, depth=value)
    refuse("is for runs", one=None, two=False, three=())


def test_rareness_is_a_default_measure_for_several_runs():
    names = [list(evaluate(runs, QRELS)) for runs in ({"x": RUNS["x"]}, RUNS)]
    assert [any("Rareness" in name for name in columns) for columns in names] == [False, True]
    pool = [named.name for named in chosen_measures(None, QRELS, pool=RUNS)]
    assert any("Rareness" in name for name in pool)


def test_tracks_by_name_are_given_once_each():
    several = tracks_by_name([("a", "q", "r"), ("b", "p", "s")])
    assert several == {"a": (["r"], "q"), "b": (["s"], "p")}


def test_collections_are_pairs_or_evaluations():
    both = Evaluation.of(RUNS, QRELS)
    assert collections_of({"t": (RUNS, QRELS), 2: both}) == {"t": (RUNS, QRELS), "2": (both, None)}
    for wrong in ((RUNS,), (RUNS, QRELS, 3), [RUNS, QRELS]):
        with pytest.raises(ValueError, match="'t' is a (tuple|list)"):
            collections_of({"t": wrong})


def test_runs_are_matched_again_only_for_other_qrels(tmp_path):
    path = write_qrels({"q": {"a": 1}, "p": {"a": 1}}, tmp_path / "qrels")
    judged = Evaluation.of(RUNS, str(path))
    assert all(Evaluation.of(judged, same) is judged for same in (judged.source, judged.judgements))
    other = write_qrels({"q": {"b": 1}, "p": {"b": 1}}, tmp_path / "other")
    assert Evaluation.of(judged, other).values("RR").tolist() == [[0.5, 1], [0, 1], [1, 1]]


def test_selected_runs_keep_the_rows_of_their_values():
    judged = Evaluation.of(RUNS, QRELS)
    ap = judged.values("AP")
    chosen = judged.select(["z", "x"])
    assert chosen.values("AP").tolist() == ap[[2, 0]].tolist() == [[0.5, 0.5], [1, 0.5]]
    assert [judged.row(name) for name in "xyz"] == [0, 1, 2]
    assert [run.retrieved.tolist() for run in chosen.runs] == [[3, 3], [2, 2]]


def test_relevant_documents_are_found_down_to_the_depth():
    ranks = RelevantRanks.of(Evaluation.of(RUNS, {"q": {"a": 1, "c": 1}, "p": {"c": 1}}))
    assert ranks.ranks.tolist() == [[1, 0, 0], [1, 0, 0], [2, 3, 3]]
    found = [ranks.found(depth)[2].tolist() for depth in (1, 2, 3, None)]
    assert found == [[False] * 3, [True, False, False], [True] * 3, [True] * 3]


@pytest.mark.parametrize(("grade", "kind"), [(2.0**53, float), (2.0**53 - 1, int), (1.5, float)])
def test_whole_grades_that_doubles_hold_exactly_are_integers(grade, kind):
    frame = search_lengths({"q": {"a": 1}}, {"q": {"a": grade, "b": 1}})
    assert type(frame["grade"].tolist()[0]) is kind and frame["grade"].tolist()[0] == grade


def test_bounds_are_means_over_queries_and_documents_without_labels_are_added_up():
    """P@2: in q one document is unjudged, in p one or two of two."""
    runs = {"r": {"q": {"a": 2, "u": 1}, "p": {"u": 2, "v": 1}}}
    (row,) = bounds(runs, QRELS, "P@2").to_dict("records")
    expected = {"value": 0.25, "low": 0.25, "high": 1.0, "unjudged": 3, "exact": True}
    assert {name: row[name] for name in expected} == expected
    (deep,) = bounds(runs, QRELS, "P@1", depth=2).to_dict("records")
    assert (deep["low"], deep["high"], deep["unjudged"]) == (0.5, 1, 1)


@pytest.mark.parametrize(("depth", "documents"), [(None, 1), (0, 1), (1, 1), (2, 2), (9, 3)])
def test_documents_are_labelled_down_to_the_deeper_of_cut_off_and_depth(depth, documents):
    judged = Evaluation.of({"r": {"q": {"u": 4, "v": 3, "a": 2, "w": 1}}}, QRELS)
    measure = parse_measure("P@1")
    unjudged = unjudged_of(judged.runs, [measure], depth)
    labelled = Labelled(unjudged, measure, depth=depth)
    assert len(labelled.documents) == documents
    assert labelled.sides[0].unjudged.tolist() == [1, 0], "only the cut-off counts in the measure"


@pytest.mark.parametrize(
    ("grade", "measure", "highest", "best"),
    [
        (0, "nDCG@2", None, 1),
        (3, "nDCG@2", None, 3),
        (3, "nDCG@2", 2, 2),
        (1, "P(rel=4)@2", None, 4),
    ],
)
def test_labels_are_grades_up_to_the_best_in_the_qrels(grade, measure, highest, best):
    judged = Evaluation.of({"r": {"q": {"a": 2, "u": 1}}}, {"q": {"a": grade}})
    measure = parse_measure(measure)
    labelled = Labelled(unjudged_of(judged.runs, [measure]), measure, highest=highest)
    assert labelled.sides[0].highest == best
