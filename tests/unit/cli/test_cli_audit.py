"""``pyterrier-asl audit``: judgements of people and of a machine."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from _files import write_qrels, write_run
from click.testing import CliRunner, Result

import pyterrier_asl as asl
from pyterrier_asl.assessment.audit import audit
from pyterrier_asl.assessment.audit_plan import plan_audit
from pyterrier_asl.cli import main

QIDS = [f"q{number:02}" for number in range(30)]
DOCNOS = [f"d{number}" for number in range(8)]


def made_up(seed: int = 4) -> tuple[dict, dict, dict]:
    """Labels of all queries by people and by a machine, and two runs."""
    draw = np.random.default_rng(seed)
    people = {q: {d: int(draw.random() < 0.4) for d in DOCNOS} for q in QIDS}
    machine = {
        q: {d: max(grade, int(draw.random() < 0.2)) for d, grade in docs.items()}
        for q, docs in people.items()
    }
    runs = {
        name: {q: {d: skill * people[q][d] + draw.normal() for d in DOCNOS} for q in QIDS}
        for name, skill in (("old", 0.3), ("new", 2.0))
    }
    return people, machine, runs


PEOPLE, MACHINE, RUNS = made_up()
JUDGED = [QIDS[place] for place in np.random.default_rng(8).permutation(30)[:12]]
SAMPLE = {qid: PEOPLE[qid] for qid in JUDGED}


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """The folder the command is run in: people, machine, old.run, new.run."""
    monkeypatch.chdir(tmp_path)
    write_qrels(SAMPLE, "people")
    write_qrels(MACHINE, "machine")
    for name, run in RUNS.items():
        write_run(run, f"{name}.run")
    return tmp_path


def call(*arguments: str, people: str = "people") -> Result:
    given = ["audit", people, "old.run", "new.run", "--judge", "m=machine", *arguments]
    return CliRunner().invoke(main, given)


def test_a_sentence_per_difference_says_who_is_better_and_what_is_saved():
    found = audit(RUNS, SAMPLE, ["AP", "ASL@5"], MACHINE, name="llm")
    gain, cost = (row for row in found.table.to_dict("records") if row["minus"])
    assert gain["ci_low"] > 0 > cost["ci_high"]
    for row, sentence in zip((gain, cost), found.sentences()):
        size = f"{row['estimate']:+.3f} [{row['ci_low']:+.3f}, {row['ci_high']:+.3f}]"
        start = f"{row['measure']}, new - old = {size} by people's labels of 12 of 30 queries and "
        assert sentence.startswith(f"{start}all of llm's: new is better; llm ")
        saved = round(row["saved"])
        assert f"labels of {saved} quer" in sentence if saved > 0 else "labels of" in sentence
    same = audit({"a": RUNS["old"], "b": RUNS["old"]}, SAMPLE, "AP", MACHINE).sentences()[0]
    assert same.endswith("all of machine's: there is no interval.")
    (mean, *_) = audit({"a": RUNS["old"]}, SAMPLE, "AP", MACHINE).sentences()
    assert mean.startswith("AP, a = ") and "better" not in mean
    back = audit(RUNS, SAMPLE, "AP", MACHINE, baseline="new").sentences()[0]
    assert back.startswith("AP, old - new = -") and "new is better" in back
    unclear = audit(RUNS, SAMPLE, "AP", MACHINE, alpha=1e-9).sentences()[0]
    assert "no significant difference; machine" in unclear


def test_printed_tables_have_80_columns_and_what_is_saved():
    runs = {"a run with a name": RUNS["old"], "another": RUNS["new"]}
    text = str(audit(runs, SAMPLE, ["AP", "nDCG"], MACHINE))
    assert "AP, means:" in text and "AP, less a run with a name:" in text
    heads = [line for line in text.splitlines() if " estimate " in line]
    assert len(heads) == 4 and all(len(line) <= 80 and "saved" in line for line in heads)


def test_grades_of_a_machine_on_another_scale():
    doubled = {q: {d: 3 * grade for d, grade in docs.items()} for q, docs in MACHINE.items()}
    lenient = {q: {d: grade or 1 for d, grade in docs.items()} for q, docs in doubled.items()}
    usual = audit(RUNS, SAMPLE, "AP(rel=1)", MACHINE).table
    other = audit(RUNS, SAMPLE, "AP(rel=1)", lenient, machine_rel=3).table
    assert other["estimate"].to_numpy() == pytest.approx(usual["estimate"].to_numpy())
    assert other["measure"].tolist() == ["AP(rel=1), machine: rel=3"] * 3
    for options in ({"rel": 3}, {"rel": 1}, {}):  # rel= has the lowest priority
        again = audit(RUNS, SAMPLE, "AP(rel=1)", lenient, machine_rel=3, **options).table
        assert again["estimate"].tolist() == other["estimate"].tolist()


def test_queries_that_the_machine_has_not_judged_are_an_error():
    with pytest.raises(ValueError, match="1 queries that the machine has not, such as 'other'"):
        audit(RUNS, {**SAMPLE, "other": {"d1": 1}}, "AP", MACHINE)


def test_a_plan_keeps_the_pilot_and_goes_on_from_shorter_ones():
    pilot = {qid: PEOPLE[qid] for qid in JUDGED[:6]}
    plans = [plan_audit(RUNS, pilot, "AP", MACHINE, width, seed=3) for width in (0.5, 0.4)]
    assert plans[0].queries < plans[1].queries
    for plan in plans:
        assert set(plan.drawn[:6]) == set(JUDGED[:6]) and len(set(plan.drawn)) == len(plan.drawn)
        assert len(plan.drawn) == max(plan.queries, 6)
    assert plans[1].drawn[: len(plans[0].drawn)] == plans[0].drawn
    again = plan_audit(RUNS, pilot, "AP", MACHINE, 0.4, seed=3)
    assert again.drawn == plans[1].drawn
    assert plan_audit(RUNS, pilot, "AP", MACHINE, 0.4, seed=4).drawn != plans[1].drawn
    other_order = plan_audit(RUNS, pilot, "AP", dict(sorted(MACHINE.items())[::-1]), 0.4, seed=3)
    assert other_order.drawn[6:] == again.drawn[6:]  # not by the order of the qrels
    enough = plan_audit(RUNS, SAMPLE, "AP", MACHINE, 0.9)
    assert "The 12 queries that people have judged are enough" in enough.sentence()
    assert enough.pairs == [] and len(plans[0].pairs) == 8 * (len(plans[0].drawn) - 6)
    exactly = dataclasses.replace(enough, queries=12)
    assert "are enough" in exactly.sentence()  # as many as have been judged
    assert "must judge 13" in dataclasses.replace(enough, queries=13).sentence()


def test_a_plan_that_cannot_be(tmp_path):
    plan = plan_audit(RUNS, SAMPLE, "AP", MACHINE, 1e-6)
    assert plan.queries is None and sorted(plan.drawn) == QIDS
    assert "Even all 30 queries are too few" in plan.sentence()
    # Of all queries the machine adds nothing: the interval of people's values by their variance.
    rest = {name: asl.evaluate({name: RUNS[name]}, SAMPLE, "AP")["AP"] for name in RUNS}
    values = {"AP, old": rest["old"], "AP, new": rest["new"]}
    values["AP, new - old"] = rest["new"] - rest["old"]
    widths = {
        what: 2 * scipy.stats.t.isf(0.025, 29) * np.sqrt(own.var(ddof=1) / 30)
        for what, own in values.items()
    }
    widest = max(widths, key=widths.get)
    assert plan.limiting == widest and plan.widest == pytest.approx(widths[widest])
    assert f"with all of them the widest is {plan.widest:.3g}, of {widest}; all" in plan.sentence()
    with pytest.raises(ValueError, match="above 0"):
        plan_audit(RUNS, SAMPLE, "AP", MACHINE, 0)


@pytest.mark.parametrize(
    "given", ["--baseline old", "--all-pairs", "--chart c.svg", "--output jsonl", "--places 2"]
)
def test_a_plan_has_no_options_of_estimates(files, given):
    result = call("-m", "AP", "--plan", ".2", *given.split())
    assert result.exit_code == 2 and not result.stdout
    assert f"{given} is for estimates, not for --plan: leave it out" in result.stderr
    assert not (files / "c.svg").exists()


def test_the_command(files):
    result = call("-m", "AP", "-o", "jsonl")
    assert result.exit_code == 0, result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    expected = audit(RUNS, SAMPLE, "AP", MACHINE).table
    assert [row["estimate"] for row in rows] == pytest.approx(expected["estimate"].tolist())
    assert "drawn at random" in result.stderr
    table = call("-m", "AP", "--target", "these-queries").stdout
    assert "new - old" in table and "these 30 queries, if people judged all" in table.replace(
        "\n", " "
    )


def test_people_who_judged_all_queries_need_no_draw():
    for target in ("queries like these", "these queries"):
        found = audit(RUNS, PEOPLE, "AP", MACHINE, target=target)
        assert np.array_equal(found.table["estimate"], found.table["people"])
        assert found.sentences()[0].endswith("new is better; machine saves no labels.")
        assert found.note.endswith(
            "People have judged all of them, so the machine changes no estimate."
        )


def test_a_plan_without_a_pilot_takes_the_machines_own_scale():
    lenient = {q: {d: 3 * grade or 1 for d, grade in of.items()} for q, of in MACHINE.items()}
    usual = plan_audit(RUNS, None, "AP(rel=1)", MACHINE, 0.4)
    assert plan_audit(RUNS, None, "AP(rel=1)", lenient, 0.4, machine_rel=3) == usual
    with pytest.raises(ValueError, match="queries that the machine judged"):
        plan_audit(RUNS, None, "AP(rel=1)", lenient, 0.4)  # all documents are relevant


def test_a_pilot_of_equal_values_plans_nothing():
    pilot = {qid: dict.fromkeys(DOCNOS, 1) for qid in JUDGED[:4]}
    with pytest.raises(ValueError, match="one value in all 4 queries that people judged"):
        plan_audit(RUNS, pilot, "AP", MACHINE, 0.3)


def test_the_draw_is_kept_in_a_file(files):
    given = ("-m", "AP", "--plan", "0.3", "--draw", "audit.tsv", "--seed", "2")
    result = call(*given, people="none")
    assert result.exit_code == 0, result.stderr
    assert "as if the machine were of no use" in result.stdout
    about, *lines = Path("audit.tsv").read_text().splitlines()
    said = json.loads(about.removeprefix("# "))
    rows = [line.split("\t") for line in lines]
    assert rows[0] == ["qid", "docno", "label"] and said["judged"] == []
    by_query = {qid: [row[1] for row in rows if row[0] == qid] for qid, *_ in rows[1:]}
    assert said["seed"] == 2 and said["queries"] == len(by_query)
    assert all(docnos == DOCNOS for docnos in by_query.values())  # of the machine
    listed = call("-m", "AP", "--plan", "0.3", "--seed", "2", people="none").stdout.splitlines()
    assert [line.split("\t") for line in listed[-len(rows) + 1 :]] == [row[:2] for row in rows[1:]]
    filled = ["\t".join([*row[:2], "1"]) for row in rows[1:]]
    Path("filled.tsv").write_text("\n".join([*lines[:1], *filled]))
    assert len(asl.read_labels("filled.tsv")) == len(filled)
    again = call(*given, people="none")
    assert again.exit_code == 2 and "queries are drawn once" in again.stderr


def test_the_chart_shows_the_three_estimates_of_each_mean_and_difference():
    drawn = audit(RUNS, SAMPLE, "AP", MACHINE).chart().to_dict()
    means, differences = (
        {(row["what"], row["by"]) for row in rows} for rows in drawn["datasets"].values()
    )
    said = ("both", "people alone", "machine alone")
    assert means == {(what, by) for what in ("old", "new") for by in said}
    assert differences == {("new - old", by) for by in said}


@pytest.mark.parametrize("name", ["people", "machine", "old.run", "new.run", "lengths"])
def test_a_chart_overwrites_nothing_that_is_read(files, name):
    """Even if the input could be a chart."""
    chart = files / f"{name}.svg"
    chart.write_text(f"{name}\n" if name == "lengths" else (files / name).read_text())
    given = {"people": "people", "a": "old.run", "b": "new.run", "machine": "machine"}
    given = {of: chart.name if said == name else said for of, said in given.items()}
    before = chart.read_bytes()
    words = ["audit", given["people"], given["a"], given["b"], "--judge", f"m={given['machine']}"]
    words += ["--lengths", chart.name] if name == "lengths" else []
    result = CliRunner().invoke(main, [*words, "--chart", chart.name])
    assert result.exit_code == 2 and "it is one of the inputs" in result.stderr
    assert chart.read_bytes() == before and not result.stdout


def test_the_command_takes_a_folder_a_baseline_and_all_pairs(files):
    (files / "runs").mkdir()
    for name in ("old", "new"):
        (files / f"{name}.run").rename(files / "runs" / f"{name}.run")
    (files / "runs" / "third.run").write_bytes((files / "runs" / "old.run").read_bytes())
    arguments = ["audit", "people", "runs", "--judge", "m=machine", "-m", "AP", "-o", "jsonl"]

    def differences(*options):
        result = CliRunner().invoke(main, [*arguments, *options])
        assert result.exit_code == 0, result.stderr
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        return [(row["run"], row["minus"]) for row in rows if row["minus"]]

    assert differences("--baseline", "old") == [("new", "old"), ("third", "old")]
    assert len(differences("--all-pairs")) == 3
    assert CliRunner().invoke(main, [*arguments, "--draw", "d.tsv"]).exit_code == 2
