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
QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "n": 0}}
FOUND = holes({"A": A, "B": B}, QRELS, "P@3")


def texts(_):
    documents = {"x": "one\ttwo\nthree", "y": "é"}
    return Texts(queries={"q1": "an  old\tquestion"}, documents=documents)


def table(path):
    """The rows of a table by document."""
    head, *rows = (line.split("\t") for line in path.read_text().splitlines())
    return {row["docno"]: row for row in (dict(zip(head, row)) for row in rows)}


def test_a_table_has_a_line_for_each_document(tmp_path):
    assert export(FOUND, tmp_path / "list.tsv", texts=texts) == 3
    found = table(tmp_path / "list.tsv")
    assert set(found) == {"x", "y", "z"}
    assert found["x"]["query"] == "an old question" and found["x"]["text"] == "one two three"
    assert found["z"]["query"] == found["z"]["text"] == found["z"]["label"] == ""
    assert {row["weight"] for row in found.values()} == {"-0.166667"}


def test_lines_of_json_keep_texts_and_numbers(tmp_path):
    assert export(FOUND, path := tmp_path / "list.jsonl", texts=texts) == 3
    found = {row["docno"]: row for row in map(json.loads, path.read_text().splitlines())}
    assert found["x"]["text"] == "one\ttwo\nthree" and found["y"]["text"] == "é"
    assert found["z"]["weight"] == pytest.approx(-1 / 6, abs=1e-12)


@pytest.fixture(params=["tsv", "jsonl"])
def path(tmp_path, request):
    return tmp_path / f"list.{request.param}"


@pytest.fixture
def answered(path):
    """A list with a label."""
    lines = ["qid\tdocno\tlabel\nq1\tx\t1\n", '{"qid": "q1", "docno": "x", "label": 1}\n']
    path.write_text(lines[path.suffix == ".jsonl"])
    return path


def test_a_list_without_labels_is_replaced(path):
    for most in (1, 2, None):
        assert export(FOUND, path, most=most) == (most or 3)


@pytest.mark.parametrize("force", [False, True])
def test_labels_are_never_overwritten(answered, force):
    told = "it holds 1 label; to keep them read the file by --labels"
    with pytest.raises(FileExistsError, match=told):
        check_export(answered, force=force)


def test_a_second_round_keeps_labels_and_asks_for_the_others(answered):
    assert export(FOUND, answered, keep=True) == 2
    assert read_labels(answered)[["qid", "docno", "label"]].values.tolist() == [["q1", "x", 1.0]]
    assert label_rows(answered)["docno"].tolist() == ["x", "z", "y"]  # z has the better rank


def test_a_list_of_no_document_can_be_read(path):
    settled = holes({"a": A, "b": A}, QRELS, "P@1")
    for _ in range(2):
        assert export(settled, path) == 0 and read_labels(path).empty


@pytest.mark.parametrize(
    ("row", "mark"), [("q1\ty\t-1\t", ["-1", ""]), ("q1\ty\t\task Ann", ["", "ask Ann"])]
)
def test_a_second_round_keeps_what_an_assessor_wrote(tmp_path, row, mark):
    path = tmp_path / "list.tsv"
    path.write_text(f"qid\tdocno\tlabel\tnotes\nq1\tx\t1\tsure\n{row}\n")
    assert export(FOUND, path, keep=True, most=1) == 1 + (mark[0] == "")
    kept = {docno: [row["label"], row["notes"]] for docno, row in table(path).items()}
    assert kept == {"x": ["1", "sure"], "y": mark, "z": ["", ""]}


@pytest.mark.parametrize("force", [False, True])
def test_a_list_with_a_row_that_is_no_label_is_not_overwritten(tmp_path, force):
    path = tmp_path / "list.tsv"
    path.write_text("qid\tdocno\ttext\tlabel\nq1\tx\t1\t\n")
    with pytest.raises(FileExistsError, match="not every label .* line 2: the column 'label' is"):
        export(FOUND, path, force=force)
    assert "x\t1" in path.read_text()


def test_the_ending_jsonl_means_json_lines_and_any_other_a_table(tmp_path):
    for name, begins in (("a.jsonl", '{"qid"'), ("a.tsv", "qid\t"), ("a.txt", "qid\t")):
        (tmp_path / name).write_bytes(b"")  # empty
        assert export(FOUND, tmp_path / name) == 3
        assert (tmp_path / name).read_text().startswith(begins)
