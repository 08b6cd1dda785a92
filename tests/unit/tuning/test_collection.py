"""Collections to tune on: folders, and datasets of ir_datasets, here two generated ones."""

import gzip
import json

import ir_datasets
import pyarrow as pa
import pytest
from _datasets import register
from ir_datasets.formats import GenericQuery, TrecQuery

from pyterrier_asl.tuning.collection import load_collection

DOCS = {"d1": "radio waves and the scattering of waves", "d2": "a radio receiver"}


def words(collection):
    return collection.lengths.look_up(pa.array(DOCS, pa.large_string())).tolist()


@pytest.fixture
def datasets(monkeypatch):
    """``made-up`` and ``made-up/trec``: topics of one and of three fields, same documents."""
    for name, topic in {
        "made-up": GenericQuery("1", "what are waves"),
        "made-up/trec": TrecQuery("1", "waves", "What are waves?", "Waves of radio are."),
    }.items():
        register(monkeypatch, name, {"1": {"d1": 2}}, [topic], DOCS)
    first, other = (ir_datasets.load(name).docs_handler() for name in ("made-up", "made-up/trec"))
    monkeypatch.setattr(other, "docs_handler", lambda: first)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # in PyTerrier
@pytest.mark.parametrize(
    ("prefix", "name", "query"),
    [("", "made-up", "what are waves"), ("irds:", "made-up/trec", "waves")],
)
def test_the_query_of_a_trec_topic_is_its_title(datasets, prefix, name, query):
    collection = load_collection(prefix + name, verbose=False)
    assert collection.name == name
    assert collection.topics.to_dict("list") == {"qid": ["1"], "query": [query]}
    assert collection.qrels[["qid", "docno", "label"]].values.tolist() == [["1", "d1", 2]]
    assert collection.index.num_docs == 2
    assert words(collection) == [7, 3]


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_topics_on_the_same_documents_share_their_index(datasets, tmp_path):
    one = load_collection("made-up", verbose=False)
    other = load_collection("made-up/trec", one, verbose=False)
    assert other.index is one.index and other.lengths is one.lengths
    assert other.topics["query"].tolist() == ["waves"]
    folder = load_collection(folder_of(tmp_path), verbose=False)
    assert load_collection("made-up", folder, verbose=False).index is not folder.index


def folder_of(path, topics=5):
    documents = [{"docno": docno, "title": "On", "text": text} for docno, text in DOCS.items()]
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    (path / "docs.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (path / "queries.tsv").write_text("".join(f"{q}\tquery {q}\n" for q in range(topics)))
    (path / "qrels.txt").write_text("1 0 d1 2\n")
    return str(path)


def test_a_folder_with_documents_topics_and_judgements(tmp_path):
    collection = load_collection(folder_of(tmp_path), verbose=False)
    assert collection.name == tmp_path.name
    assert collection.topics["query"].tolist() == [f"query {q}" for q in range(5)]
    assert collection.qrels[["qid", "docno", "label"]].values.tolist() == [["1", "d1", 2]]
    assert words(collection) == [8, 4]  # with their titles
    odd, even = collection.every_other_topic(0), collection.every_other_topic(1)
    assert odd.topics["qid"].tolist() == ["0", "2", "4"] and odd.name.endswith(", odd")
    assert even.topics["qid"].tolist() == ["1", "3"] and even.name.endswith(", even")
    assert odd.index is even.index is collection.index and even.qrels is collection.qrels


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_columns_and_grades_are_those_of_the_qrels_of_a_folder(datasets, tmp_path):
    folder = folder_of(tmp_path)
    (tmp_path / "qrels.txt").write_text("qid,_id,verdict\n2,d1,S\n2,d2,I\n1,d2,E\n")
    names = {"columns": "docno=_id label=verdict", "grades": "E=3 S=2 I=0"}
    read = load_collection(folder, verbose=False, **names)
    assert read.qrels[["qid", "docno", "label"]].values.tolist() == [
        ["2", "d1", 2],
        ["2", "d2", 0],
        ["1", "d2", 3],
    ]
    with pytest.raises(ValueError, match="--columns"):
        load_collection(folder, verbose=False, grades=names["grades"])
    for name, value in names.items():
        says = f"{name}={value!r} is for the qrels.txt of a folder, not for 'made-up': leave it out"
        with pytest.raises(ValueError, match=says):
            load_collection("made-up", verbose=False, **{name: value})


def test_a_folder_that_lacks_a_file(tmp_path):
    for name in ("docs.jsonl.gz", "queries.tsv", "qrels.txt"):
        folder = folder_of(tmp_path)
        (tmp_path / name).unlink()
        with pytest.raises(FileNotFoundError, match=f"has no {name}: the folder of a collection"):
            load_collection(folder)
