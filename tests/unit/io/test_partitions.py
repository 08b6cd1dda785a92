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
from pyterrier_asl.io.files import PartitionedRun, RunFile, partitioned_runs
from pyterrier_asl.io.runs import list_runs, read_run_table


def enlarge(path):
    """Makes a Parquet file larger than 64 MB, by a hole before its footer that nobody reads."""
    content = path.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    with path.open("wb") as file:
        file.write(content[:-footer])
        file.seek(1 << 26, os.SEEK_CUR)
        file.write(content[-footer:])


def copies(frame, number=120):
    """A frame with the queries 07-0, 07-1, ... for the query 07."""
    many = pd.concat([frame.assign(qid=frame["qid"] + f"-{n}") for n in range(number)])
    return many.reset_index(drop=True)


@pytest.fixture(scope="module")
def expected():
    return evaluate(RUNS, QRELS, MEASURES, progress=False)


def partitioned(folder, by):
    """The runs as PyArrow partitions them."""
    whole = pd.concat([run.assign(name=name) for name, run in RUNS.items()])
    pq.write_to_dataset(pa.Table.from_pandas(whole, preserve_index=False), folder, by)
    return folder


@pytest.mark.parametrize("order", ["qid", "docno"])
def test_a_file_in_blocks(tmp_path, expected, order):
    """144,000 rows are three blocks, or one if the rows of a query are not adjacent."""
    run = copies(RUNS["bm25"]).sort_values(order, kind="stable")
    run.to_parquet(tmp_path / "bm25.parquet")
    measures = [ASL @ 20, AP, TBG]
    found = evaluate(tmp_path, copies(QRELS), measures, progress=False)
    of_one = expected[expected["name"] == "bm25"].set_index("qid")
    assert len(found) == 120 * len(of_one)
    for measure in map(str, measures):
        of_copies = of_one[measure].loc[found["qid"].str.rpartition("-")[0]]
        np.testing.assert_allclose(found[measure], of_copies, rtol=1e-12)


@pytest.mark.parametrize("by", [["name"], ["name", "qid"]])
def test_partitioned_data_sets(tmp_path, expected, by):
    folder = partitioned(tmp_path / "runs", by)
    for path in folder.glob("name=dph/*/*.parquet"):
        enlarge(path)  # each file is read alone
    found = evaluate(folder, QRELS, MEASURES, progress=False)
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


def test_a_run_in_files_of_whole_queries(tmp_path, expected):
    folder = tmp_path / "bm25"
    folder.mkdir()
    for part in range(4):
        rows = slice(part * 10 * DEPTH, (part + 1) * 10 * DEPTH)
        RUNS["bm25"][rows].to_parquet(folder / f"part-{part}.parquet")
        enlarge(folder / f"part-{part}.parquet")
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


def test_a_data_set_at_the_command_line(tmp_path, expected):
    QRELS.to_parquet(tmp_path / "qrels.parquet")
    runs = [partitioned(tmp_path / "runs", ["name"])]
    done = evaluate(runs, str(tmp_path / "qrels.parquet"), ["ASL@20"])
    assert done["name"].unique().tolist() == list(RUNS)
    assert done["ASL@20"].tolist() == expected["ASL@20"].tolist()


def test_a_chunk_ends_with_the_file_that_fills_it(tmp_path):
    """A chunk has 16 units of 4 MiB."""
    unit = 1 << 22
    chunks = [[8, 8], [4, 12], [1, 24], [15, 1], [16], [3]]
    parts = []
    for number, size in enumerate(size for chunk in chunks for size in chunk):
        path = tmp_path / f"part-{number}.parquet"
        path.touch()
        os.truncate(path, size * unit)
        parts.append(RunFile(path))
    found = PartitionedRun(tmp_path, tuple(parts)).chunks()
    sizes = [[part.path.stat().st_size // unit for part in chunk.parts] for chunk in found]
    assert sizes == chunks


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"qid": "x"}, "the run answers none of the .* judged queries"),
        ({"docno": "x"}, "none of the documents of the run is judged"),
    ],
)
def test_errors_in_blocks(tmp_path, rows, message):
    run = copies(RUNS["bm25"]).assign(**rows)
    if "docno" in rows:
        run["docno"] = [f"x{number}" for number in range(len(run))]
    run.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=f"run 'a': {message}"):
        evaluate(tmp_path, copies(QRELS), ASL, progress=False)


def test_a_wrong_row_is_counted_from_the_first(tmp_path):
    run = copies(RUNS["bm25"])
    run.loc[70_007, "score"] = np.nan
    run.to_parquet(tmp_path / "a.parquet")
    message = r"column score of .*a.parquet is not a number .* in row 70007;"
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


def test_a_part_that_is_empty_or_has_other_columns(tmp_path):
    run = RUNS["bm25"]
    for rows in (run[: 9 * DEPTH], run[:0], run[9 * DEPTH :].drop(columns="doc_len"), run[:0]):
        put(tmp_path / "name=a", rows)
    for path in (tmp_path / "name=a").iterdir():
        enlarge(path)
    asked = [ASL @ 20, AP, AP_Rareness(pool=POOL) @ 10]
    found = evaluate(tmp_path, QRELS, asked, progress=False)
    whole = evaluate({"a": run}, QRELS, asked, progress=False)
    pd.testing.assert_frame_equal(found, whole, rtol=1e-12)
    with pytest.raises(ValueError, match="retrieved documents have no known length"):
        evaluate(tmp_path, QRELS, TBG, progress=False)
    put(tmp_path / "name=a", run.rename(columns={"docno": "document"}))
    with pytest.raises(
        ValueError, match="part-4.parquet: there is no column docno or doc_id; there are"
    ):
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
