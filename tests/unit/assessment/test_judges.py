"""Verdicts on judges: the numbers against scikit-like references, and judges of known agreement."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from click.testing import CliRunner
from statsmodels.stats.inter_rater import cohens_kappa

import pyterrier_asl as asl
from pyterrier_asl.assessment.human_range import BELOW, UNDECIDED, UNKNOWN, WITHIN
from pyterrier_asl.assessment.judge_report import judges_chart
from pyterrier_asl.cli import main

DOCNOS = [f"d{number}" for number in range(30)]


def truth(queries: int, seed: int = 1) -> np.ndarray:
    """What is relevant, one row a query."""
    return np.random.default_rng(seed).random((queries, len(DOCNOS))) < 0.4


def judged(labels: np.ndarray, mistakes: float, seed: int) -> dict[str, dict[str, int]]:
    """The judgements of someone who gets a share of the documents wrong, at random."""
    wrong = np.random.default_rng(seed).random(labels.shape) < mistakes
    return {
        f"q{number}": dict(zip(DOCNOS, map(int, row))) for number, row in enumerate(labels ^ wrong)
    }


def runs(labels: np.ndarray, systems: int = 10, step: float = 0.25) -> dict[str, dict]:
    """Systems of different skill."""
    draw = np.random.default_rng(99)
    return {
        f"s{number}": {
            f"q{q}": dict(zip(DOCNOS, (number * step * row + draw.normal(size=len(row))).tolist()))
            for q, row in enumerate(labels)
        }
        for number in range(systems)
    }


def verdicts(report) -> dict[tuple[str, str], str]:
    rows = report.agreement.to_dict("records")
    return {(row["judge"], row["agreement"]): row["verdict"] for row in rows}


def test_values_are_those_of_the_definitions():
    labels = truth(12)
    people, model = judged(labels, 0.1, 2), judged(labels, 0.3, 3)
    systems = runs(labels)
    report = asl.judges(people, {"model": model}, systems, "P@5", n_resamples=50)
    value = report.agreement.set_index("agreement")["value"]
    a, b = (
        np.array([grade for docs in qrels.values() for grade in docs.values()])
        for qrels in (people, model)
    )
    table = pd.crosstab(a, b).to_numpy()
    assert value["kappa"] == pytest.approx(cohens_kappa(table).kappa)
    assert value["agreement"] == pytest.approx(np.mean(a == b))
    means = [
        asl.evaluate(systems, qrels, ["P@5"]).groupby("name", sort=False)["P@5"].mean()
        for qrels in (people, model)
    ]
    tau = scipy.stats.kendalltau(*(mean.round(9) for mean in means)).statistic
    assert value["tau"] == pytest.approx(tau)
    assert report.matrix("model").to_numpy().tolist() == table.tolist()
    lenient = report.leniency.set_index("grade")["relevant"]
    assert lenient[1] == pytest.approx(b[a == 1].mean())
    gains = report.gains.set_index("run")["own_gain"]
    expected = means[1] - means[0] - (means[1] - means[0]).mean()
    pd.testing.assert_series_equal(gains.sort_index(), expected, check_names=False)


def test_intervals_are_centred_and_repeat():
    labels = truth(15)
    given = judged(labels, 0.1, 2), {"model": judged(labels, 0.2, 3)}
    first, again = (asl.judges(*given, n_resamples=80).agreement for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    middle = (first["ci_low"] + first["ci_high"]) / 2
    np.testing.assert_allclose(middle, first["value"])
    other = asl.judges(*given, n_resamples=80, seed=1).agreement
    assert not np.array_equal(first["ci_low"], other["ci_low"])


def test_intervals_are_narrower_with_more_queries():
    width = {}
    for queries in (10, 160):
        labels = truth(queries)
        report = asl.judges(
            judged(labels, 0.1, 2), {"model": judged(labels, 0.1, 3)}, n_resamples=200
        )
        kappa = report.agreement.set_index("agreement").loc["kappa"]
        width[queries] = kappa["ci_high"] - kappa["ci_low"]
    assert width[160] == pytest.approx(width[10] / 4, rel=0.5)


@pytest.mark.parametrize(
    ("queries", "mistakes", "verdict"),
    [(150, 0.1, WITHIN), (150, 0.3, BELOW), (10, 0.15, UNDECIDED), (150, 0.02, WITHIN)],
)
def test_judges_of_known_agreement_beside_two_people(queries, mistakes, verdict):
    labels = truth(queries)
    second, model = judged(labels, 0.1, 3), judged(labels, mistakes, 4)
    report = asl.judges(
        judged(labels, 0.1, 2),
        {"second": second, "model": model},
        people=["second"],
        n_resamples=300,
    )
    assert verdicts(report)["model", "kappa"] == verdict
    assert verdicts(report)["second", "kappa"] == UNKNOWN  # a person has no other two to be beside
    row = report.agreement.set_index(["judge", "agreement"]).loc[("model", "kappa")]
    human = report.agreement.set_index(["judge", "agreement"]).loc[("second", "kappa"), "value"]
    assert row["human_low"] == row["human_high"] == pytest.approx(human)
    sentence = report.sentences()[1]
    says = {
        WITHIN: "within the human",
        BELOW: "below the human",
        UNDECIDED: "cannot be said with 10 queries",
    }
    assert says[verdict] in sentence
    assert f"{row['value']:.3f}" in sentence and f"{row['less_low']:+.3f}" in sentence


def test_how_much_less_a_judge_agrees_than_people_do():
    labels = truth(8)
    qrels = {
        name: judged(labels, wrong, seed)
        for seed, (name, wrong) in enumerate([("a", 0.1), ("b", 0.2), ("c", 0.1), ("m", 0.2)])
    }
    rest = {name: of for name, of in qrels.items() if name != "a"}
    report = asl.judges(qrels["a"], rest, people=["b", "c"], reference="a", n_resamples=20)

    def agreed(x: str, y: str) -> float:
        pairs = [(qrels[x][q][d], qrels[y][q][d]) for q in qrels[x] for d in DOCNOS]
        return float(np.mean([one == other for one, other in pairs]))

    beside = np.mean(
        [agreed("m", r) - np.mean([agreed(h, r) for h in "abc" if h != r]) for r in "abc"]
    )
    row = report.agreement.set_index(["judge", "agreement"]).loc[("m", "agreement")]
    assert row["less_human"] == pytest.approx(beside)


def test_a_judge_can_rank_systems_as_people_do_or_not():
    labels = truth(40)
    people = judged(labels, 0.1, 2), judged(labels, 0.1, 3)
    good, bad = judged(labels, 0.1, 4), judged(~labels, 0.3, 5)
    report = asl.judges(
        people[0],
        {"second": people[1], "good": good, "bad": bad},
        runs(labels, 5, 0.6),
        "AP",
        people=["second"],
        n_resamples=100,
    )
    found = verdicts(report)
    assert found["good", "tau"] == WITHIN and found["bad", "tau"] == BELOW
    reversed_ = report.reversals.set_index("judge")
    assert reversed_.loc["bad", "reversed_both"] > 0 == reversed_.loc["good", "reversed_both"]
    pairs = reversed_.loc["bad", "which"].split("; ")
    assert len(pairs) == reversed_.loc["bad", "reversed_both"]
    assert reversed_.loc["good", "which"] == ""
    assert "s4 over s0" in pairs  # s4 is the best


def test_groups_gain_what_their_runs_do():
    labels = truth(10)
    systems = runs(labels, 4)
    groups = {"s0": "x", "s1": "x", "s2": "y", "s3": "y"}
    report = asl.judges(
        judged(labels, 0.1, 2),
        {"model": judged(labels, 0.3, 3)},
        systems,
        "P@5",
        groups=groups,
        n_resamples=10,
    )
    own = report.gains.set_index("run")["own_gain"]
    of_groups = report.group_gains.set_index("group")["own_gain"]
    assert of_groups["x"] == pytest.approx((own["s0"] + own["s1"]) / 2)


def test_judges_as_systems_beside_the_best_run():
    labels = truth(10)
    perfect = {"best": {f"q{q}": dict(zip(DOCNOS, row * 1.0)) for q, row in enumerate(labels)}}
    people, second = judged(labels, 0, 2), judged(labels, 0.3, 3)
    report = asl.judges(people, {"second": second}, perfect, people=["second"], n_resamples=10)
    said = report.ceilings()
    assert "Judged by reference, the best run is best (MAP 1.000), beyond the range" in said[0]
    alone = asl.judges(people, {"model": second}, perfect, n_resamples=10)
    assert "no person but the judge: range unknown" in alone.ceilings()[0]


def test_one_person_leaves_the_range_unknown():
    labels = truth(5)
    report = asl.judges(judged(labels, 0.1, 2), {"model": judged(labels, 0.1, 3)}, n_resamples=10)
    assert verdicts(report)["model", "kappa"] == UNKNOWN
    assert "no second human judge: range unknown" in report.sentences()[0]
    assert report.gains is None and report.ceilings() == []
    judges_chart(report).to_dict()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"people": ["nobody"]}, "people names 'nobody'"),
        ({"judge_rel": {"model": 3}}, "'model' finds nothing relevant at rel=3"),
        ({"reference": "model"}, "both called 'model'"),
    ],
)
def test_what_cannot_be(options, says):
    labels = truth(3)
    with pytest.raises(ValueError, match=says):
        asl.judges(judged(labels, 0, 2), {"model": judged(labels, 0, 3)}, **options)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = truth(10)
    for name, seed in (("nist", 2), ("model", 3)):
        lines = (
            f"{q} 0 {d} {grade}\n"
            for q, docs in judged(labels, 0.1, seed).items()
            for d, grade in docs.items()
        )
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    for name, run in runs(labels, 3).items():
        lines = (f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items())
        (tmp_path / f"{name}.run").write_text("".join(lines))

    def call(*arguments: str):
        return CliRunner().invoke(main, ["judges", "nist.txt", *arguments])

    table = call("s0.run", "s1.run", "s2.run", "--judge", "model=model.txt", "-m", "P@5")
    assert table.exit_code == 0, table.stderr
    assert "model, documents: kappa" in table.stdout and "with nist.txt" in table.stdout
    rows = call("--judge", "model=model.txt", "--show", "agreement", "-o", "jsonl")
    kappa = json.loads(rows.stdout.splitlines()[1])
    assert kappa["agreement"] == "kappa" and kappa["reference"] == "nist.txt"
    for given, says in (
        (("--judge", "model"), "'model' is not NAME=QRELS"),
        (("--judge", "model=model.txt", "--judge-rel", "model=x"), "'model=x' is no grade"),
        (("--judge", "model=model.txt", "-o", "jsonl"), "say which by --show"),
        (("--judge", "model=model.txt", "--show", "gains"), "--show gains needs runs"),
    ):
        wrong = call(*given)
        assert wrong.exit_code == 2 and says in wrong.stderr


def test_the_command_overwrites_nothing_that_it_reads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    given = ["judges", "nist.svg", "runs", "--judge", "model=model.svg", "--groups", "groups.svg"]
    for name in ("nist.svg", "model.svg", "groups.svg", "runs/a.svg"):
        (tmp_path / name).write_text("<q> 0 d 1\n")
    for name in ("nist.svg", "model.svg", "groups.svg", "runs/a.svg"):
        wrong = CliRunner().invoke(main, [*given, "--chart", name])
        assert wrong.exit_code == 2 and "it is one of the inputs" in wrong.stderr
        assert (tmp_path / name).read_text() == "<q> 0 d 1\n"
