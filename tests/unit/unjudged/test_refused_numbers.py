"""Invalid options raise errors that name the option, the value and the remedy (holes.py)."""

import json

import pandas as pd
import pytest

from pyterrier_asl import bounds, holes
from pyterrier_asl.analysis.incomplete_judgements import missing_labels
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.relevant_documents import RelevantRanks
from pyterrier_asl.io.label_files import read_labels

A, B = {"q": {"d": 2, "x": 1}}, {"q": {"y": 2, "d": 1}}
AB = {"A": A, "B": B}
QRELS = {"q": {"d": 1}}


@pytest.mark.parametrize("number", [2.5, 1.5, 0, -1, float("nan"), True, "3"])
def test_what_counts_is_a_whole_number_from_1_on(number):
    ranks = RelevantRanks.of(Evaluation.of({"a": A}, QRELS), 1)
    with pytest.raises(ValueError, match="depth must be a whole number from 1 on, not"):
        ranks.found(number)


@pytest.mark.parametrize("depth", [1.5, -1, float("nan"), True, "3"])
def test_a_depth_is_a_whole_number_from_0_on(depth):
    for call in (
        lambda: holes(AB, QRELS, "RR", depth=depth),
        lambda: bounds(A, QRELS, "P@3", depth=depth),
    ):
        with pytest.raises(ValueError, match="depth must be a whole number from 0 on, not"):
            call()


def test_samples_of_labels_are_counted():
    with pytest.raises(ValueError, match="draws must be a whole number from 1 on, not 0"):
        missing_labels({"a": A, "b": B}, {"q": {"d": 1, "x": 1}}, draws=0)


@pytest.mark.parametrize("alpha", [2, -1, 0, 1, float("nan")])
def test_a_level_is_a_probability(alpha):
    with pytest.raises(ValueError, match=r"it is a probability: give 0 < alpha < 1"):
        holes(AB, QRELS, "RR", alpha=alpha)


def test_a_column_is_given_once(tmp_path):
    twice = {"qid": "q", "docno": "d", "doc_id": "e", "label": 1}
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(twice) + "\n")
    for source in (path, pd.DataFrame([twice])):
        with pytest.raises(ValueError, match="there are both docno and doc_id: keep one"):
            read_labels(source)
