"""Lengths of documents: counted, saved, loaded, and found by name."""

import gzip
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pyterrier_asl import TBG, DocLengths


def look_up(lengths, *docnos):
    return lengths.look_up(pa.array(docnos, type=pa.large_string())).tolist()


def test_frames_and_dicts_are_the_same():
    by_dict = DocLengths.from_dict({"a": 1, "b": 2.5})
    by_frame = DocLengths.from_frame(pd.DataFrame({"docno": ["a", "b"], "doc_len": [1, 2.5]}))
    assert by_dict == by_frame and by_dict.id == by_frame.id
    assert look_up(by_frame, "b", "a") == [2.5, 1]
    assert np.isnan(look_up(by_frame, "c")[0])


def test_tokens_of_an_index():
    from pyterrier_asl import TermIndex

    documents = [{"docno": "d1", "text": "radio waves"}, {"docno": "d2", "text": "the cores"}]
    index = TermIndex.from_documents(documents, verbose=False)
    lengths = DocLengths.from_index(index)
    assert look_up(lengths, "d1", "d2") == [2, 1]  # "the" is a stopword
    assert str(TBG(lengths=lengths)).startswith("TBG(lengths='index-")


def test_lengths_are_saved_and_loaded(tmp_path):
    lengths = DocLengths.from_dict({"a": 10, "ü 1": 20}, name="kept")
    lengths.save(tmp_path / "lengths.parquet")
    loaded = DocLengths.load(tmp_path / "lengths.parquet")
    assert loaded == lengths and loaded.name == "kept"
    assert TBG(lengths=str(tmp_path / "lengths.parquet")) == TBG(lengths="kept")


@pytest.mark.parametrize("opened", [open, gzip.open])
def test_text_has_a_document_and_its_words_on_each_line(opened, tmp_path):
    path = tmp_path / "counted.2020.txt"
    with opened(path, "wt", encoding="utf-8") as file:
        file.write("d1 10\r\n\n  d2\t 20.5  \nü 0")
    lengths = DocLengths.load(path)
    assert lengths == DocLengths.from_dict({"d1": 10, "d2": 20.5, "ü": 0})
    assert lengths.name == "counted" and DocLengths.load(path, name="w").name == "w"
    assert TBG(lengths=str(path)) == TBG(lengths="counted")


def test_a_measure_takes_a_dict_of_lengths():
    lengths = {"a": 5, "b": 300}
    assert TBG(lengths=lengths)["lengths"].id == DocLengths.from_dict(lengths).id
    assert str(TBG(lengths=lengths)) != str(TBG(lengths={"a": 5, "b": 30}))


def load_toys(monkeypatch, **collections):
    """Lets ir_datasets have these collections, texts by document, without a download."""

    def load(name):
        docs = [
            SimpleNamespace(doc_id=docno, default_text=partial(str, text))
            for docno, text in collections[name].items()
        ]
        return SimpleNamespace(
            has_docs=lambda: bool(docs), docs_count=docs.__len__, docs_iter=docs.__iter__
        )

    monkeypatch.setattr("ir_datasets.load", load)


def test_words_of_a_collection_are_what_white_space_separates(monkeypatch):
    texts = {"d1": "wave  equations,\nagain\t", "d2": "", "d3": "x-ray"}
    load_toys(monkeypatch, toy=texts, none={})
    lengths = DocLengths.from_irds("toy")
    assert lengths == DocLengths.from_dict({"d1": 3, "d2": 0, "d3": 1})
    assert lengths.name == "irds:toy" and len(lengths) == 3
    with pytest.raises(ValueError, match="the ir_datasets dataset 'none' has no documents"):
        DocLengths.from_irds("none")


def test_a_collection_is_counted_when_it_is_named(monkeypatch):
    load_toys(monkeypatch, named={"d1": "a b"})
    expected = DocLengths.from_dict({"d1": 2}, name="irds:named")
    lengths_id = expected.id
    for text in ("irds:named", lengths_id):
        DocLengths._alive.clear()
        assert TBG(lengths=text)["lengths"] == expected
    DocLengths._alive.clear()
    with pytest.raises(ValueError, match=f"'{lengths_id}'.*counted on another version"):
        TBG(lengths="irds:named-00000000")


QRELS = {"q": {"d1": 1}}
RUN = pd.DataFrame(
    {"query_id": "q", "doc_id": ["x", "d1"], "score": [2, 1], "doc_len": [1000, 500]}
)


def test_lengths_from_a_column_of_the_run():
    seconds = 4.4 + (0.018 * 1000 + 7.8) * 0.39
    assert TBG.calc_aggregate(QRELS, RUN) == pytest.approx(0.4928 * 2 ** (-seconds / 224))


def test_a_document_without_a_length_is_an_error():
    some = TBG(lengths=DocLengths.from_dict({"d1": 5}))
    for measure, run, message in (
        (some, RUN, r"1 of 2 retrieved .* \(e\.g\. 'x'\).*missing_length="),
        (TBG, RUN.drop(columns="doc_len"), "2 of 2 .* a column 'doc_len' in the run"),
        (TBG, RUN.assign(doc_len=[None, 5.0]), "1 of 2 retrieved documents"),
        (TBG, RUN.assign(doc_len=[-3, 5]), "'x' has -3"),
    ):
        with pytest.raises(ValueError, match=message):
            measure.calc_aggregate(QRELS, run)


def test_a_length_for_documents_without_one():
    known = DocLengths.from_dict({"d1": 5})
    filled = TBG(lengths=known, missing_length=1000).calc_aggregate(QRELS, RUN)
    assert filled == pytest.approx(TBG.calc_aggregate(QRELS, RUN))
    alone = TBG(missing_length=1000).calc_aggregate(QRELS, RUN.drop(columns="doc_len"))
    assert alone == pytest.approx(filled)


def test_only_documents_within_the_cutoff_need_a_length():
    known = DocLengths.from_dict({"x": 5})
    assert (TBG(lengths=known) @ 1).calc_aggregate(QRELS, RUN) == 0
    assert TBG.calc_aggregate(QRELS, RUN.iloc[:0, :3]) == 0
