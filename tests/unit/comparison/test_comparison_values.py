"""Comparisons and guards on tables of scores and on several collections (differences.py)."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from _calls import call, rows
from _files import write_qrels, write_run

import pyterrier_asl as asl
from pyterrier_asl.comparison.reports import print_comparison
from pyterrier_asl.reporting.collect import collect_scores
from pyterrier_asl.statistics.rank_intervals import rank_intervals

TOPICS = [f"q{number:02}" for number in range(30)]
QRELS = {qid: {f"d{k}": int(k < 3) for k in range(8)} for qid in TOPICS}


def runs(seed, topics=30):
    generator = np.random.default_rng(seed)
    return {
        name: {
            qid: {f"d{k}": float(generator.normal(-steep * k)) for k in range(8)}
            for qid in TOPICS[:topics]
        }
        for name, steep in (("old", 0.3), ("new", 1.0), ("bad", -0.5))
    }


@cache
def scored():
    return asl.evaluate(runs(0), QRELS, ["AP", "ASL@5"])


SCORES = ("--scores", "scores.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder the command is run in: scores.csv, x.qrels, and the runs in x."""
    path = tmp_path_factory.mktemp("compared")
    (path / "x").mkdir()
    for name, run in runs(0).items():
        write_run(run, path / "x" / f"{name}.run")
    write_qrels(QRELS, path / "x.qrels")
    scored().to_csv(path / "scores.csv", index=False)
    return path


@pytest.fixture
def files(folder, monkeypatch):
    monkeypatch.chdir(folder)


def test_scores_give_what_the_runs_give():
    frame = scored()
    options = {"baseline": "old", "conditions": ["AP worse p<.05"], "test": "wilcoxon"}
    by_scores = asl.compare(asl.read_scores(frame), measures=["AP", "ASL@5"], **options)
    by_runs = asl.compare(runs(0), QRELS, ["AP", "ASL@5"], **options, correction="holm")
    pd.testing.assert_frame_equal(by_scores.table, by_runs.table)
    assert [v.outcome for v in by_scores.verdicts] == [v.outcome for v in by_runs.verdicts]
    assert "sgnLP" not in str(by_scores) and "Relevant documents" not in str(by_scores)
    assert by_scores.to_latex().count(r"\\") == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "none"}, "there is no system 'none'"),
        ({"measures": "rrLP"}, "rrLP needs runs and qrels, not scores"),
        ({"common": True}, "common is for several collections"),
        ({"conditions": ["AP worse certainly"]}, "certainly needs the runs"),
        ({"measures": "RR"}, "no measure 'RR'; they have AP"),
    ],
)
def test_what_scores_cannot_say(options, message):
    scores = asl.read_scores(scored()[["name", "qid", "AP"]])
    with pytest.raises(ValueError, match=message):
        asl.compare(scores, **options)


def test_conditions_on_collections_find_the_rows_of_their_measures():
    qrels = {qid: {d: 2 * grade for d, grade in of.items()} for qid, of in QRELS.items()}
    tracks = {"x": (runs(0), qrels), "y": (runs(1), qrels)}
    compared = asl.compare(tracks, conditions=["AP worse", "map better"], rel=2)
    assert list(compared.inputs.higher_is_better) == ["AP(rel=2)"]
    by_rel = asl.compare(tracks, measures="AP(rel=2)", conditions=["AP(rel=2) worse"])
    assert compared.verdicts[0].numbers == by_rel.verdicts[0].numbers
    assert [str(v).partition(":")[0] for v in compared.verdicts[:2]] == ["PASS", "FAIL"]


def test_measures_of_collections_may_have_names():
    tracks = {"x": (runs(0), QRELS), "y": (runs(1), QRELS)}
    named = asl.compare(tracks, measures={"mine": "AP", "length": "ASL@5"})
    assert named.inputs.higher_is_better == {"mine": True, "length": False}
    expected = asl.compare(tracks, measures=["AP", "ASL@5"]).table
    unnamed = (table.drop(columns="measure") for table in (named.table, expected))
    pd.testing.assert_frame_equal(*unnamed)


def test_a_guard_on_scores_in_all_outcomes(files):
    outcomes = [("AP worse p<.05", 0, "PASS"), ("AP better p<.05", 1, "FAIL")]
    for condition, code, says in [*outcomes, ("RR worse", 2, "no measure 'RR'")]:
        result = call("compare", *SCORES, "old", "new", "--fail-if", condition)
        assert result.exit_code == code and says in result.stderr


