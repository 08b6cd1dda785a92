"""Fractional grades: a threshold in every measure with ``rel`` that is computed here."""

import pytest
import small
from click.testing import CliRunner

import pyterrier_asl as asl
from pyterrier_asl.cli import main
from pyterrier_asl.measures.parsing import parse_measure, parse_measures

RUN = small.frame(small.RUN)
QRELS = small.frame(small.QRELS, "label")
QRELS["label"] = QRELS["label"] * 0.55 + QRELS.index % 5 / 10
MEASURES = "AP AP@5 P@3 R@4 RR RR@2 Success@1 RBP SetR ASL ASL(g=2)@5 nASL@5 LexiP".split()
MEASURES += ["AP_Rareness", "P_Rareness@5"]


@pytest.mark.parametrize("rel", [0.25, 0.8, 1.5])
def test_a_threshold_is_that_of_binary_grades(rel):
    binary = QRELS.assign(label=(QRELS["label"] >= rel).astype(int))
    names = [named.with_params(rel=rel).name for named in parse_measures(MEASURES)]
    expected = asl.evaluate(
        {"r": RUN}, binary, [f"{m}" for m in MEASURES[:7] + MEASURES[8:]] + ["RBP(rel=1)"]
    )
    for given in (names, [parse_measure(name) for name in names]):
        found = asl.evaluate({"r": RUN}, QRELS, given).set_index("qid")
        assert found.columns.tolist() == ["name", *names]
        for name, measure in zip(names, MEASURES):
            column = "RBP(rel=1)" if measure == "RBP" else measure
            other = expected.set_index("qid")[column].reindex(found.index)
            assert found[name].to_numpy() == pytest.approx(other.to_numpy(), abs=1e-12), name


def test_other_providers_are_refused_by_name_and_nothing_relevant_is_said():
    with pytest.raises(ValueError, match="infAP.*rel must be a whole number.*not 0.5"):
        asl.evaluate({"r": RUN}, QRELS, ["AP", "infAP(rel=0.5)"])
    low = QRELS.assign(label=QRELS["label"] / 4)
    with pytest.warns(
        UserWarning, match="no judged document has a grade of 1 or more .* by AP: give"
    ):
        assert asl.evaluate({"r": RUN}, low, ["AP", "nDCG@10"])["AP"].sum() == 0
    asl.evaluate({"r": RUN}, low, ["AP(rel=0.25)"])  # and no warning


def test_thresholds_in_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exam = QRELS.assign(label=QRELS["label"] * 2)
    for name, frame in (("qrels", QRELS), ("exam", exam)):
        lines = (f"{q} 0 {d} {g}\n" for q, d, g in frame.itertuples(index=False))
        (tmp_path / name).write_text("".join(lines))
    for name, seed in (("a", 1), ("b", 2)):
        shuffled = RUN.sample(frac=1, random_state=seed).reset_index(drop=True)
        lines = (f"{q} Q0 {d} {i} {-i} x\n" for i, q, d, _ in shuffled.itertuples())
        (tmp_path / name).write_text("".join(lines))
    for command in ("evaluate", "compare", "holes", "judges"):
        more = ["--judge", "exam=exam", "--judge-rel", "exam=1.5", "--show", "agreement"]
        more = [*(more if command == "judges" else []), "-o", "jsonl"]
        done = CliRunner().invoke(main, [command, *"qrels a b -m AP@5 --rel .75".split(), *more])
        assert done.exit_code == 0 and "AP(rel=0.75)@5" in done.stdout, done.output
    alike = asl.judges("qrels", {"exam": "exam"}, rel=0.75, judge_rel={"exam": 1.5}).agreement
    assert "kappa" in set(alike["agreement"]) and set(alike["value"]) == {1}
    other = asl.judges("qrels", {"exam": "exam"}, rel=0.75).agreement
    assert set(other["value"]) != {1}
