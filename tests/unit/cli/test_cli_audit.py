"""``audit`` and ``plan-audit`` (plan_audit.py): judgements of people and of a machine."""

import dataclasses
import json
from pathlib import Path

import _calls
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from _calls import call
from _files import write_qrels, write_run
from statsmodels.stats.multitest import multipletests

import pyterrier_asl as asl
from pyterrier_asl.assessment.audit import audit
from pyterrier_asl.assessment.audit_plan import plan_audit

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


PLAN = ["plan-audit", "none", "old.run", "new.run", "--judge", "m=machine", "-m", "AP@3"]


def test_a_sentence_per_difference_says_who_is_better_and_what_is_saved():
    found = audit(RUNS, SAMPLE, ["AP", "ASL@5"], MACHINE, name="llm")
    gain, cost = (row for row in found.table.to_dict("records") if row["minus"])
    assert gain["ci_low"] > 0 > cost["ci_high"]
    for row, sentence in zip((gain, cost), found.sentences()):
        size = f"{row['estimate']:+.3f} [{row['ci_low']:+.3f}, {row['ci_high']:+.3f}]"
        p = f"(p = {row['p']:.3g})" if row["p"] >= 1e-4 else "(p < 0.0001)"
        assert row["p"] == row["p_corrected"] and row["significant"]
        assert sentence.startswith(
            f"{row['measure']}, new - old = {size} {p} by 96 labels of people, of 12 of 30 "
            "queries, and 240 labels of llm: new is better; llm "
        )
        saved = round(row["saved"])
        assert f"labels of {saved} quer" in sentence if saved > 0 else "labels of" in sentence
    same = audit({"a": RUNS["old"], "b": RUNS["old"]}, SAMPLE, "AP", MACHINE).sentences()[0]
    assert same.endswith("and 240 labels of machine: there is no interval.")
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
    assert [line.split()[-1] for line in heads] == ["saved", "p"] * 2
    assert all(len(line) <= 80 for line in heads)


def test_grades_of_a_machine_on_another_scale():
    doubled = {q: {d: 3 * grade for d, grade in docs.items()} for q, docs in MACHINE.items()}
    lenient = {q: {d: grade or 1 for d, grade in docs.items()} for q, docs in doubled.items()}
    usual = audit(RUNS, SAMPLE, "AP(rel=1)", MACHINE).table
    other = audit(RUNS, SAMPLE, "AP(rel=1)", lenient, machine_rel=3).table
    assert other["estimate"].to_numpy() == pytest.approx(usual["estimate"].to_numpy())
    assert other["measure"].tolist() == ["AP(rel=1), machine: rel=3"] * 3
    with pytest.raises(ValueError, match="rel=3 is for measures without a minimum grade"):
        audit(RUNS, SAMPLE, "AP(rel=1)", lenient, machine_rel=3, rel=3)


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
    assert "The 12 queries that people have judged are enough" in str(enough)
    assert enough.pairs == [] and len(plans[0].pairs) == 8 * (len(plans[0].drawn) - 6)
    exactly = dataclasses.replace(enough, queries=12)
    assert "are enough" in exactly.sentences()[0]  # as many as have been judged
    assert "must judge 13" in dataclasses.replace(enough, queries=13).sentences()[0]


def test_people_judge_the_pool_of_the_runs_to_the_deepest_cutoff():
    def top(plan, depth):
        return {
            (qid, doc)
            for qid in plan.drawn
            for run in RUNS.values()
            for doc in sorted(run[qid], key=lambda d: -run[qid][d])[:depth]
        }

    for measures, options, depth in (
        (["P@2", "RR@3"], {}, 3),
        ("P@2", {"depth": 4}, 4),
        (["P@2", "RR"], {}, 8),
    ):
        plan = plan_audit(RUNS, None, measures, MACHINE, queries=9, seed=1, **options)
        assert set(plan.pairs) == top(plan, depth) and len(set(plan.pairs)) == len(plan.pairs)
        row = plan.table.set_index("queries").loc[9]
        assert (row["documents"], row["width"]) == (len(plan.pairs), plan.widths[6])
        shown = f"first {depth} documents" if depth < 8 else "whole rankings"
        assert f"the pool of the runs' {shown} in each query" in plan.sentences()[1]
    # Documents that the machine has not judged are in the pool, others that it judged are not.
    few = {qid: {"d0": label["d0"], "other": 1} for qid, label in MACHINE.items()}
    plan = plan_audit(RUNS, None, "P@2", few, queries=9, seed=1)
    assert set(plan.pairs) == top(plan, 2)
    # An audit of a measure to this depth needs no other label.
    pooled = {q: {d: PEOPLE[q][d] for of, d in plan.pairs if of == q} for q in plan.drawn}
    whole = {q: PEOPLE[q] for q in plan.drawn}
    tables = [audit(RUNS, people, "P@2", MACHINE).table for people in (pooled, whole)]
    pd.testing.assert_frame_equal(*tables)


