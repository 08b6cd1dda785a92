"""The judging loop: order, saving, resuming and merging."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from pyterrier_asl import holes, judge_until_settled, merge_labels, read_labels
from pyterrier_asl.io.label_files import LabelFile

QRELS = {"q": {"a": 1, "n": 0}, "p": {"b": 1}}
A = {"q": {"a": 5, "x": 4, "y": 3}, "p": {"u": 5, "b": 4}}
B = {"q": {"z": 5, "x": 4, "a": 3}, "p": {"v": 5, "w": 4, "b": 3}}
AB = {"A": A, "B": B}
TRUTH = {("q", "z"): 0, ("p", "v"): 0, ("p", "w"): 0, ("p", "u"): 1, ("q", "x"): 1, ("q", "y"): 0}


def truth(frame):
    return [TRUTH[key] for key in zip(frame["qid"], frame["docno"])]


def test_it_ends_when_the_verdict_is_settled():
    start = holes(AB, QRELS, "ASL@3")
    assert start.is_open
    done = judge_until_settled(start, truth, batch=1)
    assert done.ended == "settled" and done.holes.verdict == "A"
    assert len(done.labels) < len(TRUTH)
    # the same with judgements merged at the beginning
    merged = merge_labels(QRELS, done.labels)
    again = holes(AB, merged[["qid", "docno", "label"]], "ASL@3")
    assert (again.difference.low, again.difference.high) == pytest.approx(
        (done.holes.difference.low, done.holes.difference.high)
    )


def test_ten_documents_are_asked_for_at_a_time():
    run = {"q": {"a": 1.0, **{f"d{rank}": -rank for rank in range(12)}}}
    asked = []

    def judge(frame):
        asked.append(len(frame))
        return [0] * len(frame)

    judge_until_settled(holes({"A": run, "B": {"q": {"a": 1.0}}}, QRELS, "P@13"), judge)
    assert asked == [10, 2]


def test_documents_that_help_the_worse_run_come_first():
    start = holes(AB, QRELS, "RR")
    assert start.difference.difference < 0  # A is better, so documents that help B come first
    weights = start.todo["weight"].round(9).tolist()
    assert weights[0] > 0 and weights == sorted(weights, key=lambda w: (w <= 0, -abs(w)))


def test_it_ends_when_the_budget_is_spent(tmp_path):
    start = holes(AB, QRELS, "ASL@3")
    done = judge_until_settled(start, truth, batch=2, budget=1, labels=tmp_path / "labels.jsonl")
    assert done.ended == "budget" and len(done.labels) == 1


def test_the_last_batch_is_what_is_left_of_the_budget():
    asked = []

    def never(frame):
        asked.append(len(frame))
        return [None] * len(frame)

    judge_until_settled(holes(AB, QRELS, "ASL@3"), never, batch=2, budget=3)
    assert asked == [2, 1]


def test_an_interruption_loses_nothing(tmp_path):
    path, asked = tmp_path / "labels.jsonl", []

    def interrupted(frame):
        asked.extend(frame["docno"])
        if len(asked) == 2:
            raise KeyboardInterrupt
        return truth(frame)

    with pytest.raises(KeyboardInterrupt):
        judge_until_settled(holes(AB, QRELS, "AP"), interrupted, labels=path, batch=1)
    with open(path, "a") as file:
        file.write('{"qid": "q", "doc')  # an incomplete line
    kept = read_labels(path)
    assert kept["docno"].tolist() == asked[:1]
    merged = merge_labels(QRELS, kept)[["qid", "docno", "label"]]
    done = judge_until_settled(holes(AB, merged, "AP"), truth, labels=path, batch=1)
    assert asked[0] not in set(done.labels["docno"])
    every = LabelFile(path).read()
    assert every["docno"].tolist() == [asked[0], *done.labels["docno"]]
    assert all(json.loads(line) for line in path.read_text().splitlines())


class Judge:
    """A judge that is called like a PyTerrier transformer."""

    def transform(self, frame):
        return frame.assign(label=truth(frame)).sample(frac=1, random_state=1)


def test_a_transformer_can_judge():
    done = judge_until_settled(holes(AB, QRELS, "ASL@3"), Judge(), batch=3)
    plain = judge_until_settled(holes(AB, QRELS, "ASL@3"), truth, batch=3)
    pd.testing.assert_frame_equal(done.labels, plain.labels)


def test_a_judge_that_cannot_say_is_not_asked_again():
    asked = []

    def never(frame):
        asked.extend(frame["docno"])
        return [None] * len(frame)

    done = judge_until_settled(holes(AB, QRELS, "ASL@3"), never)
    assert done.ended == "no answer" and len(asked) == len(set(asked)) and done.labels.empty


def test_answers_that_are_invalid_are_refused():
    with pytest.raises(ValueError, match="1 labels for"):
        judge_until_settled(holes(AB, QRELS, "AP"), lambda frame: [1])
    with pytest.raises(ValueError, match="highest="):
        judge_until_settled(holes(AB, QRELS, "nDCG@3"), lambda frame: [2] * len(frame))


@pytest.mark.parametrize(
    "answers",
    [
        lambda frame: dict.fromkeys(frame["docno"], 1),
        lambda frame: "1" * len(frame),
        lambda frame: b"1" * len(frame),
        lambda frame: set(range(len(frame))),
        lambda frame: np.ones((len(frame), 1)),
        lambda frame: frame.assign(docno="other", label=1),
        lambda frame: pd.concat([frame.assign(label=0), frame.assign(label=1)]),
    ],
)
def test_answers_without_an_order_are_refused(tmp_path, answers):
    path = tmp_path / "labels.jsonl"
    with pytest.raises(ValueError, match="the judge"):
        judge_until_settled(holes(AB, QRELS, "P@1"), answers, labels=path)
    assert not path.exists()


@pytest.mark.parametrize("bad", [float("inf"), "good", 7])
def test_a_bad_answer_does_not_lose_the_others(tmp_path, bad):
    path, asked = tmp_path / "labels.jsonl", []

    def judge(frame):
        asked.extend(frame["docno"])
        return [0, bad, *[0] * (len(frame) - 2)]

    with pytest.raises(ValueError, match="other answers are kept in") as error:
        judge_until_settled(holes(AB, QRELS, "P@1"), judge, labels=path)
    assert repr(asked[1]) in str(error.value)
    assert read_labels(path)["docno"].tolist() == [asked[0], *asked[2:]]


def test_the_file_is_read_first(tmp_path):
    path = tmp_path / "labels.jsonl"
    first = judge_until_settled(holes(AB, QRELS, "P@1"), truth, labels=path, batch=1)
    assert first.ended == "settled" and len(first.labels) > 0

    def nobody(frame):
        raise AssertionError("asked again")

    again = judge_until_settled(holes(AB, QRELS, "P@1"), nobody, labels=path)
    assert again.ended == "settled" and again.labels.empty
    assert again.holes.difference.low == first.holes.difference.low


def test_a_file_against_the_official_grades(tmp_path):
    path = tmp_path / "labels.jsonl"
    LabelFile(path).add([{"qid": "q", "docno": "n", "label": 1, "source": "me"}])
    start = holes(AB, QRELS, "P@1")
    with pytest.raises(ValueError, match="official grade is 0"):
        judge_until_settled(start, truth, labels=path)
    done = judge_until_settled(start, truth, labels=path, conflicts="official")
    assert done.ended == "settled"


def test_the_folder_is_checked_before_anyone_is_asked(tmp_path):
    asked = []
    with pytest.raises(FileNotFoundError, match="no folder"):
        judge_until_settled(holes(AB, QRELS, "P@1"), asked.append, labels=tmp_path / "no" / "x")
    assert not asked


@pytest.mark.parametrize("options", [{"batch": 2.5}, {"batch": 0}, {"budget": -1}, {"budget": 1.5}])
def test_sizes_are_whole_numbers(options):
    with pytest.raises(ValueError, match="must be a whole number"):
        judge_until_settled(holes(AB, QRELS, "P@1"), truth, **options)


@pytest.mark.parametrize("budget", [0, 1, 2])
def test_the_budget_is_what_is_asked(budget):
    asked = []

    def never(frame):
        asked.extend(frame["docno"])
        return [None] * len(frame)

    done = judge_until_settled(holes(AB, QRELS, "P@1"), never, budget=budget, batch=2)
    assert done.ended == "budget" and len(asked) == budget


def test_it_prints_how_it_ended():
    done = judge_until_settled(holes(AB, QRELS, "P@1"), truth, batch=1)
    assert str(done) == f"Settled after 2 labels.\n{done.holes}"
    assert done._repr_html_().startswith("<p>Settled after 2 labels.</p><p>P@1: B - A")
    spent = judge_until_settled(holes(AB, QRELS, "P@1"), truth, budget=1)
    assert str(spent).startswith("The budget is spent after 1 label.\n")
