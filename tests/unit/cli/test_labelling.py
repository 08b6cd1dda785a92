"""Labelling at a terminal, with keys from a list."""

from __future__ import annotations

import pytest

from pyterrier_asl import holes, read_labels
from pyterrier_asl.cli.labelling import grade_keys, label_at_terminal
from pyterrier_asl.io.texts import Texts
from pyterrier_asl.unjudged.loop import Round

QRELS = {"q": {"a": 1, "n": 0}, "p": {"b": 1}}
A = {"q": {"a": 5, "x": 4, "y": 3}, "p": {"u": 5, "b": 4}}
B = {"q": {"z": 5, "x": 4, "a": 3}, "p": {"v": 5, "w": 4, "b": 3}}


@pytest.fixture
def label(tmp_path, capsys):
    """Answers with these keys; returns the ending, the labels in order, and the output."""

    def answer(keys, **options):
        path = tmp_path / "labels.jsonl"
        round_ = Round(holes(A, B, QRELS, "P@1"), path)
        pressed = iter(keys)
        ended = label_at_terminal(round_, read_key=lambda: next(pressed, ""), **options)
        left = list(pressed)
        labels = read_labels(path) if path.exists() else None
        found = [] if labels is None else list(zip(labels["docno"], labels["label"]))
        return ended, found, left, capsys.readouterr().err

    return answer


def test_a_key_for_each_grade(label):
    ended, found, left, shown = label("00q")
    assert ended == "settled" and found == [("v", 0.0), ("z", 0.0)] and not left
    verdicts = [line for line in shown.splitlines() if line.startswith("P@1: A - B")]
    assert [line.rpartition(": ")[2].partition(";")[0] for line in verdicts] == [
        "open",
        "open",
        "settled for A",
    ]


def test_other_keys_are_not_answers(label):
    ended, found, _, _ = label("7x\x1b00q")
    assert ended == "settled" and [grade for _, grade in found] == [0.0, 0.0]


@pytest.mark.parametrize("end", ["q", "\x04", ""])
def test_the_end_keeps_what_was_answered(label, end):
    ended, found, _, _ = label(["1", end])
    assert ended == "quit" and found == [("v", 1.0)]


def test_what_is_skipped_is_not_asked_again(label):
    ended, found, _, shown = label("ssssss")
    assert ended == "no answer" and not found
    assert shown.count("Document ") == 3 and shown.count("Document z ") == 1


def test_undo_takes_back_the_last_answer_even_the_one_that_settled(label):
    ended, found, _, shown = label("u1u0" + "0u1q")
    assert ended == "quit" and found == [("v", 0.0), ("z", 1.0)]
    assert "there is no answer to undo" in shown


def test_no_more_than_wanted(label):
    ended, found, _, _ = label("1q", most=1)
    assert ended == "budget" and len(found) == 1


def test_texts_are_shown_without_control_characters(label):
    long = "word " * 400 + "end"

    def texts(docnos):
        return Texts({"p": "what\x1b[31m is"}, dict.fromkeys(docnos, long))

    _, _, _, shown = label("mq", texts=texts)
    assert "\x1b" not in shown and "what\\x1b[31m is" in shown
    assert "m: 503 more characters" in shown and shown.rstrip().endswith("q") and "end" in shown
    assert shown.count("word") == 400
    _, _, _, shown = label("q")
    assert shown.count("(no text)") == 2  # of the query and of the document


def test_more_grades_than_keys():
    with pytest.raises(ValueError, match="than keys: use --export"):
        grade_keys(number / 7 for number in range(60))
