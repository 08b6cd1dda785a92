"""Reading ahead: what is read, how much of it, and that it ends."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest

import pyterrier_asl.ahead
from pyterrier_asl.ahead import Ahead
from pyterrier_asl.io import begin_run, iter_run_batches

TABLES = [pa.table({"n": [number]}) for number in range(100)]


def test_tables_come_in_their_order_once():
    ahead = Ahead("run", iter(TABLES))
    begun = ahead.take()
    assert begun is not None
    assert list(begun) == TABLES
    assert ahead.take() is None


def test_no_more_is_read_than_fits(monkeypatch):
    read = []

    def tables():
        for table in TABLES:
            read.append(table)
            yield table

    monkeypatch.setattr(pyterrier_asl.ahead, "_AHEAD", 6)
    before = threading.active_count()
    with Ahead("run", tables()) as ahead:
        begun = ahead.take()
        assert begun is not None
        next(begun)
    assert len(read) <= 8  # 6, the one taken, and one for it
    assert threading.active_count() == before


def test_an_error_comes_where_it_is():
    def tables():
        yield TABLES[0]
        raise ValueError("line 7")

    begun = Ahead("run", tables()).take()
    assert begun is not None
    assert next(begun) == TABLES[0]
    with pytest.raises(ValueError, match="line 7"):
        next(begun)


def test_a_file_can_be_read_again(tmp_path):
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\n")
    run = begin_run(path)
    assert isinstance(run, Ahead)
    assert Path(run) == path == Path(str(run))
    assert begin_run(run) is run
    for _ in range(2):
        assert pa.concat_tables(iter_run_batches(run))["docno"].to_pylist() == ["d1", "d2"]


def test_what_is_no_file_stays_as_it_is():
    table = pa.table({"qid": ["q"], "docno": ["d"], "score": [1.0]})
    assert begin_run(table) is table
