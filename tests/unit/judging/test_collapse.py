"""Runs of passages that are evaluated by documents."""

from __future__ import annotations

import inspect

import pytest

import pyterrier_asl as asl
from pyterrier_asl import analysis
from pyterrier_asl.cli import COMMANDS, main
from pyterrier_asl.judging.judged_run import judge, judge_whole
from pyterrier_asl.judging.judgements import Judgements

QRELS = {f"q{n}": {"a": 1, "b#x": 1, "c": 0} for n in range(6)}
PASSAGES = {q: {"c#1": 9, "a#2": 8, "a#10": 7, "b#x#1": 6, "c#2": 5, "d": 1} for q in QRELS}
DOCUMENTS = {q: {"c": 9, "a": 8, "b#x": 6, "d": 1} for q in QRELS}
OTHER = {q: {"a#1": 3, "c#7": 2} for q in QRELS}


def test_ids_are_cut_at_the_last_separator_and_the_best_passage_counts():
    measures = "ASL@10 AP P@2 NumRet AP_Rareness@5"
    found = asl.evaluate({"a": PASSAGES, "b": OTHER}, QRELS, measures, collapse="#")
    whole = {q: {"a": 3, "c": 2} for q in QRELS}
    expected = asl.evaluate({"a": DOCUMENTS, "b": whole}, QRELS, measures)
    assert found.equals(expected) and found["NumRet"].tolist() == 6 * [4] + 6 * [2]
    assert judge(Judgements(QRELS, collapse="::"), DOCUMENTS).ranks.tolist()[:3] == [1, 2, 3]


def test_a_matched_run_is_cut_once():
    first = Judgements.of(QRELS, collapse="#")
    judged = judge_whole(first, PASSAGES)
    again = judge_whole(Judgements.of(first, "best"), judged.table)
    assert judged.ranks.tolist() == again.ranks.tolist() == 6 * [1, 2, 3]
    assert judged.table.docno.to_pylist()[3] == "b#x"
    assert Judgements.of(first) is first and Judgements.of(first, collapse="#") is first
    assert Judgements.of(first, collapse="_").collapse == "_" and first.collapse == "#"


@pytest.mark.parametrize("collapse", ["", 3])
def test_what_is_no_separator_is_refused(collapse):
    with pytest.raises(ValueError, match="collapse must be a separator such as '#', not"):
        asl.evaluate(PASSAGES, QRELS, "AP", collapse=collapse)


def test_whatever_takes_duplicates_takes_collapse():
    functions = [getattr(module, name) for module in (asl, analysis) for name in module.__all__]
    for function in filter(inspect.isroutine, functions):
        names = inspect.signature(function).parameters
        assert ("duplicates" in names) == ("collapse" in names), function
    for name in COMMANDS:
        options = {option.name for option in main.get_command(None, name).params}
        assert ("duplicates" in options) == ("collapse" in options), name


def test_the_option_reaches_the_runs_of_commands(tmp_path, capsys):
    for name, table in (("run", PASSAGES), ("other", OTHER)):
        lines = [f"{q} Q0 {d} 1 {s} x\n" for q in table for d, s in table[q].items()]
        (tmp_path / name).write_text("".join(lines))
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q in QRELS for d, g in QRELS[q].items()))
    files = [str(qrels), str(tmp_path / "run"), "-m", "AP", "-o", "tsv", "--collapse", "#"]
    main(["evaluate", *files], standalone_mode=False)
    assert capsys.readouterr().out == "AP\t0.5833\n"  # (1/2 + 2/3) / 2
    main(["compare", files[0], str(tmp_path / "other"), *files[1:]], standalone_mode=False)
    assert "0.5833" in capsys.readouterr().out
