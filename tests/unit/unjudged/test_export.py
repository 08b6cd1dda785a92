"""Lists of documents to judge, to the last character."""

from __future__ import annotations

import json

import pytest

from pyterrier_asl import holes
from pyterrier_asl.io.texts import Texts
from pyterrier_asl.unjudged.export import export

#: P@3 by a label of one of three documents in one of two queries: a sixth each.
A = {"q1": {"a": 4, "x": 3, "y": 2, "b": 1}, "q2": {"a": 2, "z": 1}}
B = {"q1": {"a": 3, "b": 2}, "q2": {"a": 1}}
QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}


def texts(_):
    documents = {"x": "one\ttwo\nthree", "y": "é"}
    return Texts(queries={"q1": "an  old\tquestion"}, documents=documents)


@pytest.fixture
def saved(tmp_path):
    def lines(form):
        path = tmp_path / "list"
        assert export(holes(A, B, QRELS, "P@3"), path, form=form, texts=texts) == 3
        return path.read_text().splitlines()

    return lines


def test_a_table_has_a_line_for_each_document(saved):
    head, *rows = (line.split("\t") for line in saved("tsv"))
    found = {row["docno"]: row for row in (dict(zip(head, row)) for row in rows)}
    assert set(found) == {"x", "y", "z"}
    assert found["x"]["query"] == "an old question" and found["x"]["text"] == "one two three"
    assert found["z"]["query"] == found["z"]["text"] == found["z"]["label"] == ""
    assert {row["weight"] for row in found.values()} == {"0.166667"}


def test_lines_of_json_keep_texts_and_numbers(saved):
    found = {row["docno"]: row for row in map(json.loads, saved("jsonl"))}
    assert found["x"]["text"] == "one\ttwo\nthree" and found["y"]["text"] == "é"
    assert found["z"]["weight"] == pytest.approx(1 / 6, abs=1e-12)


def test_qrels_have_no_label_yet(saved):
    assert sorted(saved("trec")) == ["q1 0 x -1", "q1 0 y -1", "q2 0 z -1"]


def test_requests_have_a_query_and_its_documents(saved):
    found = {row["query"]["qid"]: row for row in map(json.loads, saved("umbrela"))}
    assert found["q1"]["query"]["text"] == "an  old\tquestion"
    candidates = sorted(found["q1"]["candidates"], key=lambda candidate: candidate["docid"])
    assert candidates == [
        {"docid": "x", "doc": {"segment": "one\ttwo\nthree"}},
        {"docid": "y", "doc": {"segment": "é"}},
    ]
    assert found["q2"]["candidates"] == [{"docid": "z", "doc": {"segment": ""}}]
