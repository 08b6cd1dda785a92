"""What callers declare of tables, and forms of others (declared.py, formats.py)."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pyterrier_asl as asl

HITS = "q,_id,_score\n1,d2,3\n1,d1,2\n"
COLUMNS = "qid=q docno=_id score=_score"
GRADES = {"E": 3, "S": 2, "not relevant": 0}
WORDS = "E=3 S=2 'not relevant'=0"
LABELLED = [("1", "d1", 3), ("1", "d2", 0), ("2", "d1", 2)]


def rows(frame, *names):
    return [*frame[[*names]].itertuples(index=False, name=None)]


@pytest.fixture
def write(tmp_path):
    def write(content, name="a.csv"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.mark.parametrize("columns", [COLUMNS, {"qid": "q", "docno": "_id|id", "score": "_score"}])
def test_names_of_columns_of_runs(write, columns):
    objects = [dict(zip(("q", "_id", "_score"), row)) for row in (["1", "d2", 3], ["1", "d1", 2])]
    frame = pd.DataFrame(objects)
    sources = [write(HITS), write("\n".join(map(json.dumps, objects)), "a.jsonl"), frame]
    pq.write_table(pa.table(frame.to_dict("list")), write("", "a.parquet"))
    for source in [*sources, write("", "b").with_name("a.parquet")]:
        run = asl.read_run(source, columns=columns)
        assert rows(run, "qid", "docno", "score") == [("1", "d2", 3.0), ("1", "d1", 2.0)]
    [run] = asl.read_runs([write(HITS)], columns=columns).values()
    assert run["docno"].tolist() == ["d2", "d1"]


def test_a_given_name_counts_more_than_names_in_use(write):
    path = write("qid,docid,_id,score,place\n1,x,d1,7,2\n1,y,d2,8,1\n")
    assert asl.read_run(path)["docno"].tolist() == ["x", "y"]
    run = asl.read_run(path, columns={"docno": "_id"})
    assert rows(run, "docno", "score") == [("d1", 7.0), ("d2", 8.0)]
    ranked = pd.read_csv(path, dtype={"qid": str}).drop(columns="score")
    run = asl.read_run(ranked, columns={"docno": "_id", "rank": "place"})
    assert rows(run, "docno", "score", "rank") == [("d1", -2.0, 2), ("d2", -1.0, 1)]
    lines = write("1 Q0 d 1 2.5 x\n", "a.run")
    assert asl.read_run(lines, columns=COLUMNS)["docno"].tolist() == ["d"]  # lines have no names


@pytest.mark.parametrize("grades", [GRADES, WORDS])
@pytest.mark.parametrize("read", [asl.read_qrels, asl.read_labels])
def test_grades_of_labels(write, grades, read):
    words = [("1", "d1", "E"), ("1", "d2", "not relevant"), ("2", "d1", "S")]
    table = "".join(f"{qid},{docno},{label}\n" for qid, docno, label in words)
    frame = pd.DataFrame(words, columns=["qid", "docno", "label"])
    sources = [write("qid,docno,label\n" + table), frame, frame.astype({"label": "category"})]
    pq.write_table(pa.table(frame.to_dict("list")), write("", "a.parquet"))
    if read is asl.read_qrels:
        sources.append(write("", "b").with_name("a.parquet"))
    for source in sources:
        assert rows(read(source, grades=grades), "qid", "docno", "label") == LABELLED
    lines = write("1 0 d1 E\n1 0 d2 1\n", "qrels")
    assert read(lines, grades=grades)["label"].tolist() == [3, 1]


def test_grades_of_numbers_name_all_numbers(write):
    path = write("1 0 a 1\n1 0 b 2\n1 0 c 3\n")
    assert asl.read_qrels(path, grades="1=0 2=0 3=1")["label"].tolist() == [0, 0, 1]
    assert asl.read_qrels(path, grades=GRADES)["label"].tolist() == [1, 2, 3]


def test_labels_of_several_judges(write):
    lines = ["qid,docno,label,{}", "1,a,2,x", "1,a,1,y", "1,b,0,x", "1,b,,y", "1,a,2,x"]
    for name in ("judge", "model", "annotator", "worker_id", "rater"):
        path = write("\n".join(lines).format(name) + "\n")
        expected = [("a", 2.0, "x"), ("a", 1.0, "y"), ("b", 0.0, "x")]  # an empty cell is open
        labels = asl.read_labels(path)
        assert rows(labels, "docno", "label", "judge") == rows(labels, "docno", "label", "source")
        assert rows(labels, "docno", "label", "judge") == expected
    judged = write("qid,docno,label,rater\n1,a,2,x\n1,a,1,x\n1,b,2,x\n1,b,1,x\n")
    with pytest.raises(ValueError, match=r"\(and 1 more document\): remove one, or name the judge"):
        asl.read_labels(judged)
    judged = write("qid,docno,label,rater\n1,a,2,x\n1,a,1,y\n")
    assert rows(asl.read_qrels(judged), "label", "judge") == [(2, "x"), (1, "y")]


def test_a_run_of_colbert_has_ranks(write):
    run = asl.read_run(write("1\t12\t1\t20.0\n1\t7\t2\t19.5\n2\t12\t1\t9\n"))
    assert rows(run, "qid", "docno", "rank", "score")[1] == ("1", "7", 2, 19.5)
