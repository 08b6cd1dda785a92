"""Comparisons and guards on tables of scores (differences.py)."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from _calls import call
from _files import write_qrels, write_run

import pyterrier_asl as asl

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


@pytest.mark.parametrize("asked", ["AP, ASL(rel=1, g=2)@5", ["AP", "ASL(rel=1, g=2)@5"]])
def test_a_text_names_several_measures_of_scores_as_of_runs(asked):
    """The name with a blank is one; only a measure of the table can have it otherwise."""
    scores = asl.read_scores(asl.evaluate(runs(0), QRELS, ["AP", "ASL(g=2)@5"]))
    compared = asl.compare(scores, measures=asked, baseline="old")
    names = ["AP", "ASL(rel=1, g=2)@5"]
    assert compared.table["measure"].drop_duplicates().tolist() == names
    own = scores.rows.assign(measure="my score")
    mine = asl.read_scores(own[scores.rows["measure"] == "AP"], higher_is_better=["my score"])
    assert asl.compare(mine, measures="my score").table["measure"].iloc[0] == "my score"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--scores scores.csv --fill 0", "there is no --fill: write --missing VALUE"),
        ("--scores scores.csv --wide-systems", "no --wide-systems: write --wide systems"),
        ("--scores scores.csv old", "Missing argument 'NAME...'"),
        ("--scores scores.csv old old", "the system 'old' is named twice"),
        ("--scores scores.csv old lost", "scores names 'lost'"),
        ("x.qrels x/old.run", "Missing argument 'RUN_B...'"),
        ("--scores scores.csv old new --show documents", "--show documents needs runs and qrels"),
    ],
)
def test_what_does_not_go_together(files, arguments, message):
    result = call("compare", *arguments.split())
    assert result.exit_code == 2 and message in result.stderr


def test_a_p_value_below_all_sign_vectors_is_not_said_to_be_0(capsys):
    """No sign vector of 28 topics gives as large a loss; the bound is corrected for two runs."""
    qrels = {f"q{i}": {"a": 1} for i in range(28)}
    good = {q: {"a": 2 + int(q[1:]) % 3, "b": 1} for q in qrels}
    bad = {q: {f"n{j}": 9 for j in range(1 + int(q[1:]) % 3)} | {"a": 1} for q in qrels}
    runs = {"good": good, "bad": bad, "worse": bad}
    options = {"conditions": "RR worse p<.05", "test": "randomization"}
    compared = asl.compare(runs, qrels, ["RR"], **options)
    for verdict in compared.verdicts:
        assert verdict.outcome.name == "FAIL" and verdict.numbers["p"] == 0
        assert "p < 0.0002, corrected (holm) over 2 runs" in verdict.message
    assert (compared.table["p_corrected"] == 0).all()
    for places, bound in ((4, "<0.0002"), (5, "<0.0002"), (2, "<0.01"), (-1, "<0.0002")):
        compared.show(places=places)
        assert capsys.readouterr().out.count(bound) == 2


def test_missing_scores_are_said_by_every_command(tmp_path, monkeypatch):
    """The new system is better where it has values, and worse if its failures count as 0."""
    monkeypatch.chdir(tmp_path)
    live = {f"q{n}": 0.5 + n / 100 for n in range(12)}
    new = {
        qid: value + 0.02 + (number % 3) / 100 for number, (qid, value) in enumerate(live.items())
    }
    text = {"live": live, "new": new | {"q3": "", "q7": "None"}, "none": dict.fromkeys(live, "")}
    for name, of in text.items():
        lines = [f"{qid},{value},{value}\n" for qid, value in of.items()]
        Path(f"{name}.csv").write_text("qid,AP,RR\n" + "".join(lines))
    given = ["--scores", "live.csv", "--scores", "new.csv", "-m", "AP"]
    guard = ["compare", *given, "--fail-if", "AP worse", "--junit", "x.xml", "-o", "jsonl"]
    said = "over 10 of 12 queries, those with a value of every system and measure"
    counted = "2 missing values (new: 2) count as 0"
    outcomes = [
        ([], "2 values of 24 are missing", 2),
        (["--missing", "common"], said, 0),
        (["--missing", "0"], counted, 1),
    ]
    for how, sentence, status in outcomes:
        result = call(*guard, *how)
        assert result.exit_code == status
        assert sentence in result.stderr and sentence in result.stdout
        assert sentence in Path("x.xml").read_text()
        ranked = call("ranks", *given, *how)
        assert sentence in ranked.stdout + ranked.stderr
    lacks = call("compare", "--scores", "live.csv", "--scores", "none.csv", "--fail-if", "RR worse")
    assert lacks.exit_code == 2 and "none has no value of RR" in lacks.stderr
