"""Exported lists of documents to judge, compared as text."""

import json

import pytest

from pyterrier_asl import holes
from pyterrier_asl.io.label_files import label_rows, read_labels
from pyterrier_asl.io.texts import Texts
from pyterrier_asl.unjudged.export import check_export, export

#: A label of one of three documents in one of two queries changes P@3 by 1/6.
A = {"q1": {"a": 4, "x": 3, "y": 2, "b": 1}, "q2": {"a": 2, "z": 1}}
B = {"q1": {"a": 3, "b": 2}, "q2": {"a": 1}}
AB = {"A": A, "B": B}
QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "n": 0}}


def texts(_):
    documents = {"x": "one\ttwo\nthree", "y": "é"}
    return Texts(queries={"q1": "an  old\tquestion"}, documents=documents)


@pytest.fixture
def saved(tmp_path):
    def lines(form):
        path = tmp_path / f"list.{form}"
        assert export(holes(AB, QRELS, "P@3"), path, texts=texts) == 3
        return path.read_text().splitlines()

    return lines


def test_a_table_has_a_line_for_each_document(saved):
    head, *rows = (line.split("\t") for line in saved("tsv"))
    found = {row["docno"]: row for row in (dict(zip(head, row)) for row in rows)}
    assert set(found) == {"x", "y", "z"}
    assert found["x"]["query"] == "an old question" and found["x"]["text"] == "one two three"
    assert found["z"]["query"] == found["z"]["text"] == found["z"]["label"] == ""
    assert {row["weight"] for row in found.values()} == {"-0.166667"}


def test_lines_of_json_keep_texts_and_numbers(saved):
    found = {row["docno"]: row for row in map(json.loads, saved("jsonl"))}
    assert found["x"]["text"] == "one\ttwo\nthree" and found["y"]["text"] == "é"
    assert found["z"]["weight"] == pytest.approx(-1 / 6, abs=1e-12)


ANSWERS = {
    "tsv": "qid\tdocno\tlabel\nq1\tx\t1\n",
    "jsonl": '{"qid": "q1", "docno": "x", "label": 1}\n',
}


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_a_list_without_labels_is_replaced(tmp_path, form):
    path = tmp_path / f"list.{form}"
    for most in (1, 2, None):
        assert export(holes(AB, QRELS, "P@3"), path, most=most) == (most or 3)


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
@pytest.mark.parametrize("force", [False, True])
def test_labels_are_never_overwritten(tmp_path, form, force):
    path = tmp_path / f"list.{form}"
    path.write_text(ANSWERS[form])
    with pytest.raises(
        FileExistsError, match="it holds 1 label; to keep them read the file by --labels"
    ):
        check_export(path, force=force)


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_a_second_round_keeps_labels_and_asks_for_the_others(tmp_path, form):
    path = tmp_path / f"list.{form}"
    path.write_text(ANSWERS[form])
    assert export(holes(AB, QRELS, "P@3"), path, keep=True) == 2
    assert read_labels(path)[["qid", "docno", "label"]].values.tolist() == [["q1", "x", 1.0]]
    assert label_rows(path)["docno"].tolist() == ["x", "z", "y"]  # z has the better rank


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_a_list_of_no_document_can_be_read(tmp_path, form):
    path, settled = tmp_path / f"list.{form}", holes({"a": A, "b": A}, QRELS, "P@1")
    assert export(settled, path) == 0
    assert read_labels(path).empty
    assert export(settled, path) == 0


@pytest.mark.parametrize(
    ("row", "mark"), [("q1\ty\t-1\t", ["-1", ""]), ("q1\ty\t\task Ann", ["", "ask Ann"])]
)
def test_a_second_round_keeps_what_an_assessor_wrote(tmp_path, row, mark):
    path = tmp_path / "list.tsv"
    path.write_text(f"qid\tdocno\tlabel\tnotes\nq1\tx\t1\tsure\n{row}\n")
    assert export(holes(AB, QRELS, "P@3"), path, keep=True, most=1) == 1 + (mark[0] == "")
    head, *rows = (line.split("\t") for line in path.read_text().splitlines())
    kept = {
        row["docno"]: [row["label"], row["notes"]] for row in (dict(zip(head, r)) for r in rows)
    }
    assert kept == {"x": ["1", "sure"], "y": mark, "z": ["", ""]}


@pytest.mark.parametrize("force", [False, True])
def test_a_list_with_a_row_that_is_no_label_is_not_overwritten(tmp_path, force):
    path = tmp_path / "list.tsv"
    path.write_text("qid\tdocno\ttext\tlabel\nq1\tx\t1\t\n")
    with pytest.raises(FileExistsError, match="not every label .* line 2: the column 'label' is"):
        export(holes(AB, QRELS, "P@3"), path, force=force)
    assert "x\t1" in path.read_text()


def test_the_ending_jsonl_means_json_lines_and_any_other_a_table(tmp_path):
    for name, begins in (("a.jsonl", '{"qid"'), ("a.tsv", "qid\t"), ("a.txt", "qid\t")):
        (tmp_path / name).write_bytes(b"")  # empty
        assert export(holes(AB, QRELS, "P@3"), tmp_path / name) == 3
        assert (tmp_path / name).read_text().startswith(begins)
