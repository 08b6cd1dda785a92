"""``audit`` and ``plan-audit`` (plan_audit.py): judgements of people and of a machine."""

import dataclasses
import json
import re
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


def test_runs_have_the_names_of_columns_that_are_given(files):
    given = ["new.run", "--judge", "m=machine", "-m", "AP", "-o", "tsv"]
    rows = [(q, d, score) for q, of in RUNS["old"].items() for d, score in of.items()]
    pd.DataFrame(rows, columns=["qid", "_id", "score"]).to_csv("old.csv", index=False)
    found = call("audit", "people", "old.csv", *given, "--columns", "docno=_id")
    assert found.stdout == call("audit", "people", "old.run", *given).stdout != ""


def test_a_sentence_per_difference_says_who_is_better_and_what_is_saved():
    found = audit(RUNS, SAMPLE, ["AP", "ASL@5"], MACHINE, name="llm")
    gain, cost = (row for row in found.table.to_dict("records") if row["minus"])
    assert gain["ci_low"] > 0 > cost["ci_high"]
    for row in (gain, cost):
        assert 0 <= row["saved_low"] <= max(row["saved"], 0) <= row["saved_high"]
    assert gain["saved_low"] < cost["saved_high"]
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


def test_grades_of_a_machine_on_another_scale():
    doubled = {q: {d: 3 * grade for d, grade in docs.items()} for q, docs in MACHINE.items()}
    lenient = {q: {d: grade or 1 for d, grade in docs.items()} for q, docs in doubled.items()}
    usual = audit(RUNS, SAMPLE, "AP(rel=1)", MACHINE).table
    other = audit(RUNS, SAMPLE, "AP(rel=1)", lenient, machine_rel=3).table
    assert other["estimate"].to_numpy() == pytest.approx(usual["estimate"].to_numpy())
    assert other["measure"].tolist() == ["AP(rel=1), machine: rel=3"] * 3
    with pytest.raises(ValueError, match="rel=3 is for measures without a minimum grade"):
        audit(RUNS, SAMPLE, "AP(rel=1)", lenient, machine_rel=3, rel=3)


def test_a_plan_keeps_the_pilot_and_goes_on_from_shorter_ones():
    pilot = {qid: PEOPLE[qid] for qid in JUDGED[:6]}
    plans = [plan_audit(RUNS, pilot, "AP", MACHINE, width, seed=3) for width in (0.5, 0.4)]
    assert plans[0].queries < plans[1].queries
    for plan in plans:
        assert set(plan.drawn[:6]) == set(JUDGED[:6]) and len(set(plan.drawn)) == len(plan.drawn)
        assert len(plan.drawn) == max(plan.queries, 6)
    assert plans[1].drawn[: len(plans[0].drawn)] == plans[0].drawn
    enough = plan_audit(RUNS, SAMPLE, "AP", MACHINE, 0.9)
    assert "The 12 queries that people have judged are enough" in str(enough)
    assert enough.pairs == [] and len(plans[0].pairs) == 8 * (len(plans[0].drawn) - 6)
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
        assert (row["documents"], row["width"]) == (len(plan.pairs), plan.widths[1, 6])
        shown = f"first {depth} documents" if depth < 8 else "whole rankings"
        assert f"the pool of the runs' {shown} in each query" in plan.sentences()[1]
    # Documents that the machine has not judged are in the pool, others that it judged are not.
    few = {qid: {"d0": label["d0"], "other": 1} for qid, label in MACHINE.items()}
    plan = plan_audit(RUNS, None, "P@2", few, queries=9, seed=1)
    assert set(plan.pairs) == top(plan, 2)
    # An audit of a measure to this depth needs no other label, one of a deeper measure does.
    pooled = {q: {d: PEOPLE[q][d] for of, d in plan.pairs if of == q} for q in plan.drawn}
    whole = {q: PEOPLE[q] for q in plan.drawn}
    short = {q: dict(sorted(d.items(), key=lambda r: -r[1])[:4]) for q, d in RUNS["new"].items()}
    runs = {"old": RUNS["old"], "new": short}
    by_pool, by_all = (audit(runs, people, "P@2 AP", MACHINE) for people in (pooled, whole))
    at_2 = [own.table[own.table["measure"] == "P@2"] for own in (by_pool, by_all)]
    pd.testing.assert_frame_equal(*at_2)
    assert set(by_all.table["measure"]) == {"P@2", "AP"} and (by_all.table["judged"] == 1).all()
    share = {
        name: np.mean([doc in pooled[q] for q in plan.drawn for doc in run[q]])
        for name, run in runs.items()
    }
    pool = by_pool.table[by_pool.table["measure"] == "AP by a pool"].set_index("run")
    assert share["old"] != share["new"]
    means, difference = pool[pool["minus"] == ""]["judged"], pool[pool["minus"] != ""]["judged"]
    assert means.to_dict() == pytest.approx(share)
    assert difference.item() == pytest.approx(min(share.values()))
    says = (
        "People judged only the first 2 documents of every run. AP looks at more: other documents"
    )
    assert says in by_pool.note and "People judged" not in by_all.note
    ends = " to ".join(sorted(f"{100 * own:.0f}" for own in share.values()))
    assert f"AP by a pool, means (people judged {ends} % of the documents to the cut-off):" in str(
        by_pool
    )


