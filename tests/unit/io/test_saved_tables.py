"""Saved files with wrong contents and a correct digest."""

from __future__ import annotations

import json
import re

import numpy as np
import pyarrow as pa
import pytest
import small

from pyterrier_asl import DocLengths, RarenessPool
from pyterrier_asl.io.saved_tables import load_table, save_table

pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 8")


def changed(name, change):
    """The table with one column replaced."""

    def apply(table: pa.Table) -> pa.Table:
        at = table.column_names.index(name)
        return table.set_column(at, name, change(table[name]))

    return apply


def values(change):
    """Other values of the same type."""

    def apply(column: pa.ChunkedArray) -> pa.ChunkedArray:
        return pa.chunked_array([pa.array(change(column.to_pylist()), column.type)])

    return apply


def not_unicode(column: pa.ChunkedArray) -> pa.ChunkedArray:
    array = column.combine_chunks()
    _, offsets, text = array.buffers()
    wrong = pa.py_buffer(b"\xff" * text.size)
    return pa.chunked_array([pa.Array.from_buffers(array.type, len(array), [None, offsets, wrong])])


def about(key: bytes, **more):
    """The table with other metadata."""

    def apply(table: pa.Table) -> pa.Table:
        metadata = dict(table.schema.metadata)
        known = {**json.loads(metadata[key]), **more}
        known = {name: value for name, value in known.items() if value != "gone"}
        return table.replace_schema_metadata({**metadata, key: json.dumps(known)})

    return apply


def lies(path, kind, change):
    """Writes the file again with a change and the digest of the changed content."""
    table = load_table(path, kind=kind, version=1)
    save_table(change(table), path, kind=kind, version=1)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop_columns("rank"),
        lambda table: table.append_column("more", table["rank"]),
        lambda table: table.replace_schema_metadata(),
        changed("rank", lambda ranks: ranks.cast(pa.int32())),
        changed("rank", values(lambda ranks: [rank * 10**15 for rank in ranks])),
        changed("rank", values(lambda ranks: [-rank for rank in ranks])),
        changed("rank", values(lambda ranks: ranks[::-1])),
        changed("rank", values(lambda ranks: [None, *ranks[1:]])),
        changed("docno", values(lambda docnos: ["d0"] * len(docnos))),
        changed("docno", values(lambda docnos: [None, *docnos[1:]])),
        changed("docno", lambda docnos: docnos.cast(pa.large_binary())),
        changed("docno", not_unicode),
        changed("qid", values(lambda qids: qids[::-1])),
        changed("run", values(lambda runs: ["r", *runs[1:]])),
        about(b"pool", depth=0),
        about(b"pool", depth="ten"),
        about(b"pool", depth=2),
        about(b"pool", depth="gone"),
        about(b"pool", groups={"nobody": "g"}),
        about(b"pool", groups={"y": 7}),
        about(b"pool", groups=[1]),
        about(b"pool", name=7),
        about(b"pool", name=""),
    ],
)
def test_pools_that_lie(tmp_path, change):
    path = tmp_path / "pool.parquet"
    RarenessPool.from_runs(small.TWO_RUNS, depth=5).save(path)
    lies(path, RarenessPool.KIND, lambda table: table)
    RarenessPool.load(path)
    lies(path, RarenessPool.KIND, change)
    with pytest.raises(ValueError, match=re.escape(f"{path} is not a rareness pool file")):
        RarenessPool.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop_columns("docno"),
        lambda table: table.replace_schema_metadata(),
        changed("doc_len", values(lambda lengths: [-1.0, *lengths[1:]])),
        changed("doc_len", values(lambda lengths: [np.inf, *lengths[1:]])),
        changed("doc_len", values(lambda lengths: [None, *lengths[1:]])),
        changed("doc_len", lambda lengths: lengths.cast(pa.string())),
        changed("docno", values(lambda docnos: ["d1"] * len(docnos))),
        changed("docno", values(lambda docnos: [None, *docnos[1:]])),
        changed("docno", not_unicode),
        about(b"lengths", name="gone"),
    ],
)
def test_lengths_that_lie(tmp_path, change):
    path = tmp_path / "lengths.parquet"
    DocLengths.from_dict({f"d{i}": i * 0.5 for i in range(9)}).save(path)
    lies(path, DocLengths.KIND, change)
    with pytest.raises(ValueError, match=re.escape(f"{path} is not a document lengths file")):
        DocLengths.load(path)
