"""Real runs, matched with their qrels."""

import pytest

from pyterrier_asl.evaluation.evaluation import Evaluation


@pytest.fixture(scope="module")
def trec8(data):
    return Evaluation.of(data / "trec8-adhoc" / "runs", data / "trec8-adhoc" / "qrels.txt.gz")


@pytest.fixture(scope="module")
def dl20(data):
    return Evaluation.of(data / "dl20-passage" / "runs", data / "dl20-passage" / "qrels.txt")


@pytest.fixture(scope="module")
def robust03(data):
    return Evaluation.of(data / "robust03" / "runs", data / "robust03" / "qrels.txt")