def test_the_table_of_a_plan_helps_to_choose():
    pilot = {qid: PEOPLE[qid] for qid in JUDGED[:6]}
    plan = plan_audit(RUNS, pilot, "AP@4", MACHINE, seed=3)
    assert plan.drawn[:6] == plan.drawn and plan.pairs == [] and plan.queries is None
    assert "by people's labels of 6 queries so far; nothing is drawn yet." in plan.sentences()[0]
    assert plan.table["queries"].tolist() == [6, 10, 15, 20, 25, 30]
    for n, documents, width, upper in plan.table.itertuples(index=False):
        asked = plan_audit(RUNS, pilot, "AP@4", MACHINE, queries=n, seed=3)
        assert documents == len(asked.pairs) and len(asked.drawn) == n
        assert n == 6 or f"People must judge {n} of 30 queries, by" in asked.sentences()[0]
        assert asked.widths[1:, n - 3].tolist() == [width, upper] and width < upper
    # The upper limit decides, not the expected width.
    expected = plan_audit(RUNS, pilot, "AP@4", MACHINE, plan.table["width"][3], seed=3)
    assert (expected.queries or 31) > 20
    by_width = plan_audit(RUNS, pilot, "AP@4", MACHINE, plan.table["upper"][3], seed=3)
    assert by_width.queries == 20
    assert list(plan_audit(RUNS, None, "AP", MACHINE).table) == ["queries", "documents", "width"]


def test_what_a_plan_says_of_too_few_queries():
    """By the limits of the widest interval of all queries."""
    plan = plan_audit(RUNS, SAMPLE, "AP", MACHINE, 1e-6)
    low, expected, high = plan.widths[:, -1]
    assert plan.queries is None and sorted(plan.drawn) == QIDS and 1e-6 < low < expected < high
    by_width = {low: "are", expected: "are probably", high: "may be"}
    for width, says in by_width.items():
        text = plan_audit(RUNS, SAMPLE, "AP", MACHINE, width * 0.999).sentences()[0]
        assert text.startswith(f"All 30 queries {says} too few for intervals of width")
        assert f"to have {expected:.3g} and at most {high:.3g} in about 9 of 10 plans" in text
    alone = plan_audit(RUNS, None, "AP", MACHINE, 1e-6).sentences()[0]
    assert "queries may be too few" in alone and "about 9 of 10" not in alone
    names = {"AP, old", "AP, new", "AP, new - old"}
    assert set(plan.limiting) <= names and f"the widest, of {plan.limiting[-1]}," in text


def test_a_second_round_is_judged_beside_the_first(files):
    """The depth of both rounds is in the files; the runs are judged to greater ranks by chance."""
    assert call(*PLAN, "--queries", "9", "-o", "first.tsv").exit_code == 0
    _fill("first.tsv")
    judge = ["old.run", "new.run", "--judge", "m=machine", "-m", "AP@3"]
    done = call("plan-audit", "first.tsv", *judge, "--queries", "17", "-o", "more.tsv")
    then = "audit first.tsv RUN... --labels more.tsv, with --judge"
    assert done.exit_code == 0 and then in done.stderr
    _fill("more.tsv")
    rounds = [set(asl.read_labels(name)["qid"]) for name in ("first.tsv", "more.tsv")]
    assert [len(own) for own in rounds] == [9, 8] and not rounds[0] & rounds[1]
    assert set(json.loads(Path("more.tsv").read_text().split("\n")[0][2:])["judged"]) == rounds[0]
    in_files = [q for name in ("first.tsv", "more.tsv") for q in asl.read_labels(name)["qid"]]
    both = {q: {d: PEOPLE[q][d] for d in DOCNOS} for q in in_files}  # sums have this order
    found = audit(RUNS, ["first.tsv", "more.tsv"], "AP@3 P@4", MACHINE)
    assert "people's labels of 17 queries" in found.note
    assert set(found.table["measure"]) == {"AP@3", "P@4 by a pool"}
    whole = audit(RUNS, both, "P@3", MACHINE).table["people"]
    by_rounds = audit(RUNS, ["first.tsv", "more.tsv"], "P@3", MACHINE).table["people"]
    assert by_rounds.tolist() == whole.tolist()
    rows = _calls.rows(call("audit", "first.tsv", *judge, "--labels", "more.tsv", "-o", "jsonl"))
    assert [row["people"] for row in rows] == found.table["people"][:3].tolist()
    third = plan_audit(RUNS, ["first.tsv", "more.tsv"], "AP@3", MACHINE, queries=20)
    assert third.judged == 17 and not rounds[0] & {qid for qid, _ in third.pairs}
    merged = call("labels", "first.tsv", "more.tsv")
    assert len(merged.stdout.splitlines()) == sum(len(docs) for docs in _pools(both).values())
    assert "the labels judge 8 queries that the qrels do not judge" in merged.stderr