def test_the_command_prints_what_the_function_gives(files):
    """The order of the systems in the file must not matter."""
    found = pd.DataFrame(rows(call("compare", *SCORES, "old", "new", "bad", "-o", "jsonl")))
    assert found["run"].tolist() == ["new", "new", "bad", "bad"]
    expected = asl.compare(asl.read_scores("scores.csv"), baseline="old").table
    by_key = [table.set_index(["run", "measure"])["difference"] for table in (found, expected)]
    assert by_key[0].equals(by_key[1][by_key[0].index])


@pytest.mark.parametrize("asked", ["AP, ASL(rel=1, g=2)@5", ["AP", "ASL(rel=1, g=2)@5"]])
def test_a_text_names_several_measures_of_scores_as_of_runs(asked):
    """The name with a blank is one; only a measure of the table can have it otherwise."""
    scores = asl.read_scores(asl.evaluate(runs(0), QRELS, ["AP", "ASL(g=2)@5"]))
    compared = asl.compare(scores, measures=asked, baseline="old")
    found = collect_scores(scores, asked)
    names = ["AP", "ASL(rel=1, g=2)@5"]
    assert compared.table["measure"].drop_duplicates().tolist() == names
    assert [ranking.name for ranking in found.rankings] == names
    own = scores.rows.assign(measure="my score")
    mine = asl.read_scores(own[scores.rows["measure"] == "AP"], higher_is_better=["my score"])
    assert asl.compare(mine, measures="my score").table["measure"].iloc[0] == "my score"
    assert collect_scores(mine, "my score").rankings[0].name == "my score"


# Several collections


def collections():
    return {"x": (runs(0), QRELS), "y": (runs(1, 12), {q: QRELS[q] for q in TOPICS[:12]})}


def test_overall_is_the_mean_of_the_collections_and_its_p_that_of_a_pair():
    compared = asl.compare(collections(), None, ["AP", "ASL@5"], baseline="old", seed=3)
    table = compared.by_track.set_index(["track", "run", "measure"])
    parts = {
        track: asl.evaluate(*pair, ["AP"]).pivot(index="name", columns="qid", values="AP")
        for track, pair in collections().items()
    }
    values = np.concatenate([part.loc[["old", "new"]] for part in parts.values()], axis=1)
    difference = {t: (p.loc["new"] - p.loc["old"]).mean() for t, p in parts.items()}
    row = table.loc[("overall", "new", "AP")]
    assert row["difference"] == pytest.approx(np.mean(list(difference.values())))
    assert row["p"] == rank_intervals(values, collections=["x"] * 30 + ["y"] * 12, seed=3).p[0, 1]
    for track, part in parts.items():
        row = table.loc[(track, "new", "AP")]
        assert row["difference"] == pytest.approx(difference[track])
        assert row["p"] == rank_intervals(part.loc[["old", "new"]], seed=3).p[0, 1]
    of_all = compared.table.set_index(["run", "measure"])
    assert of_all.loc[("new", "AP"), "p"] == table.loc[("overall", "new", "AP"), "p"]
    assert "No two collections put a pair in significantly opposite orders." in compared.remarks()
    assert "chosen, not drawn" in str(compared)
    assert "comparisons planned before looking at the results" in " ".join(str(compared).split())


@pytest.mark.parametrize(
    ("correction", "words"),
    [("holm", ", corrected (holm) over 2 runs; "), ("none", ", not corrected, 2 runs; ")],
)
def test_the_correction_is_named(correction, words):
    measures = ["AP", "ASL@5"]
    options = {"correction": correction, "alpha": 0.1}
    compared = asl.compare(collections(), None, measures, baseline="old", **options)
    assert compared.remarks()[0].endswith(f"{words}significant: p at most 0.1.")
    p, corrected = compared.by_track["p"], compared.by_track["p_corrected"]
    assert (corrected >= p).all() and ((corrected == p).all() or correction != "none")


def test_collections_that_disagree_are_named():
    reverse = runs(0)
    reverse["old"], reverse["new"] = reverse["new"], reverse["old"]
    several = {"x": (runs(0), QRELS), "y": (reverse, QRELS)}
    compared = asl.compare(several, None, ["AP"], baseline="old")
    words = "new is significantly better than old by AP in x, and significantly worse in y."
    assert words in compared.remarks()
    assert compared.table.set_index("run").loc["new", "p"] == 1


