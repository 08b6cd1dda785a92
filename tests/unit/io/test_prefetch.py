"""Reading ahead: what is read, how much of it, and that it ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import pyterrier_asl.io.prefetch
from pyterrier_asl.io.prefetch import PrefetchedFile, map_ahead, prefetch
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


def test_a_file_can_be_read_again(tmp_path):
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\n")
    [run] = prefetch([path], iter_run_batches)
    assert isinstance(run, PrefetchedFile)
    assert Path(run) == path == Path(str(run))
    for _ in range(2):
        assert pa.concat_tables(iter_run_batches(run))["docno"].to_pylist() == ["d1", "d2"]


def test_what_is_no_file_stays_as_it_is():
    table = pa.table({"qid": ["q"], "docno": ["d"], "score": [1.0]})
    assert list(prefetch([table], iter_run_batches)) == [table]


def test_only_so_many_files_are_prefetched(tmp_path, monkeypatch):
    monkeypatch.setattr(pyterrier_asl.io.prefetch, "_FILES", 3)
    begun = []

    def read(path):
        begun.append(path)
        return iter(TABLES[:1])

    sources = prefetch((f"run{number}" for number in range(20)), read)
    assert str(next(sources)) == "run0"
    sources.close()
    assert len(begun) <= 4


def test_map_ahead_keeps_the_order_and_is_bounded():
    asked = []

    def items():
        for number in range(20):
            asked.append(number)
            yield number

    results = map_ahead(lambda number: -number, items(), threads=2, ahead=3)
    assert next(results) == (0, 0)
    assert len(asked) == 4
    assert list(results) == [(number, -number) for number in range(1, 20)]


def test_map_ahead_raises_where_the_result_would_come():
    results = map_ahead(lambda number: 1 // number, [1, 0, 1], threads=2, ahead=2)
    assert next(results) == (1, 1)
    with pytest.raises(ZeroDivisionError):
        next(results)
