"""Evaluation of run files, and the errors for files that cannot be evaluated.
Tests of evaluate.py."""

import pytest
from click.testing import CliRunner

from pyterrier_asl.cli import main
from pyterrier_asl.evaluation.evaluate import measured


@pytest.fixture
def folder(tmp_path):
    """Qrels, and a folder of three runs; one has a score that is not a number."""
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, score in {"a": "1.0", "b": "nan", "c": "2.0"}.items():
        (runs / name).write_text(f"q Q0 d 1 {score} tag\n")
    return tmp_path


def measured_files(folder, measures, *runs):
    runs = runs or [folder / "runs"]
    return measured(list(runs), folder / "qrels", measures, keep_going=True)[""]


def test_a_run_that_cannot_be_measured_is_named(folder):
    found = measured_files(folder, "AP P_Rareness@1")
    assert found.frame()["name"].tolist() == ["a", "c"]
    assert list(found.failures) == ["b"] and str(folder / "runs" / "b") in found.failures["b"]


def test_the_pool_is_of_the_runs_that_can_be_measured(folder):
    alone = measured_files(folder, "P_Rareness@1", folder / "runs" / "a", folder / "runs" / "c")
    found = measured_files(folder, "P_Rareness@1")
    assert found.frame().equals(alone.frame())


@pytest.mark.parametrize(
    ("more", "told"),
    [("", ""), ("d", r" \(nor can 1 further run be used\)")]
    + [("de", r" \(nor can 2 further runs be used\)")],
)
def test_no_run_at_all_is_an_error(folder, more, told):
    runs = [folder / "runs" / name for name in f"b{more}"]
    for run in runs:
        run.write_text("q Q0 d 1 nan tag\n")
    with pytest.raises(ValueError, match=rf"runs.b, line 1: .*not a number[^()]*{told}$"):
        measured_files(folder, "AP", *runs)


def test_queries_without_an_answer_are_counted_and_said(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 1\nq3 0 c 1\n")
    (tmp_path / "whole.run").write_text("q1 Q0 a 0 1 t\nq2 Q0 b 0 1 t\nq3 Q0 x 0 1 t\n")
    (tmp_path / "part.run").write_text("q1 Q0 a 0 1 t\n")
    runs = [tmp_path / "whole.run", tmp_path / "part.run"]
    done = measured_files(tmp_path, "AP", *runs)
    said = "part does not answer 2 of 3 queries (e.g. 'q2'); each counts with the worst value"
    assert done.notes[0] == said and done.notes[1].startswith("the qrels list relevant")
    assert list(done.frame()) == ["name", "qid", "AP"]
    result = CliRunner().invoke(main, ["evaluate", str(tmp_path / "qrels"), *map(str, runs)])
    assert result.exit_code == 0 and f"Note: {said}" in result.stderr


def test_a_wrong_run_is_named(folder):
    with pytest.raises(ValueError, match="run 'b': .*line 1: the score 'nan' is not a number"):
        measured([folder / "runs" / "b"], folder / "qrels", "AP")
    with pytest.raises(FileNotFoundError, match="no file .*nothing"):
        measured([folder / "runs" / "a"], folder / "nothing", "AP")
