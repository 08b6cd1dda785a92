"""Texts of documents and queries, and digests of files (texts.py, digests.py)."""

import gzip
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pyterrier_asl.io.digests import digest_of
from pyterrier_asl.io.texts import Texts, read_texts


def texts(*values: str) -> pa.Array:
    return pa.array(values, pa.large_string())


@pytest.mark.parametrize(
    ("one", "other"),
    [([texts("ab", "c")], [texts("ab", "d")]), ([texts("ab", "c")], [texts("a", "bc")])]
    + [([texts("ab")], [texts("a"), texts("b")]), ([texts("a", "")], [texts("a")])]
    + [([texts()], [texts("")]), ([texts()], [])]
    + [([b"ab"], [b"a", b"b"]), ([b"a"], [b"b"]), ([np.array([1, 2])], [np.array([1, 3])])]
    + [([np.array([1, 2]), b"x"], [np.array([1, 2]), b"y"])],
)
def test_other_content_has_another_digest(one, other):
    assert digest_of(one) != digest_of(other)


def test_a_slice_has_the_digest_of_its_content():
    whole = texts("x", "ab", "c", "y")
    assert digest_of([whole[1:3]]) == digest_of([texts("ab", "c")]) != digest_of([whole[0:2]])


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("d1\tone\nd2\ttwo\twords\n\n", {"d1": "one", "d2": "two\twords"}),
        ('{"docno": "d1", "text": "one"}\n', {"d1": "one"}),
        ('{"_id": "d1", "title": "A", "text": "one"}\n', {"d1": "A\none"}),
        ('{"id": 7, "contents": "one"}\n', {"7": "one"}),
        ('\ufeff{"qid": "q", "query": "what"}\n', {"q": "what"}),
        ('{"docid": "d1", "title": "", "segment": "one"}\n', {"d1": "one"}),
    ],
)
def test_forms(tmp_path, content, texts, recwarn):
    warnings.simplefilter("always", ResourceWarning)  # of a file that is left open
    for text in (content.encode(), gzip.compress(content.encode())):
        (tmp_path / "texts").write_bytes(text)
        assert read_texts(tmp_path / "texts") == texts
    assert not recwarn.list


def test_only_what_is_wanted_is_kept(tmp_path):
    path = tmp_path / "docs"
    path.write_text("d1\tone\nd2\ttwo\nd2\tagain\n")
    assert read_texts(path, wanted={"d1", "d9"}) == {"d1": "one"}
    assert read_texts(path, wanted=set()) == {}
    others = {0: "it is empty", 1: "its 1 line has another id", 3: "its 3 lines have other ids"}
    for lines, why in others.items():
        path.write_text("d1\tone\n" * lines)
        with pytest.raises(ValueError, match=f"has none of the texts that are needed: {why}"):
            read_texts(path, wanted={"d9"})


def test_a_file_next_to_other_files(tmp_path):
    path = tmp_path / "docs"
    path.write_text("d1\tone  two\n")
    texts = Texts.of({"q": " a  b "}, docnos=["d1", "d2"], docs=path, whole=True)
    assert (texts.queries, texts.documents) == ({"q": "a b"}, {"d1": "one  two"})
    assert Texts.of(docnos=["d1"], docs={"d1": "x", "d3": "y"}).documents == {"d1": "x"}
    frame = pd.DataFrame({"docno": ["d3", "d1"], "body": ["y", "x"]})
    assert Texts.of(docnos=["d1"], docs=frame).documents == {"d1": "x"}


@pytest.mark.parametrize("column", ["query", "text", "title"])
def test_topics_are_frames_with_ids_and_texts(column):
    topics = pd.DataFrame({"qid": [1], column: ["waves"]})
    assert Texts.of(topics).queries == {"1": "waves"}
    for lacking in ("qid", column):
        with pytest.raises(ValueError, match="topics need the columns qid and query; these have"):
            Texts.of(topics.drop(columns=lacking))
    with pytest.raises(ValueError, match="these have int"):
        Texts.of(7)


def test_topics_of_other_queries_are_an_error():
    assert Texts.of({1: "a", 2: "b"}, qids=["2", "3"]).queries["2"] == "b"
    with pytest.raises(ValueError, match="ids there look like '1', the ids of the queries"):
        Texts.of({1: "a"}, qids=["q1"])


def test_topics_and_documents_have_priority_over_the_dataset(monkeypatch):
    def texts(key, names):
        return [SimpleNamespace(**{key: n}, default_text=lambda n=n: f"irds {n}") for n in names]

    stored = {text.doc_id: text for text in texts("doc_id", ["d2", "d1", "d3"])}
    dataset = SimpleNamespace(
        has_queries=lambda: True,
        has_docs=lambda: True,
        queries_iter=lambda: texts("query_id", ["q2", "q1"]),
        docs_store=lambda: SimpleNamespace(get_many=lambda ids: {d: stored[d] for d in ids}),
    )
    monkeypatch.setattr("pyterrier_asl.io.qrels.load_irds", lambda name: dataset)
    options = {"docnos": ["d3", "d1"], "docs": {"d1": "mine", "d2": "unused"}}
    found = Texts.of({"q1": "own"}, "irds:x", qids=["q2"], **options)
    assert found.queries == {"q1": "own", "q2": "irds q2"}
    assert found.documents == {"d1": "mine", "d3": "irds d3"}
