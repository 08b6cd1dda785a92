"""Audited estimates, their printed explanations, and the draw of the plan."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from pyterrier_asl import audit, plan_audit
from pyterrier_asl.assessment.audit import explain_estimates
from pyterrier_asl.cli import main

QIDS = [f"q{number:02}" for number in range(20)]
#: The relevant one of two documents, by people (12 queries) and by the machine (20).
PEOPLE = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0]
MACHINE = [1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1]
#: AP of ``new`` minus AP of ``old`` is 1/2 if ``r`` is relevant, and -1/2 otherwise.
RUNS = {
    "old": {qid: {"n": 2, "r": 1} for qid in QIDS},
    "new": {qid: {"r": 2, "n": 1} for qid in QIDS},
}


def qrels(labels: list[int]) -> dict[str, dict[str, int]]:
    return {qid: {"r": label, "n": 1 - label} for qid, label in zip(QIDS, labels)}


def test_an_estimate_of_another_sign_than_people_and_machine_is_explained():
    frame = audit(RUNS, qrels(PEOPLE), "AP", qrels(MACHINE))
    row = frame.table[frame.table["minus"] == "old"].iloc[0]
    # People: 7 of 12 halves up, 5 down. The machine: 8 up, 4 down there; 3 up, 5 down elsewhere.
    assert row["people"] == pytest.approx((7 - 5) / 24)
    assert row["machine"] == pytest.approx((11 - 9) / 40)
    correction = row["lambda"] * ((3 - 5) / 16 - (8 - 4) / 24)
    assert row["estimate"] == pytest.approx(row["people"] + correction) and row["estimate"] < 0
    (sentence,) = [text for text in frame.explanations if "another sign" in text]
    for part in (
        "AP, new - old: the estimate, -0.0117, has another sign",
        "people alone, +0.0833, and the machine alone, +0.0500",
        "value is +0.1667 on the 12 queries that people judged and -0.1250 on the other 8",
        f"with lambda 0.33, by {correction:+.4f}.",
    ):
        assert part in sentence


@pytest.mark.parametrize(
    ("new", "machine"),
    [
        ("new", PEOPLE + [1, 0, 1, 0, 1, 0, 1, 0]),
        ("new", PEOPLE),
        pytest.param("old", MACHINE, id="equal runs, without a sign"),
    ],
)
def test_estimates_of_the_usual_sign_are_not_explained(new, machine):
    runs = {"old": RUNS["old"], "new": RUNS[new]}
    frame = audit(runs, qrels(PEOPLE), "AP", qrels(machine))
    assert not [text for text in frame.explanations if "another sign" in text]


def rows_with(saved: list[float]) -> pd.DataFrame:
    """Estimates of positive runs that save these numbers of queries."""
    columns = ("estimate", "ci_low", "people", "machine", "lambda")
    names = [f"run{number}" for number in range(len(saved))]
    same = dict.fromkeys(columns, 0.5)
    return pd.DataFrame({"measure": "AP", "run": names, "minus": "", **same, "saved": saved})


@pytest.mark.parametrize(
    ("saved", "says"),
    [
        ([0.0, 2.0], None),
        ([-1e-12, 2.0], None),
        ([-1.25, 2.0], "AP: -1.2 queries saved (in 1 of 2 rows: run0)"),
        ([-1.25, -0.3], "AP: -1.2 to -0.3 queries saved (in 2 of 2 rows: run0 and run1)"),
        ([-1.0] * 6, "(in 6 of 6 rows: run0, run1, run2, run3 and 2 more)"),
    ],
)
def test_negative_queries_saved_are_explained(saved, says):
    h = np.tile([0.0, 1.0, 0.0, 1.0], (len(saved), 1))
    f = np.tile([0.0, 1.0, 1.0, 0.0], (len(saved), 1))
    sentences = explain_estimates(rows_with(saved), h, f, f)
    if says is None:
        assert sentences == []
    else:
        assert says in sentences[0] and "correlate with people's by 0.00." in sentences[0]
        assert "the 4 queries that people judged" in sentences[0]


def test_of_queries_like_these_the_spread_on_the_audited_queries_decides():
    """The machine's values vary among the audited queries, and are equal on all others."""
    people, machine = [1, 0, 1, 0, 1, 1, 0, 1, 0, 0], [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]
    qids = [f"r{number}" for number in range(200)]
    runs = {
        "old": {qid: {"n": 2, "r": 1} for qid in qids},
        "new": {qid: {"r": 2, "n": 1} for qid in qids},
    }
    labels = [*machine, *[1] * 190]

    def judged(labels):
        return {qid: {"r": label, "n": 1 - label} for qid, label in zip(qids, labels)}

    frame = audit(runs, judged(people), "AP", judged(labels))
    assert (frame.table["saved"] < 0).all()
    (sentence,) = frame.explanations
    variances = np.var(machine, ddof=1) / np.var(labels, ddof=1)
    assert f"machine's values vary {variances:.1f} times as much as on all" in sentence
    assert variances > 2


