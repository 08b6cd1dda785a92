"""Labels: formats, and unchanged official grades (label_files.py, qrels.py)."""

import json
import re

import pandas as pd
import pytest

from pyterrier_asl import Qrels, evaluate, merge_labels, read_labels
from pyterrier_asl.printing.table_lines import jsonl_lines, separated_lines

QRELS = {"q": {"a": 1, "n": 0}, "p": {"b": 1}}


def label(docno, grade=1.0, qid="q"):
    return {"qid": qid, "docno": docno, "label": grade, "source": "me"}


def of(path):
    return read_labels(path)[["qid", "docno", "label"]].values.tolist()


@pytest.mark.parametrize(
    "text",
    [
        '{"query_id": "q", "docid": "x", "judgment": 1}\n',
        '{"qid": "q", "docno": "x", "label": "1"}\n{"qid": "q", "docno": "x", "label": ""}\n',
        "qid\tdocno\tlabel\nq\tx\t1\nq\ty\t\n",
        "qid\tdocno\tlabel\r\nq\tx\t1\r\nq\ty\r\n",
        "\ufeffqid\tdocno\tjudgment\tnotes\nq\tx\t1\tyes\n",
        "q 0 x 1\nq 0 y -1\n",
        "QID,Docno,Label\nq,x,1\nq,y,\n",
        'qid;docno;text;label\nq;x;"a; b\nc";1\nq;y;d;-1\n',
        '"qid","docno","label"\r\n"q","x","1"\r\n\r\n"q","y",""\r\n',
        '{"qid": "q", "docno": "x", "Label": 1}\n{"qid": "q", "docno": "y", "Label": -1}\n',
        "qid\tdocno\ttext\tlabel\nq\ty\t1984\t-1\nq\tx\t1984\t1\n",
        "qid\tdocno\tweight\tlabel\nq\tx\t2\t1\nq\tz\nq\ty\t0.5\n",
    ],
)
def test_labels_of_several_forms(tmp_path, text):
    path = tmp_path / "labels"
    path.write_text(text, encoding="utf-8")
    assert of(path) == [["q", "x", 1.0]]


IDS = [*'\\é"', "a\\tb", "a\tb", "a\nb", "C:\\new", "a\rb", "#1", " x ", "007", "NA"]


def test_ids_survive_a_table(tmp_path):
    path = tmp_path / "todo.tsv"
    frame = pd.DataFrame({"qid": IDS, "docno": IDS[::-1], "label": range(len(IDS))})
    path.write_text("".join(line + "\n" for line in separated_lines(frame)), encoding="utf-8")
    assert of(path) == frame.astype({"label": float}).values.tolist()
    for escaped in ("C:\\\\new", "'=1"):  # as 0.1.0 wrote C:\new and =1
        path.write_text(f"qid\tdocno\tlabel\nq\t{escaped}\t1\n", encoding="utf-8")
        with pytest.raises(ValueError, match="line 2: the id .* has an escape of earlier releases"):
            read_labels(path)


def test_labels_are_text_or_numbers_or_missing():
    values = ["2", None, 1, "", True, "  ", 0.5, float("nan"), pd.NA]
    labels = pd.DataFrame({"qid": "q", "docno": list("abcdefghi"), "label": values}, dtype=object)
    read = read_labels(labels)
    assert dict(zip(read["docno"], read["label"])) == {"a": 2, "c": 1, "e": 1, "g": 0.5}


@pytest.mark.parametrize(("docno", "official", "grade"), [("a", 1, 0), ("n", 0, 1)])
def test_official_grades_stay(docno, official, grade):
    labels = pd.DataFrame({"qid": ["q", "q"], "docno": [docno, "x"], "label": [grade, 1]})
    merged = merge_labels(QRELS, labels, conflicts="official").set_index(["qid", "docno"])
    assert merged.loc[("q", docno)].tolist() == [official, "official"]
    assert merged.loc[("q", "x")].tolist() == [1.0, "label"]


@pytest.mark.parametrize("grade", [-2, -1])
def test_a_label_takes_the_place_of_a_negative_grade(grade):
    merged = merge_labels({"q": {"a": 1, "j": grade}}, pd.DataFrame([label("j", 0)]))
    assert merged["label"].tolist() == [1, 0] and merged["source"].tolist() == ["official", "me"]


def test_several_files_are_merged_and_must_agree(tmp_path):
    paths = [tmp_path / "one", tmp_path / "two"]
    for path, grade in zip(paths, (1, 0)):
        rows = [label("x", grade) | {"source": path.name}, label(path.name)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ValueError, match="'x' of query 'q' is labelled 1 by 'one' and 0 by 'two'"):
        merge_labels(QRELS, paths)
    paths[1].write_text(json.dumps(label("two")) + "\n")
    merged = merge_labels(QRELS, paths)
    assert merged["docno"].tolist() == ["a", "n", "b", "x", "one", "two"]


