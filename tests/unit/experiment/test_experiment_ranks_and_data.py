"""Intervals of ranks in an experiment, and the collections of the demo (demo_collection.py)."""

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from pyterrier_asl import Experiment, ranks
from pyterrier_asl.experiment import demo_collection


def test_ranks_follow_means():
    generator = np.random.default_rng(0)
    qids = [f"{number:02}" for number in range(30)]
    qrels = pd.DataFrame({"qid": qids, "docno": "a", "label": 1})
    topics = pd.DataFrame({"qid": qids, "query": "chess"})
    both = pd.DataFrame({"qid": np.repeat(qids, 2), "docno": ["a", "b"] * 30})
    systems = {
        name: both.assign(score=generator.normal(np.tile([gain, 0.0], 30)))
        for name, gain in (("bad", -2), ("good", 3), ("fair", 1))
    }
    table = Experiment(systems, topics, qrels, ["AP", "ASL@5", "NumRet"], ranks=True)
    ends = ("", " *", " rank low", " rank high")
    columns = [f"{measure}{end}" for measure in ("AP", "ASL@5") for end in ends]
    assert list(table) == ["name", *columns, "NumRet"]
    for measure in ("AP", "ASL@5"):
        board = ranks(systems, qrels, measure).table.set_index("name").loc[table["name"]]
        best = board.index[board["rank"] == 1][0]
        ordered = ranks(systems, qrels, measure).better.loc[best, table["name"]]
        assert table[f"{measure} *"].tolist() == ["*" * star for star in ordered]
        assert table[f"{measure} rank low"].tolist() == board["low"].tolist()
        assert table[f"{measure} rank high"].tolist() == board["high"].tolist()
    plain = Experiment(systems, topics, qrels, ["AP", "ASL@5", "NumRet"])
    pd.testing.assert_frame_equal(table[list(plain)], plain)


def test_the_generated_collection_is_a_dataset_of_pyterrier():
    dataset = pt.get_dataset("asl:demo")
    topics, qrels = dataset.get_topicsqrels()
    docnos = [document["docno"] for document in dataset.get_corpus_iter(verbose=False)]
    assert len(docnos) == len(set(docnos)) == 4800 and len(topics) == 40
    assert set(qrels["qid"]) == set(topics["qid"])
    assert set(qrels["docno"]) <= set(docnos)
    assert not qrels.duplicated(["qid", "docno"]).any()


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