def test_a_count_that_collections_disagree_on_is_higher_or_lower():
    deep, short = (
        {q: {"d0": 9.0} | dict.fromkeys(d[: 1 + int(q[1:]) % 2], 1.0) for q in TOPICS}
        for d in ("mn", "")
    )
    several = {"x": ({"old": deep, "new": short}, QRELS), "y": ({"old": short, "new": deep}, QRELS)}
    notes = asl.compare(several, None, ["Judged@10"], baseline="old").remarks()
    words = "significantly higher than old by Judged@10 in x, and significantly lower in y."
    assert f"new is {words}" in notes


def test_a_collection_of_few_topics_has_no_test_and_the_notes_say_so():
    few = {q: QRELS[q] for q in TOPICS[:9]}
    several = {"x": (runs(0), QRELS), "y": (runs(1, 9), few)}
    compared = asl.compare(several, None, ["AP"], conditions="AP worse by .01 p<.0001")
    assert compared.by_track.set_index("track").loc["y", "p"].isna().all()
    assert "y has fewer than 10 topics: no test." in compared.remarks()
    assert not any(note.startswith("No two collections") for note in compared.remarks())
    verdict = compared.verdicts[0]  # the test is not the t-test, which has another power
    assert "t-test" not in verdict.message
    both = {name: (runs(seed, 9), few) for seed, name in enumerate("xy")}
    notes = asl.compare(both, None, ["AP"]).remarks()
    assert "x and y have fewer than 10 topics: no test." in notes


def test_every_form_but_latex_has_each_collection(capsys):
    compared = asl.compare(collections(), None, ["AP", "ASL@5"], baseline="old")
    for form in ("table", "markdown", "tsv"):
        print_comparison(compared, form)
        text = capsys.readouterr().out
        assert all(re.search(rf"^\W*{track}\b", text, re.M) for track in ("overall", "x", "y"))
        assert ("ASL@5 ↓" in text) == (form != "tsv")


def test_scores_of_several_collections():
    frame = asl.evaluate(collections(), measures=["AP"])
    by_scores = asl.compare(asl.read_scores(frame), baseline="old")
    by_runs = asl.compare(collections(), None, ["AP"], baseline="old")
    pd.testing.assert_frame_equal(by_scores.by_track, by_runs.by_track)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--track x x.qrels x", "--baseline NAME"),
        ("--track x x.qrels x --baseline old --test t", "--test t is for one collection"),
        ("x.qrels x/old.run x/new.run --baseline old", "--track goes with --baseline"),
        ("x.qrels x/old.run x/new.run --fill 0", "--fill needs --scores"),
        ("--scores scores.csv old", "Missing argument 'NAME...'"),
        ("--scores scores.csv old old", "the system 'old' is named twice"),
        ("--scores scores.csv old lost", "scores names 'lost'"),
        ("x.qrels x/old.run", "Missing argument 'RUN_B...'"),
        ("--track x x.qrels x --baseline old --show documents", "--show documents needs the runs"),
    ],
)
def test_what_does_not_go_together(files, arguments, message):
    result = call("compare", *arguments.split())
    assert result.exit_code == 2 and message in result.stderr


def test_a_p_value_below_all_sign_vectors_is_not_said_to_be_0(capsys):
    """No sign vector of 28 topics gives as large a loss; the bound is corrected for two runs."""
    qrels = {f"q{i}": {"a": 1} for i in range(14)}
    good = {q: {"a": 2 + int(q[1:]) % 3, "b": 1} for q in qrels}
    bad = {q: {f"n{j}": 9 for j in range(1 + int(q[1:]) % 3)} | {"a": 1} for q in qrels}
    tracks = {name: ({"good": good, "bad": bad, "worse": bad}, qrels) for name in "xy"}
    compared = asl.compare(tracks, measures=["RR"], conditions="RR worse p<.05")
    for verdict in compared.verdicts:
        assert verdict.outcome.name == "FAIL" and verdict.numbers["p"] == 0
        assert "p < 0.0002 by holm over 2 runs" in verdict.message
    assert (compared.by_track["p_corrected"] == 0).all()
    for places, bound in ((4, "<0.0002"), (5, "<0.0002"), (2, "<0.01"), (-1, "<0.0002")):
        compared.show(places=places)
        assert capsys.readouterr().out.count(bound) == 2 * 3
