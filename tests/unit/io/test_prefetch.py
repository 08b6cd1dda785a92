"""Prefetching: its order, its limit, and its end."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from pyterrier_asl.io.prefetch import PrefetchedFile, prefetch
from pyterrier_asl.io.runs import iter_run_batches
from pyterrier_asl.io.threads import iterate_ahead

TABLES = [pa.table({"n": [number]}) for number in range(100)]


def test_tables_come_in_their_order_once():
    with iterate_ahead(TABLES, 8) as tables:
        file = PrefetchedFile("run", tables)
        assert list(file.take()) == TABLES
        assert file.take() is None


def test_a_large_file_is_read_once_in_advance_and_can_be_read_again(tmp_path):
    """Of 8 MB, most of them a blank."""
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\n" + 1000 * (8400 * " " + "\n"))
    with prefetch({"a": path, "b": path}, iter_run_batches) as sources:
        assert isinstance(sources["a"], PrefetchedFile) and sources["b"] is path
        assert Path(sources["a"]) == path == Path(str(sources["a"]))
        for _ in range(2):
            assert pa.concat_tables(iter_run_batches(sources["a"]))["docno"].to_pylist() == [
                "d1",
                "d2",
            ]


def test_nothing_else_is_read_in_advance(tmp_path):
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 d1 1 2.5 x\n")
    for source in (path, pa.table({"qid": ["q"], "docno": ["d"], "score": [1.0]})):
        with prefetch({"a": source}, iter_run_batches) as sources:
            assert sources["a"] is source