def test_the_table_of_a_plan_helps_to_choose():
    pilot = {qid: PEOPLE[qid] for qid in JUDGED[:6]}
    plan = plan_audit(RUNS, pilot, "AP@4", MACHINE, seed=3)
    assert plan.drawn[:6] == plan.drawn and plan.pairs == [] and plan.queries is None
    assert "by people's labels of 6 queries so far; nothing is drawn yet." in plan.sentences()[0]
    assert plan.table["queries"].tolist() == [6, 10, 15, 20, 25, 30]
    for n, documents, width in plan.table.itertuples(index=False):
        asked = plan_audit(RUNS, pilot, "AP@4", MACHINE, queries=n, seed=3)
        assert documents == len(asked.pairs) and len(asked.drawn) == n
        assert n == 6 or f"People must judge {n} of 30 queries, by" in asked.sentences()[0]
        assert asked.widths[n - 3] == width
    by_width = plan_audit(RUNS, pilot, "AP@4", MACHINE, plan.table["width"][3], seed=3)
    assert by_width.queries == 20
    with pytest.raises(ValueError, match="nothing is drawn: give a width"):
        plan.save("x.tsv")
    for options, says in (({"queries": 31}, "3 to 30"), ({"queries": 9, "width": 0.3}, "leave")):
        with pytest.raises(ValueError, match=says):
            plan_audit(RUNS, pilot, "AP@4", MACHINE, **options)


def test_a_plan_that_cannot_be(tmp_path):
    plan = plan_audit(RUNS, SAMPLE, "AP", MACHINE, 1e-6)
    assert plan.queries is None and sorted(plan.drawn) == QIDS
    assert "Even all 30 queries are too few" in plan.sentences()[0]
    # Of all queries the machine adds nothing: the interval of people's values by their variance.
    rest = {name: asl.evaluate({name: RUNS[name]}, SAMPLE, "AP")["AP"] for name in RUNS}
    values = {"AP, old": rest["old"], "AP, new": rest["new"]}
    values["AP, new - old"] = rest["new"] - rest["old"]
    widths = {
        what: 2 * scipy.stats.t.isf(0.025, 29) * np.sqrt(own.var(ddof=1) / 30)
        for what, own in values.items()
    }
    widest = max(widths, key=widths.get)
    assert plan.limiting[-1] == widest and plan.widths[-1] == pytest.approx(widths[widest])
    says = f"with all of them the widest is {widths[widest]:.3g}, of {widest}; all"
    assert says in plan.sentences()[0]
    with pytest.raises(ValueError, match="above 0"):
        plan_audit(RUNS, SAMPLE, "AP", MACHINE, 0)