@pytest.mark.parametrize("qrels", [QRELS, {"q": {"a": 0}}])
def test_a_label_is_of_the_scale(qrels):
    one, two = (pd.DataFrame([label("x", grade)]) for grade in (1, 2))
    assert merge_labels(qrels, one)["label"].iloc[-1] == 1
    with pytest.raises(ValueError, match=r"grades go up to 1: correct it, or pass highest=2"):
        merge_labels(qrels, two)
    assert merge_labels(qrels, two, highest=2)["label"].iloc[-1] == 2
    with pytest.raises(ValueError, match=r"grades go up to 1: "):  # of labels; one has grade 3
        merge_labels({"q": {"a": 3}}, two, highest=1)


@pytest.mark.parametrize(
    ("grades", "kept"), [((1, 1), [1]), ((1, -1), [1]), ((-1, None, 0), [0]), ((1, 0), None)]
)
def test_a_document_labelled_twice_has_one_label(tmp_path, grades, kept):
    rows = pd.DataFrame([label("x", grade) for grade in grades])
    paths = [tmp_path / "labels.tsv", tmp_path / "labels.csv", tmp_path / "labels.jsonl"]
    paths[0].write_text("".join(line + "\n" for line in separated_lines(rows)))
    rows.to_csv(paths[1], index=False)
    cells = rows["label"].astype(object).where(rows["label"].notna(), "")
    rows.assign(label=cells).to_json(paths[2], orient="records", lines=True)
    for source in (rows, *paths):
        if kept is None:
            where = "labels.*, lines (2 and 3|1 and 2)|label, rows 0 and 1"
            with pytest.raises(ValueError, match=f"({where}): .*'x' of query 'q' has the labels"):
                read_labels(source)
        else:
            assert read_labels(source)["label"].tolist() == kept


@pytest.mark.parametrize(("kind", "line"), [("tsv", 3), ("jsonl", 2)])
def test_a_grade_in_the_column_of_a_text_is_named(tmp_path, kind, line):
    path = tmp_path / f"labels.{kind}"
    for column in ("text", "query", "grade", "notes"):
        rows = pd.DataFrame({"qid": "q", "docno": ["x", "y"], "label": ["1", ""], column: ["", 2]})
        lines = (separated_lines if kind == "tsv" else jsonl_lines)(rows.astype(str))
        path.write_text("".join(line + "\n" for line in lines))
        wrong = f"line {line}: the column 'label' is empty, and '{column}' holds '2'"
        with pytest.raises(ValueError, match=wrong):
            read_labels(path)
    path.write_text(re.sub(r"\b2\b", "2 apples", path.read_text()))
    assert of(path) == [["q", "x", 1.0]]


def test_labels_of_passages_are_labels_of_documents():
    """The highest of a document; one below the official grade says nothing of other passages."""
    passages = pd.DataFrame([label("x#1", 0), label("x#2", 1), label("a#1", 0), label("y#7", 0)])
    documents = pd.DataFrame([label("x", 1), label("y", 0)])
    runs = {"r": {"q": {"n#1": 3, "x#1": 2, "a#2": 1}}}
    own = evaluate(runs, Qrels(QRELS, collapse="#", labels=documents), "AP")
    assert own["AP"].tolist() == pytest.approx([(1 / 2 + 2 / 3) / 2, 0])
    assert evaluate(runs, Qrels(QRELS, collapse="#", labels=passages), "AP").equals(own)
    assert not evaluate(runs, Qrels(QRELS, collapse="#"), "AP").equals(own)
    names = pd.DataFrame([label("C#"), label("y")])  # documents: not more than half have the mark
    merged = Qrels(QRELS, collapse="#", labels=names).merged
    assert merged["docno"].tolist() == [*"anb", "C#", "y"]
    above = pd.DataFrame([label("n#1", 1)])
    with pytest.raises(ValueError, match="document 'n' .* labelled 1 .* official grade is 0"):
        evaluate(runs, Qrels(QRELS, collapse="#", labels=above), "AP")


def test_a_row_without_a_source_has_the_name_of_its_file(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("qid,docno,label,source\nq,x,1,\nq,y,0,me\n")
    assert read_labels(path)["source"].tolist() == ["mine.csv", "me"]
    both = pd.DataFrame([label("x") | {"judge": "you"}])
    assert read_labels(both)["source"].tolist() == ["me"]


def test_labels_are_noted_only_where_none_has_the_best_grade():
    """Of labels from 0 to 1 the lowest is below the best grade, too."""
    both, low = (pd.DataFrame([label("x", grade), label("y", 0)]) for grade in (1, 0))
    said = "the labels go from 0 to 0, the official grades to 1"
    notes = [str(merge_labels(QRELS, labels).attrs["notes"]) for labels in (both, low)]
    assert [said in note for note in notes] == [False, True]
