"""Prefetching: what is read, how much of it, and that it ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import pyterrier_asl.io.prefetch
from pyterrier_asl.io.prefetch import PrefetchedFile, begun
from pyterrier_asl.io.runs import iter_run_batches


@pytest.fixture
def threads():
    with ThreadPoolExecutor(1) as threads:
        yield threads


TABLES = [pa.table({"n": [number]}) for number in range(100)]


def test_tables_come_in_their_order_once(threads):
    ahead = PrefetchedFile("run", iter(TABLES), threads)
    begun = ahead.take()
    assert begun is not None
    assert list(begun) == TABLES
    assert ahead.take() is None


def test_no_more_is_read_than_fits(monkeypatch, threads):
    read = []

    def tables():
        for table in TABLES:
            read.append(table)
            yield table

    monkeypatch.setattr(pyterrier_asl.io.prefetch, "_TABLES", 6)
    with PrefetchedFile("run", tables(), threads) as ahead:
        begun = ahead.take()
        assert begun is not None
        next(begun)
    assert len(read) <= 8  # 6, the one taken, and one for it
    threads.submit(int).result(60)  # a thread is free


def test_a_file_that_nobody_takes_is_in_nobodys_way(threads):
    ahead = [PrefetchedFile(str(n), iter(TABLES), threads) for n in range(3)]
    for each in reversed(ahead):
        with each:
            pass
    assert [each.take() for each in ahead] == [None] * 3
    threads.submit(int).result(60)


def test_an_error_comes_where_it_is(threads):
    def tables():
        yield TABLES[0]
        raise ValueError("line 7")

    begun = PrefetchedFile("run", tables(), threads).take()
    assert begun is not None
    assert next(begun) == TABLES[0]
    with pytest.raises(ValueError, match="line 7"):
        next(begun)


def test_a_large_file_is_read_once_in_advance_and_can_be_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(pyterrier_asl.io.prefetch, "LARGE", 10)
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\n")
    with begun({"a": path, "b": path}, iter_run_batches) as sources:
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
        with begun({"a": source}, iter_run_batches) as sources:
            assert sources["a"] is source
