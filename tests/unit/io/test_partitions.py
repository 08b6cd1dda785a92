"""Runs in blocks, in several files and on several workers have the values of whole runs."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _runs import DEPTH, MEASURES, POOL, QRELS, RUNS
from ir_measures import AP, infAP

from pyterrier_asl import ASL, TBG, AP_Rareness, evaluate
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.io import partitions
from pyterrier_asl.io.partitions import PartitionedRun, RunFile, partitioned_runs
from pyterrier_asl.io.runs import list_runs, read_run_table


@pytest.fixture
def small_blocks(monkeypatch):
    """Sets blocks of two queries, one file per chunk: 65,536 rows per block are slow to check."""
    monkeypatch.setattr(partitions, "BLOCK_ROWS", 2 * DEPTH)
    monkeypatch.setattr("pyterrier_asl.io.files.BLOCK_ROWS", 17)
    monkeypatch.setattr(partitions, "_CHUNK_BYTES", 1)


@pytest.fixture(scope="module")
def expected():
    return evaluate(RUNS, QRELS, MEASURES, progress=False)


def partitioned(folder, by):
    """The runs as PyArrow partitions them."""
    whole = pd.concat([run.assign(name=name) for name, run in RUNS.items()])
    pq.write_to_dataset(pa.Table.from_pandas(whole, preserve_index=False), folder, by)
    return folder


def test_a_file_in_blocks(tmp_path, small_blocks, expected):
    for name, run in RUNS.items():
        run.to_parquet(tmp_path / f"{name}.parquet")
    found = evaluate(tmp_path, QRELS, MEASURES, progress=False)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-12)


def test_queries_that_do_not_lie_together_are_read_as_one(tmp_path, small_blocks, expected):
    for name, run in RUNS.items():
        run.sort_values("docno").to_parquet(tmp_path / f"{name}.parquet")
    found = evaluate(tmp_path, QRELS, MEASURES, progress=False)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-12)


@pytest.mark.parametrize("by", [["name"], ["name", "qid"]])
def test_partitioned_data_sets(tmp_path, small_blocks, expected, by):
    found = evaluate(partitioned(tmp_path / "runs", by), QRELS, MEASURES, progress=False)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-12)


@pytest.mark.parametrize("by", [["name"], ["name", "qid"]])
def test_partitioned_data_sets_with_bounds(tmp_path, by):
    folder = partitioned(tmp_path / "runs", by)
    expected = evaluate(RUNS, QRELS, [AP, ASL @ 10], bounds=True)
    pd.testing.assert_frame_equal(
        evaluate(folder, QRELS, [AP, ASL @ 10], bounds=True), expected, rtol=1e-12
    )
    one = {"bm25": folder / "name=bm25"}
    assert Evaluation.of(one, QRELS).values(AP).tolist() == [
        expected[expected["name"] == "bm25"]["AP"].tolist()
    ]


def test_a_run_in_files_of_whole_queries(tmp_path, small_blocks, expected):
    folder = tmp_path / "bm25"
    folder.mkdir()
    for part in range(4):
        rows = slice(part * 10 * DEPTH, (part + 1) * 10 * DEPTH)
        RUNS["bm25"][rows].to_parquet(folder / f"part-{part}.parquet")
    (folder / "_SUCCESS").touch()
    runs = {**RUNS, "bm25": folder}
    for jobs in (1, 2):
        found = evaluate(runs, QRELS, MEASURES, jobs=jobs, progress=False)
        pd.testing.assert_frame_equal(found, expected, rtol=1e-12)


def test_what_a_data_set_holds(tmp_path):
    folder = partitioned(tmp_path / "runs", ["name", "qid"])
    runs = partitioned_runs(folder)
    assert list(runs) == list(RUNS) == list(list_runs(folder))
    table = read_run_table(runs["dph"])
    assert set(table["qid"].to_pylist()) == set(RUNS["dph"]["qid"])  # '07' stays '07'
    assert (
        table["doc_len"].to_pylist()
        == RUNS["dph"].sort_values("qid", kind="stable")["doc_len"].tolist()
    )
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="holds no Parquet files"):
        partitioned_runs(tmp_path / "none")
    with pytest.raises(ValueError, match="holds 3 runs .*pass the folder itself"):
        list_runs({"one": folder})


def test_a_data_set_at_the_command_line(tmp_path, small_blocks, expected):
    QRELS.to_parquet(tmp_path / "qrels.parquet")
    runs = [partitioned(tmp_path / "runs", ["name"])]
    done = evaluate(runs, str(tmp_path / "qrels.parquet"), ["ASL@20"])
    assert done["name"].unique().tolist() == list(RUNS)
    assert done["ASL@20"].tolist() == expected["ASL@20"].tolist()


def test_chunks_hold_every_file_once(tmp_path, monkeypatch):
    """Of 20 kB: the usual chunk of 64 MB would need as large a data set."""
    monkeypatch.setattr(partitions, "_CHUNK_BYTES", 20_000)
    for run in partitioned_runs(partitioned(tmp_path / "runs", ["name", "qid"])).values():
        assert isinstance(run, PartitionedRun)
        chunks = run.chunks()
        assert 2 < len(chunks) < len(run.parts)
        assert tuple(part for chunk in chunks for part in chunk.parts) == run.parts
        for *before, last in [chunk.parts for chunk in chunks[:-1]]:
            size = sum(part.path.stat().st_size for part in before)
            assert size < 20_000 <= size + last.path.stat().st_size


def test_a_chunk_ends_with_the_file_that_fills_it(tmp_path, monkeypatch):
    """Of 20 bytes instead of 64 MB."""
    monkeypatch.setattr(partitions, "_CHUNK_BYTES", 20)
    chunks = [[10, 10], [5, 15], [1, 30], [19, 1], [20], [3]]
    parts = []
    for number, size in enumerate(size for chunk in chunks for size in chunk):
        path = tmp_path / f"part-{number}.parquet"
        path.write_bytes(bytes(size))
        parts.append(RunFile(path))
    found = PartitionedRun(tmp_path, tuple(parts)).chunks()
    assert [[part.path.stat().st_size for part in chunk.parts] for chunk in found] == chunks


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"qid": "x"}, "the run answers none of the .* judged queries"),
        ({"docno": "x"}, "none of the documents of the run is judged"),
    ],
)
def test_errors_in_blocks(tmp_path, small_blocks, rows, message):
    run = RUNS["bm25"].assign(**rows)
    if "docno" in rows:
        run["docno"] = [f"x{number}" for number in range(len(run))]
    run.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=f"run 'a': {message}"):
        evaluate(tmp_path, QRELS, ASL, progress=False)


def test_a_wrong_row_is_counted_from_the_first(tmp_path, small_blocks):
    run = RUNS["bm25"].copy()
    run.loc[700, "score"] = np.nan
    run.to_parquet(tmp_path / "a.parquet")
    message = r"column score of .*a.parquet is not a number .* in row 700;"
    with pytest.raises(ValueError, match=message):
        read_run_table(tmp_path / "a.parquet")


# Invalid data sets


def put(folder, run=RUNS["bm25"]):
    """Adds a file to a run."""
    folder.mkdir(parents=True, exist_ok=True)
    run.to_parquet(folder / f"part-{len(list(folder.iterdir()))}.parquet")


@pytest.mark.parametrize("place", ["model=bm25", "fold=1/name=bm25", "name=bm25/old"])
def test_runs_in_folders_of_other_names_are_not_taken_for_one(tmp_path, place):
    put(tmp_path / "name=a")
    put(tmp_path / place)
    with pytest.raises(ValueError, match="'(model=bm25|fold=1|old)'.*name=.* or qid="):
        partitioned_runs(tmp_path)


@pytest.mark.parametrize("name", ["b.run", "name=a/000000_0"])
def test_files_of_other_names_are_not_left_out(tmp_path, name):
    put(tmp_path / "name=a")
    (tmp_path / name).write_text("q Q0 d 1 1 r\n")
    with pytest.raises(ValueError, match=f"{name} does not end in .parquet"):
        partitioned_runs(tmp_path)


def test_a_run_without_a_name(tmp_path):
    put(tmp_path / "name=__HIVE_DEFAULT_PARTITION__")
    with pytest.raises(ValueError, match="name=__HIVE_DEFAULT_PARTITION__.* has no name"):
        partitioned_runs(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_folders_that_are_links(tmp_path):
    put(tmp_path / "elsewhere")
    (tmp_path / "runs").mkdir()
    for name in "ab":
        (tmp_path / "runs" / f"name={name}").symlink_to(tmp_path / "elsewhere")
    assert list(partitioned_runs(tmp_path / "runs")) == ["a", "b"]


@pytest.mark.parametrize("column", ["qid", "query_id"])
def test_a_query_that_is_in_folder_and_file(tmp_path, column):
    """Polars writes both. If they differ, it is an error."""
    run = RUNS["bm25"][:DEPTH].drop(columns="qid")
    for qid, number in (("007", 0), (7, 1)):
        put(tmp_path / "a" / "qid=007", run.assign(**{column: qid}))
        [found] = partitioned_runs(tmp_path / "a").values()
        if not number:
            assert read_run_table(found)["qid"].to_pylist() == ["007"] * DEPTH
    with pytest.raises(ValueError, match="part-1.parquet holds query '7', its folder '007'"):
        read_run_table(found)


def test_a_part_that_is_empty_or_has_other_columns(tmp_path, small_blocks):
    run = RUNS["bm25"]
    for rows in (run[: 9 * DEPTH], run[:0], run[9 * DEPTH :].drop(columns="doc_len"), run[:0]):
        put(tmp_path / "name=a", rows)
    asked = [ASL @ 20, AP, AP_Rareness(pool=POOL) @ 10]
    found = evaluate(tmp_path, QRELS, asked, progress=False)
    whole = evaluate({"a": run}, QRELS, asked, progress=False)
    pd.testing.assert_frame_equal(found, whole, rtol=1e-12)
    with pytest.raises(ValueError, match="TBG needs the length of every retrieved document"):
        evaluate(tmp_path, QRELS, TBG, progress=False)
    put(tmp_path / "name=a", run.rename(columns={"docno": "document"}))
    with pytest.raises(ValueError, match="part-4.parquet has no column docno or doc_id; it has"):
        evaluate(tmp_path, QRELS, asked, progress=False)
    (tmp_path / "name=a" / "part-4.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match="part-4.parquet is empty: it has 0 bytes"):
        evaluate(tmp_path, QRELS, asked, progress=False)


@pytest.mark.parametrize("asked", [ASL, AP, infAP, TBG, AP_Rareness @ 5])
def test_a_run_of_files_without_rows(tmp_path, asked):
    put(tmp_path / "a", RUNS["bm25"][:0])
    for runs in ({"a": tmp_path / "a" / "part-0.parquet"}, {"a": tmp_path / "a"}):
        with pytest.raises(ValueError, match="run 'a': the run is empty: it has no rows"):
            evaluate(runs, QRELS, asked, progress=False)


def test_several_runs_in_one_file_are_not_taken_for_one(tmp_path):
    """A file with the rows of several runs is an error."""
    whole = pd.concat([run.assign(name=name) for name, run in RUNS.items()])
    whole.to_parquet(tmp_path / "all.parquet", row_group_size=DEPTH)
    with pytest.raises(ValueError, match="all.parquet holds several runs .*'bm25'.*'dph'"):
        evaluate(tmp_path, QRELS, ASL, progress=False)
    RUNS["bm25"].assign(name="x").to_parquet(tmp_path / "all.parquet", row_group_size=DEPTH)
    assert evaluate(tmp_path, QRELS, ASL, progress=False)["name"].unique().tolist() == ["all"]