def _pools(people):
    """The documents of the first three of any run."""
    top = {
        q: {d for run in RUNS.values() for d in sorted(run[q], key=lambda d: -run[q][d])[:3]}
        for q in people
    }
    return {q: {d: people[q][d] for d in of} for q, of in top.items()}


def _fill(name: str) -> None:
    """People judge the documents of a draw."""
    about, head, *lines = Path(name).read_text().splitlines()
    rows = [line.split("\t")[:2] for line in lines]
    filled = [f"{qid}\t{doc}\t{PEOPLE[qid][doc]}" for qid, doc in rows]
    Path(name).write_text("\n".join([about, head, *filled]))


def test_people_who_judged_all_queries_need_no_draw():
    for target in ("queries-like-these", "these-queries"):
        found = audit(RUNS, PEOPLE, "AP", MACHINE, target=target)
        assert np.array_equal(found.table["estimate"], found.table["people"])
        assert found.sentences()[0].endswith("new is better; machine saves no labels.")
        assert "People have judged all of them, so the machine changes no estimate." in found.note


def test_a_plan_without_a_pilot_takes_the_machines_own_scale():
    lenient = {q: {d: 3 * grade or 1 for d, grade in of.items()} for q, of in MACHINE.items()}
    usual = plan_audit(RUNS, None, "AP(rel=1)", MACHINE, 0.4)
    other = plan_audit(RUNS, None, "AP(rel=1)", lenient, 0.4, machine_rel=3)
    assert other.pairs == usual.pairs and np.array_equal(other.widths, usual.widths)


def _relevant(grade: int, qids=QIDS):
    return {qid: dict.fromkeys(DOCNOS, grade) for qid in qids}


#: Function, arguments and options, message.
ERRORS = [
    (audit, ({**SAMPLE, "other": {"d1": 1}}, "AP", MACHINE), {}, "1 queries that the machine has"),
    (audit, (SAMPLE, "AP", MACHINE | _relevant(0, JUDGED)), {}, "in the 12 audited queries: the"),
    (audit, (SAMPLE, "AP", MACHINE), {"machine_rel": 2, "name": "m"}, "'m' finds nothing relevant"),
    (audit, (SAMPLE, "AP", MACHINE), {"baseline": "old", "all_pairs": True}, "is for differences"),
    (plan_audit, (SAMPLE, "AP", MACHINE, 0), {}, "above 0"),
    (plan_audit, (SAMPLE, "AP", MACHINE), {"queries": 31}, "3 to 30"),
    (plan_audit, (SAMPLE, "AP", MACHINE, 0.3), {"queries": 9}, "leave it out"),
    (plan_audit, (_relevant(1, JUDGED[:4]), "AP", MACHINE), {}, "4 queries that people judged"),
    (plan_audit, (None, "AP", _relevant(1)), {}, "30 queries that the machine judged"),
    (plan_audit, (SAMPLE, "AP", _relevant(0)), {}, "finds nothing relevant at rel=1 in the 12"),
]


@pytest.mark.parametrize(("function", "given", "options", "says"), ERRORS)
def test_what_cannot_be(function, given, options, says):
    with pytest.raises(ValueError, match=says):
        function(RUNS, *given, **options)


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
    with pytest.raises(ValueError, match="nothing is drawn: give a width"):
        plan_audit(RUNS, SAMPLE, "AP", MACHINE).save("x.tsv")


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
            sentences = [text for text in found.headlines if text.startswith(f"{measure}, ")]
            for text, significant in zip(sentences, rows["significant"]):
                assert f", corrected for {family} differences) by" in text
                assert ("is better; " in text) is significant
        assert f"p is corrected for the {family} differences of a measure (Holm)" in found.note
        assert re.search(r"^ run .* p \(holm\) $", str(found), re.M)
    assert "The runs are compared with old, the first" in audit(runs, SAMPLE, "AP", MACHINE).note
    assert "compared with" not in found.note
    latex = found.to_latex()
    assert latex.count(r"\begin{tabular}") == 1
    assert r"\caption{Means over queries like these" in latex
    heads = "measure, mean or difference, estimate, from, to, people, machine, saved, p (holm)"
    assert heads.replace(",", " &") in latex


def test_the_chart_shows_the_three_estimates_of_each_mean_and_difference():
    drawn = audit(RUNS, SAMPLE, "AP", MACHINE).chart().to_dict()
    means, differences = (
        {(row["what"], row["by"]) for row in rows} for rows in drawn["datasets"].values()
    )
    said = ("both", "people alone", "machine alone")
    assert means == {(what, by) for what in ("old", "new") for by in said}
    assert differences == {("new - old", by) for by in said}
