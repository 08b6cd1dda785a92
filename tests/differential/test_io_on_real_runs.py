"""Reading runs and judgements, on real runs and collections."""

import os
from pathlib import Path

import ir_measures
import pandas as pd
from _files import read_lines

from pyterrier_asl.io import qrels, runs


def test_real_runs_are_read_as_a_plain_loop_reads_them(data):
    """Every fourth run (all of them with PYTERRIER_ASL_ALL=1)."""
    paths = sorted(data.glob("*/runs/input.*"))
    assert len(paths) >= 205
    for path in paths[:: 1 if os.environ.get("PYTERRIER_ASL_ALL") else 4]:
        qids, _, docnos, _, scores, _ = zip(*read_lines(path), strict=True)
        table = runs.read_run_table(path)
        assert table["qid"].to_pylist() == [*qids], path
        assert table["docno"].to_pylist() == [*docnos], path
        assert table["score"].to_pylist() == list(map(float, scores)), path


def test_real_runs_are_read_as_pyterrier_reads_them(data):
    import pyterrier as pt

    for path in ("trec8-adhoc/runs/input.CL99SD.gz", "dl20-passage/runs/input.bm25_bert_token.gz"):
        ours, theirs = runs.read_run(data / path), pt.io.read_results(str(data / path))
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
        assert ours.dtypes.drop("name").equals(theirs.dtypes.drop("name"))


def test_real_qrels_are_read_as_ir_measures_reads_them(data):
    for path in ("trec8-adhoc/qrels.txt.gz", "robust03/qrels.txt", "dl20-passage/qrels.txt"):
        text = "\n".join(map(" ".join, read_lines(data / path)))
        expected = [(q.query_id, q.doc_id, q.relevance) for q in ir_measures.read_trec_qrels(text)]
        frame = qrels.read_qrels(data / path)
        assert frame["label"].dtype == int
        assert [*frame.itertuples(index=False, name=None)] == expected


def test_qrels_of_ir_datasets(vaswani, tmp_path, monkeypatch):
    expected = [(q.query_id, q.doc_id, q.relevance) for q in vaswani.qrels_iter()]
    named = (qrels.read_qrels("vaswani"), qrels.read_qrels("irds:vaswani"))
    for frame in (*named, qrels.irds_qrels("vaswani")):
        assert list(frame.itertuples(index=False, name=None)) == expected
    monkeypatch.chdir(tmp_path)
    Path("vaswani").mkdir()
    assert len(qrels.read_qrels("vaswani")) == len(expected)
    Path("vaswani").rmdir()
    Path("vaswani").write_text("q 0 d 1\n")
    assert len(qrels.read_qrels("vaswani")) == 1, "a file goes before an id"
