"""The judging loop: order, saving, resuming, merging."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from pyterrier_asl import holes
from pyterrier_asl.unjudged.labels import LabelFile, merge_labels, read_labels
from pyterrier_asl.unjudged.loop import judge_until_settled

QRELS = {"q": {"a": 1, "n": 0}, "p": {"b": 1}}
A = {"q": {"a": 5, "x": 4, "y": 3}, "p": {"u": 5, "b": 4}}
B = {"q": {"z": 5, "x": 4, "a": 3}, "p": {"v": 5, "w": 4, "b": 3}}
TRUTH = {("q", "z"): 0, ("p", "v"): 0, ("p", "w"): 0, ("p", "u"): 1, ("q", "x"): 1, ("q", "y"): 0}


def truth(frame):
    return [TRUTH[key] for key in zip(frame["qid"], frame["docno"])]


def test_it_ends_when_the_verdict_is_settled():
    start = holes(A, B, QRELS, "ASL@3")
    assert start.is_open
    done = judge_until_settled(start, truth, batch=1)
    assert done.ended == "settled" and done.holes.verdict == "A"
    assert len(done.labels) < len(TRUTH)
    # the same by judgements merged from the beginning
    merged = merge_labels(QRELS, done.labels)
    again = holes(A, B, merged[["qid", "docno", "label"]], "ASL@3")
    assert (again.difference.low, again.difference.high) == pytest.approx(
        (done.holes.difference.low, done.holes.difference.high)
    )


def test_first_what_helps_the_run_that_is_behind():
    start = holes(A, B, QRELS, "RR")
    assert start.difference.difference > 0  # A is ahead: what helps B comes first
    weights = start.todo["weight"].round(9).tolist()
    assert weights[0] < 0 and weights == sorted(weights, key=lambda w: (w >= 0, -abs(w)))


@pytest.mark.slow
def test_it_ends_when_the_budget_is_spent(tmp_path):
    start = holes(A, B, QRELS, "ASL@3")
    done = judge_until_settled(start, truth, batch=2, budget=1, labels=tmp_path / "labels.jsonl")
    assert done.ended == "budget" and len(done.labels) == 1


@pytest.mark.slow
def test_an_interruption_loses_nothing(tmp_path):
    path, asked = tmp_path / "labels.jsonl", []

    def interrupted(frame):
        asked.extend(frame["docno"])
        if len(asked) == 2:
            raise KeyboardInterrupt
        return truth(frame)

    with pytest.raises(KeyboardInterrupt):
        judge_until_settled(holes(A, B, QRELS, "AP"), interrupted, labels=path, batch=1)
    with open(path, "a") as file:
        file.write('{"qid": "q", "doc')  # half a line
    kept = read_labels(path)
    assert kept["docno"].tolist() == asked[:1]
    merged = merge_labels(QRELS, kept)[["qid", "docno", "label"]]
    done = judge_until_settled(holes(A, B, merged, "AP"), truth, labels=path, batch=1)
    assert asked[0] not in set(done.labels["docno"])
    every = LabelFile(path).read()
    assert every["docno"].tolist() == [asked[0], *done.labels["docno"]]
    assert all(json.loads(line) for line in path.read_text().splitlines())


class Judge:
    """As a PyTerrier transformer is called."""

    def transform(self, frame):
        return frame.assign(label=truth(frame)).sample(frac=1, random_state=1)


def test_a_transformer_can_judge():
    done = judge_until_settled(holes(A, B, QRELS, "ASL@3"), Judge(), batch=3)
    plain = judge_until_settled(holes(A, B, QRELS, "ASL@3"), truth, batch=3)
    pd.testing.assert_frame_equal(done.labels, plain.labels)


def test_a_judge_that_cannot_say_is_not_asked_again():
    asked = []

    def never(frame):
        asked.extend(frame["docno"])
        return [None] * len(frame)

    done = judge_until_settled(holes(A, B, QRELS, "ASL@3"), never)
    assert done.ended == "no answer" and len(asked) == len(set(asked)) and done.labels.empty


def test_answers_that_are_none_are_refused():
    with pytest.raises(ValueError, match="1 labels for"):
        judge_until_settled(holes(A, B, QRELS, "AP"), lambda frame: [1])
    with pytest.raises(ValueError, match="highest="):
        judge_until_settled(holes(A, B, QRELS, "nDCG@3"), lambda frame: [2] * len(frame))


def test_official_grades_stay():
    labels = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "x"], "label": [0, 1]})
    with pytest.raises(ValueError, match="official grade is 1"):
        merge_labels(QRELS, labels)
    merged = merge_labels(QRELS, labels, conflicts="official").set_index(["qid", "docno"])
    assert merged.loc[("q", "a")].tolist() == [1.0, "official"]
    assert merged.loc[("q", "x")].tolist() == [1.0, "label"]


@pytest.mark.parametrize(
    "text",
    [
        '{"query_id": "q", "docid": "x", "judgment": 1}\n',
        "qid\tdocno\tlabel\nq\tx\t1\nq\ty\t\n",
        "q 0 x 1\nq 0 y -1\n",
    ],
)
def test_labels_of_several_forms(tmp_path, text):
    path = tmp_path / "labels"
    path.write_text(text)
    found = read_labels(path)
    assert found[["qid", "docno", "label"]].values.tolist() == [["q", "x", 1.0]]
