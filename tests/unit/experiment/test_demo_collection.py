"""The collections of the demo: the generated dataset, and vaswani if it is missing."""

from __future__ import annotations

import subprocess

import pyterrier as pt
import pytest

from pyterrier_asl import TermIndex
from pyterrier_asl.experiment import demo_collection


def test_the_generated_collection_is_a_dataset_of_pyterrier():
    dataset = pt.get_dataset("asl:demo")
    topics, qrels = dataset.get_topicsqrels()
    docnos = [document["docno"] for document in dataset.get_corpus_iter(verbose=False)]
    assert len(docnos) == len(set(docnos)) == 4800 and len(topics) == 40
    assert set(qrels["qid"]) == set(topics["qid"])
    assert set(qrels["docno"]) <= set(docnos)
    assert not qrels.duplicated(["qid", "docno"]).any()


def test_it_can_be_indexed_and_searched():
    dataset = demo_collection.generated(documents=300, topics=4)
    index = TermIndex.from_documents(dataset.get_corpus_iter(verbose=False), verbose=False)
    assert set(index.bm25()(dataset.get_topics())["qid"]) == set(dataset.get_topics()["qid"])


def test_it_is_the_same_for_a_seed():
    first, same, other = (demo_collection.generated(documents=50, seed=s) for s in (1, 1, 2))
    assert first.documents == same.documents and first.qrels.equals(same.qrels)
    assert first.documents != other.documents


def test_changing_what_it_returns_does_not_change_it():
    dataset = demo_collection.generated(documents=50, topics=2)
    qrels, topics = dataset.get_topicsqrels()[::-1]
    qrels["label"], topics["query"] = 0, ""
    assert (dataset.get_qrels()["label"] == 1).all() and dataset.get_topics()["query"].all()


def test_other_names_and_variants_are_errors():
    with pytest.raises(KeyError, match="asl:vaswani"):
        pt.get_dataset("asl:vaswani")
    dataset = demo_collection.generated(documents=50, topics=2)
    for method in (dataset.get_topics, dataset.get_qrels):
        with pytest.raises(ValueError, match="generated-2022 has no variant 'title'"):
            method("title")


@pytest.mark.parametrize(
    ("last_line", "cause"),
    [
        (b"no route to host", "no route to host"),
        (b"RuntimeError: ('All download sources failed', [(None, 1)])", "all sources failed"),
    ],
)
def test_without_vaswani_the_reason_is_returned(monkeypatch, tmp_path, last_line, cause):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))

    def no_network(command, **options):
        assert options["timeout"] == demo_collection.PATIENCE
        assert options["env"]["IR_DATASETS_DL_TRIES"] == "1"
        raise subprocess.CalledProcessError(1, command, stderr=b"Traceback\n" + last_line)

    monkeypatch.setattr(subprocess, "run", no_network)  # which would download vaswani
    collection, reason = demo_collection.collection()
    assert collection.name == "generated-2022"
    assert reason == f"vaswani is not on this machine and could not be downloaded ({cause})"


def test_the_download_has_a_timeout(monkeypatch, tmp_path):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))

    def too_slow(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", too_slow)  # which would take a minute
    with pytest.raises(OSError, match="the download took more than 60 seconds"):
        demo_collection.vaswani()