def test_a_bad_machine_costs_queries_and_the_result_says_so():
    draw = np.random.default_rng(5)
    frame = None
    for _ in range(60):
        people, machine = draw.integers(0, 2, 12).tolist(), draw.integers(0, 2, 20).tolist()
        frame = audit(RUNS, qrels(people), "AP", qrels(machine), target="these queries")
        if (frame.table["saved"] < -0.1).any():
            break
    assert frame is not None and any("queries saved" in t for t in frame.explanations)


def one_value(people: list[int], n: int = 12) -> list[int]:
    return [*people, *[1] * (n - len(people))]


@pytest.mark.parametrize("target", ["queries like these", "these queries"])
def test_equal_values_have_no_interval(target):
    """People find ``r`` relevant in all 12 queries: AP is 1/2 in all for old, 1 for new."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no other sentence is about them
        found = audit(RUNS, qrels(one_value([])), "AP", qrels(MACHINE), target=target)
    unknown = ["ci_low", "ci_high", "people_low", "people_high", "saved"]
    assert found.table[unknown].isna().all(axis=None)
    assert found.table["people"].tolist() == [0.5, 1, 0.5]
    assert found.table["estimate"].notna().all()
    text = "all 12 audited queries have the value 0.5, so there is no interval"
    assert f"AP, old and new - old: {text}: nothing can be said about the other 8." in (
        found.sentences()
    )
    assert any("AP, new: all 12 audited queries have the value 1," in t for t in found.sentences())
    assert "no interval" in str(found).replace("\n  ", " ")
    whole = audit(RUNS, qrels(one_value([])), "AP", qrels(one_value([]))).sentences()[-1]
    assert whole.endswith("nothing can be said about other queries.")
    one = audit({"new": RUNS["new"]}, qrels(one_value([])), "AP", qrels(MACHINE), target=target)
    assert any("AP, new: all 12 audited queries have the value 1," in t for t in one.sentences())


@pytest.mark.parametrize(("different", "warned"), [(1, True), (4, True), (5, False)])
def test_few_different_values_are_warned_of(different, warned):
    people = qrels(one_value([0] * different))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = audit(RUNS, people, "AP", qrels(MACHINE))
    said = [str(warning.message) for warning in caught]
    assert found.table["ci_low"].notna().all()
    assert any("fewer than 5 of people's values" in text for text in said) is warned


def test_the_interval_of_queries_that_people_judged_all_has_no_width():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        people = qrels(one_value([], 20))
        row = audit(RUNS, people, "AP", qrels(MACHINE), target="these queries").table.iloc[0]
    assert row["ci_low"] == row["ci_high"] == row["people"] == 0.5 and np.isnan(row["saved"])


def test_an_estimate_that_differs_from_the_difference_of_the_means_is_explained():
    """The three rows have three lambdas, because the variance of the third run differs."""
    draw = np.random.default_rng(2)
    runs = {name: {q: {"r": draw.random(), "n": draw.random()} for q in QIDS} for name in "ab"}
    found = audit(runs, qrels(PEOPLE), "AP", qrels(MACHINE))
    a, b, difference = found.table["estimate"]
    assert abs(b - a - difference) > 1e-4
    assert "Each row has another lambda" in found.note


def test_print_shows_what_the_command_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, labels in (("people", PEOPLE), ("machine", MACHINE)):
        lines = (f"{q} 0 {d} {g}\n" for q, docs in qrels(labels).items() for d, g in docs.items())
        (tmp_path / name).write_text("".join(lines))
    for name, run in RUNS.items():
        lines = (f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items())
        (tmp_path / f"{name}.run").write_text("".join(lines))
    arguments = ["people", "old.run", "new.run", "--judge", "m=machine", "-m", "AP"]
    command = CliRunner().invoke(main, ["audit", *arguments])
    assert command.exit_code == 0, command.stderr
    frame = audit(RUNS, qrels(PEOPLE), "AP", qrels(MACHINE), name="m")
    assert str(frame) == repr(frame) == command.stdout.rstrip("\n")
    assert "another sign" in command.stdout.replace("\n  ", " ")
    page = frame._repr_html_()
    assert "<p>AP, less old:</p>" in page and "another sign" in page
    assert len(frame.table) == 3 and frame.to_latex().count(r"\begin{tabular}") == 2


def test_of_several_that_save_a_draw_at_a_time_one_does(tmp_path):
    plans = [plan_audit(RUNS, None, "AP", qrels(MACHINE), 0.5, seed=seed) for seed in range(8)]
    for attempt in range(5):
        path, start = tmp_path / f"audit{attempt}.tsv", threading.Barrier(len(plans))

        def save(plan, path=path, start=start):
            start.wait()
            try:
                plan.save(path)
            except FileExistsError as error:
                return "queries are drawn once" in str(error)
            return plan.seed

        with ThreadPoolExecutor(len(plans)) as threads:
            outcomes = list(threads.map(save, plans))
        seeds = [outcome for outcome in outcomes if outcome is not True]
        assert len(seeds) == 1 and f'"seed": {seeds[0]},' in path.read_text()
        assert [file.name for file in tmp_path.glob(".*")] == []