def test_people_who_judged_all_queries_need_no_draw():
    for target in ("queries like these", "these queries"):
        found = audit(RUNS, PEOPLE, "AP", MACHINE, target=target)
        assert np.array_equal(found.table["estimate"], found.table["people"])
        assert found.sentences()[0].endswith("new is better; machine saves no labels.")
        assert "People have judged all of them, so the machine changes no estimate." in found.note


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
    given = [*PLAN, "--width", "0.4", "--seed", "2"]
    result = call(*given, "-o", "audit.tsv")
    assert result.exit_code == 0, result.stderr
    assert "as if the machine were of no use" in result.stdout
    assert "wrote audit.tsv" in result.stderr
    about, *lines = Path("audit.tsv").read_text().splitlines()
    said = json.loads(about.removeprefix("# "))
    rows = [line.split("\t") for line in lines]
    assert rows[0] == ["qid", "docno", "label"] and said["judged"] == []
    assert said["seed"] == 2 and said["queries"] == len({qid for qid, *_ in rows[1:]})
    plan = plan_audit(RUNS, None, "AP@3", MACHINE, 0.4, seed=2)
    assert [tuple(row[:2]) for row in rows[1:]] == plan.pairs
    assert result.stdout.rstrip("\n") == str(plan)
    assert call(*given).stdout == result.stdout  # no draw on the terminal
    filled = ["\t".join([*row[:2], "1"]) for row in rows[1:]]
    Path("filled.tsv").write_text("\n".join([*lines[:1], *filled]))
    assert len(asl.read_labels("filled.tsv")) == len(filled)
    again = call(*given, "-o", "audit.tsv")
    assert again.exit_code == 2 and "queries are drawn once" in again.stderr
    table = call(*PLAN).stdout
    assert "nothing is drawn yet" in table and " queries   documents    width" in table


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (["--judge", "n=people"], "of one machine, not of m and n: give --judge"),
        (["--judge-rel", "1", "--judge-rel", "2"], "--judge-rel once"),
    ],
)
def test_an_audit_is_of_one_machine(files, said, message):
    result = call(
        "audit", "people", "old.run", "new.run", "--judge", "m=machine", "-m", "AP", *said
    )
    assert result.exit_code == 2 and message in result.stderr


def test_counts_are_no_default_measures(files):
    said = ["people", "old.run", "new.run", "--judge", "m=machine", "-o", "jsonl"]
    names = {row["measure"] for row in _calls.rows(call("audit", *said))}
    assert {"AP", "nDCG@10"} < names and "Judged@10" not in names


def test_differences_that_are_shown_are_corrected_together():
    """The p of each is that of Student's t of its interval; Holm over the rows of a measure."""
    runs = {**RUNS, **{f"r{n}": made_up(n)[2]["old"] for n in (5, 6, 7)}}
    for options, family in (({"baseline": "r5"}, 4), ({"all_pairs": True}, 10)):
        found = audit(runs, SAMPLE, ["AP", "P@3"], MACHINE, **options)
        for measure, rows in found.table.groupby("measure"):
            means, rows = rows[rows["minus"] == ""], rows[rows["minus"] != ""]
            assert means["p"].isna().all() and not means["significant"].any()
            freedom = np.where(rows["lambda"] == 0, 11, 10)
            half = (rows["ci_high"] - rows["ci_low"]) / 2
            t = rows["estimate"] / (half / scipy.stats.t.isf(0.025, freedom))
            p = 2 * scipy.stats.t.sf(abs(t), freedom)
            assert rows["p"].tolist() == pytest.approx(p.tolist()) and len(rows) == family
            corrected = multipletests(p, method="holm")[1]
            assert rows["p_corrected"].tolist() == pytest.approx(corrected.tolist())
            assert rows["significant"].tolist() == (corrected <= 0.05).tolist()
            sentences = [text for text in found.answers if text.startswith(f"{measure}, ")]
            for text, significant in zip(sentences, rows["significant"]):
                assert f", corrected for {family} differences) by" in text
                assert ("is better; " in text) is significant
        assert f"p is corrected for the {family} differences of a measure (Holm)" in found.note
    assert "The runs are compared with old, the first" in audit(runs, SAMPLE, "AP", MACHINE).note
    assert "compared with" not in found.note
    latex = found.to_latex()
    assert latex.count(r"\begin{tabular}") == 1
    assert r"\caption{Means over queries like these" in latex
    heads = "measure, mean or difference, estimate, from, to, people, machine, saved, p"
    assert heads.replace(",", " &") in latex


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
    before = chart.read_bytes()
    given = {of: of for of in ("people", "old.run", "new.run", "machine")} | {name: chart.name}
    runs, judge = [given["old.run"], given["new.run"]], f"m={given['machine']}"
    words = [given["people"], *runs, "--judge", judge]
    words += ["--lengths", chart.name] * (name == "lengths")
    result = call("audit", *words, "--chart", chart.name)
    assert result.exit_code == 2 and "it is one of the inputs" in result.stderr
    assert chart.read_bytes() == before and not result.stdout
