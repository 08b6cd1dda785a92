"""A document that stands twice in a ranking: refused, unless it shall count at its best rank."""

import warnings

import ir_measures
import pandas as pd
import pytest
from click.testing import CliRunner
from ir_measures import AP, RR, nDCG

from pyterrier_asl import ASL, compare, evaluate, preferences, search_lengths
from pyterrier_asl.cli import compare as compare_command
from pyterrier_asl.cli import evaluate as evaluate_command
from pyterrier_asl.evaluation.judged_runs import JudgedRuns
from pyterrier_asl.evaluation.standard import accelerate

QRELS = {"q": {"a": 1}, "r": {"a": 1}}
#: Of query q document a stands first and last.
TWICE = pd.DataFrame(
    [("q", "a", 9.0), ("q", "b", 8.0), ("q", "c", 7.0), ("q", "a", 1.0), ("r", "a", 1.0)],
    columns=["qid", "docno", "score"],
)
SAYS = "document 'a' stands 2 times in the ranking of query 'q'.*duplicates='best'"


@pytest.mark.parametrize("ask", [
    lambda **o: evaluate({"x": TWICE, "y": TWICE}, QRELS, [AP], **o),
    lambda **o: JudgedRuns.of({"x": TWICE, "y": TWICE}, QRELS, **o).evaluation([AP]),
    lambda **o: compare({"x": TWICE, "y": TWICE}, QRELS, [AP], **o).by_query.rename(
        columns={"a": "AP"}
    ).query("measure == 'AP'"),
])  # fmt: skip
def test_it_is_refused_unless_it_may_stand_twice(ask):
    with pytest.raises(ValueError, match=f"run 'x': {SAYS}"):
        ask()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ask(duplicates="best")["AP"].tolist()[:2] == [1.0, 1.0]
    with pytest.raises(ValueError, match="'error' or 'best', not 'last'"):
        ask(duplicates="last")


def test_commands(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\nr 0 a 1\n")
    for name in ("x", "y"):
        rows = [f"{r.qid} Q0 {r.docno} 0 {r.score} t\n" for r in TWICE.itertuples()]
        (tmp_path / name).write_text("".join(rows))
    files = [str(tmp_path / name) for name in ("qrels", "x", "y")]
    for command in (evaluate_command.command, compare_command.command):
        refused = CliRunner().invoke(command, ["-m", "AP", *files])
        assert refused.exit_code != 0
        assert "document 'a' stands 2 times" in refused.output + str(refused.exception)
        done = CliRunner().invoke(command, ["-m", "AP", "--duplicates", "best", *files])
        assert done.exit_code == 0 and "1.0000" in done.output


@pytest.mark.parametrize("measure", [AP, RR, nDCG])
def test_acceleration_changes_no_standard_measure(measure):
    run = TWICE.set_axis(["query_id", "doc_id", "score"], axis=1)
    plain = ir_measures.calc_aggregate([measure], QRELS, run)
    accelerate()
    try:
        with pytest.warns(UserWarning, match="more than once.*best rank.*last row"):
            quick = ir_measures.calc_aggregate([measure, ASL @ 10], QRELS, run)
    finally:
        accelerate(False)
    assert quick[measure] == pytest.approx(plain[measure]) and plain[measure] < 1
    assert quick[ASL @ 10] == 1.0


def test_functions_of_one_or_two_runs():
    for ask in (
        lambda **o: search_lengths(TWICE, QRELS, **o)["rank"].tolist(),
        lambda **o: preferences(TWICE, TWICE, QRELS, **o)["i_star"].add(1).tolist(),
    ):
        with pytest.raises(ValueError, match=SAYS):
            ask()
        assert ask(duplicates="best") == [1, 1]


def test_they_take_files(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 b 0 2 t\nq Q0 a 0 1 t\n")
    run, qrels = tmp_path / "run", str(tmp_path / "qrels")
    assert search_lengths(run, qrels)["search_length"].tolist() == [2]
    assert preferences(run, str(run), qrels)["i_star"].tolist() == [0]
