"""Reading runs and judgements, on real runs and collections."""

import gzip
import os
from pathlib import Path

import ir_measures
import pandas as pd
import pyarrow as pa
import pyarrow.feather

from pyterrier_asl.io import qrels, runs


def rows(table: pa.Table) -> list[tuple]:
    return list(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def test_real_runs_are_read_as_a_plain_loop_reads_them(data):
    """Every fourth run (all of them with PYTERRIER_ASL_ALL=1)."""
    paths = sorted(data.glob("*/runs/input.*"))
    assert len(paths) >= 205
    for path in paths[:: 1 if os.environ.get("PYTERRIER_ASL_ALL") else 4]:
        content = path.read_bytes()
        content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        lines = [line.split() for line in content.split(b"\n") if line.strip()]
        qids, _, docnos, _, scores, _ = zip(*lines, strict=True)
        table = runs.read_run_table(path)
        assert "\n".join(table["qid"].to_pylist()).encode() == b"\n".join(qids), path
        assert "\n".join(table["docno"].to_pylist()).encode() == b"\n".join(docnos), path
        assert table["score"].to_pylist() == list(map(float, scores)), path


def test_real_runs_are_read_as_pyterrier_reads_them(data):
    import pyterrier as pt

    for path in ("trec8-adhoc/runs/input.CL99SD.gz", "dl20-passage/runs/input.bm25_bert_token.gz"):
        ours, theirs = runs.read_run(data / path), pt.io.read_results(str(data / path))
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
        assert ours.dtypes.drop("name").equals(theirs.dtypes.drop("name"))


def test_real_qrels_are_read_as_ir_measures_reads_them(data):
    for path in ("trec8-adhoc/qrels.txt.gz", "robust03/qrels.txt", "dl20-passage/qrels.txt"):
        content = (data / path).read_bytes()
        text = (gzip.decompress(content) if path.endswith(".gz") else content).decode()
        expected = [(q.query_id, q.doc_id, q.relevance) for q in ir_measures.read_trec_qrels(text)]
        frame = qrels.read_qrels(data / path)
        assert frame["label"].dtype == int
        assert [*frame.itertuples(index=False, name=None)] == expected


def test_qrels_of_ir_datasets(vaswani, tmp_path, monkeypatch):
    expected = [(q.query_id, q.doc_id, q.relevance) for q in vaswani.qrels_iter()]
    for frame in (
        qrels.read_qrels("vaswani"),
        qrels.read_qrels("irds:vaswani"),
        qrels.irds_qrels("vaswani"),
    ):
        assert list(frame.itertuples(index=False, name=None)) == expected
    monkeypatch.chdir(tmp_path)
    Path("vaswani").mkdir()
    assert len(qrels.read_qrels("vaswani")) == len(expected)
    Path("vaswani").rmdir()
    Path("vaswani").write_text("q 0 d 1\n")
    assert len(qrels.read_qrels("vaswani")) == 1, "a file goes before an id"
