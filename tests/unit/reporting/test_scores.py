"""A report on scores of another program: all parts that need no documents."""

import re

import numpy as np
import pandas as pd
import pytest
from _reports import EVIL_QUERY, QRELS, RUNS, command, data_of, unpacked_values

from pyterrier_asl import evaluate, ranks, report
from pyterrier_asl.evaluation.scores import read_scores
from pyterrier_asl.reporting.collect import collect, collect_scores

pytestmark = pytest.mark.filterwarnings("ignore:.*(fewer than 8|only 10 topics)")
MEASURES = ["ASL@20", "AP", "nDCG@10"]


@pytest.fixture(scope="module")
def values() -> pd.DataFrame:
    return evaluate(RUNS, QRELS, MEASURES)


def test_ranking_and_pairs_match_the_runs(values):
    found = collect_scores(read_scores(values), MEASURES)
    expected = collect(RUNS, QRELS, MEASURES)
    assert found.names == expected.names
    for ours, theirs in zip(found.rankings, expected.rankings):
        assert (ours.name, ours.kind) == (theirs.name, theirs.kind)
        assert ours.higher_is_better == theirs.higher_is_better
        np.testing.assert_allclose(ours.means, theirs.means)
        np.testing.assert_array_equal(ours.better, theirs.better)
        assert ours.candidates == theirs.candidates
        assert ours.board.table["low"].tolist() == theirs.board.table["low"].tolist()


def test_without_measures_those_with_a_direction_are_shown(values):
    scores = read_scores(values.assign(NumRet=1.0))
    assert [each.name for each in collect_scores(scores).rankings] == ["nDCG@10", "AP", "ASL@20"]


def test_an_unknown_measure_is_shown_if_its_direction_is_given():
    qids = [f"q{at}" for at in range(12)]
    table = pd.DataFrame({"qid": qids, "a": np.arange(12.0), "b": np.arange(12.0) + 1})
    long = table.melt("qid", var_name="name", value_name="value").assign(measure="seconds")
    with pytest.raises(ValueError, match="the direction of 'seconds' is not known"):
        collect_scores(read_scores(long))
    found = collect_scores(read_scores(long, lower_is_better=["seconds"]))
    assert found.first.order.tolist() == [0, 1] and found.first.description == ""
    page = report(read_scores(long, lower_is_better=["seconds"])).html
    assert " from a by seconds: +1" in re.sub("<[^>]*>", "", page)


def test_the_title_and_the_level_are_those_of_the_scores(values):
    page = report(read_scores(values.assign(track="dl20")), measures="AP", alpha=0.2).html
    assert "<title>dl20: 5 systems</title>" in page
    assert "80 % confidence" in page and "95 % confidence" not in page


def test_scores_of_several_collections_have_the_leaderboard_of_ranks(values):
    rows = values.melt(["name", "qid"], var_name="measure")
    other = rows.assign(track="y", value=rows["value"] ** 2)
    scores = read_scores(pd.concat([rows.assign(track="x"), other]))
    found = collect_scores(scores, ["AP"])
    board = ranks(scores, measures="AP")
    pd.testing.assert_frame_equal(found.of_all.table, board.table)
    assert found.qids == [qid for qid in QRELS] and list(board.means) == ["x", "y"]


def test_what_cannot_be_a_report(values):
    with pytest.raises(ValueError, match="the scores have no measure 'RR'"):
        collect_scores(read_scores(values), ["RR"])
    with pytest.raises(ValueError, match="qrels is for runs and qrels, not for scores"):
        report(read_scores(values), QRELS)
    for name, value in (("people", ["x"]), ("judge_rel", 2)):
        with pytest.raises(ValueError, match=f"{name}(=2)? is for runs and qrels, not for scores"):
            report(read_scores(values), **{name: value})
    wide = pd.DataFrame({"qid": ["1", "2"], "a": [0.1, 0.2]})
    with pytest.raises(ValueError, match="the direction of 'score' is not known"):
        collect_scores(read_scores(wide, wide_systems=True))


def test_the_page_has_what_needs_no_documents(values):
    pytest.importorskip("vl_convert", reason="reports need pyterrier-asl[report]")
    made = report(read_scores(values), topics={q: f"about {q}" for q in QRELS})
    data = data_of(made.html)
    assert data["systems"] == list(RUNS) and data["documents"] is None
    for shown, ranking in zip(data["measures"], made.findings.rankings):
        kept = unpacked_values(shown["values"], ranking.values.shape)
        np.testing.assert_allclose(kept, ranking.values, rtol=1e-6)
    sections = {"summary", "measures", "leaderboard", "pair", "queries", "about"}
    assert set(re.findall('<section id="(.*?)"', made.html)) == sections
    assert "about 3" in made.html and "<title>Comparison of 5 systems</title>" in made.html


def test_command(values, tmp_path):
    pytest.importorskip("vl_convert", reason="reports need pyterrier-asl[report]")
    scores, page = tmp_path / "perquery.csv", tmp_path / "page.html"
    values[values["qid"] != EVIL_QUERY].to_csv(scores, index=False)
    assert "5 systems, 9 queries" in command("report", "--scores", scores, "-o", page)
