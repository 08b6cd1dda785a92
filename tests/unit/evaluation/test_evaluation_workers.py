"""Tasks keep all workers busy, and neither results nor rows of files wait in memory."""

from __future__ import annotations

from pathlib import Path

import ir_measures
import pandas as pd
import pytest
from _runs import QRELS, RUNS

from pyterrier_asl import evaluate
from pyterrier_asl.evaluation.measuring import Measuring
from pyterrier_asl.evaluation.workers import _results
from pyterrier_asl.judging.judgements import Judgements


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("tasks", [0, 1, 2, 7, 50])
def test_results_are_in_order_and_twice_as_many_tasks_as_workers_are_submitted(jobs, tasks):
    submitted = []

    def submit(*task):
        submitted.append(task)
        return task

    results = _results(submit, lambda task: task, ((number,) for number in range(tasks)), jobs)
    for number, result in enumerate(results):
        assert result == (number,)
        assert len(submitted) == min(tasks, 2 * jobs + number + 1)
    assert len(submitted) == tasks


def test_of_a_file_no_rows_are_kept(tmp_path):
    """Many files that were measured before the last one would otherwise be in memory."""
    RUNS["bm25"].to_parquet(tmp_path / "bm25.parquet")
    measuring = Measuring(Judgements.of(QRELS), {"AP": ir_measures.AP})
    (block,) = measuring.blocks(tmp_path / "bm25.parquet")
    (whole,) = measuring.blocks(RUNS["bm25"])
    assert len(block.judged.table) <= 1 and len(whole.judged.table) == len(RUNS["bm25"])
    assert block.judged.ranks.tolist() == whole.judged.ranks.tolist()


def write_large(frame: pd.DataFrame, path: Path) -> None:
    """A Parquet file of more than 64 MB, enough for one worker: a hole precedes its footer."""
    frame.to_parquet(path)
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    with path.open("wb") as file:
        file.write(content[:footer])
        file.seek(2**26, 1)
        file.write(content[footer:])


@pytest.mark.parametrize("files", [1, 2, 3])
def test_a_run_in_several_large_files_is_one_run(tmp_path, files):
    """Each file is the task of another worker."""
    run = RUNS["bm25"]
    folder = tmp_path / "name=bm25"
    folder.mkdir()
    for number in range(files):
        part = run[run["qid"].rank(method="dense") % files == number]
        write_large(part, folder / f"{number}.parquet")
    found = evaluate(tmp_path, QRELS, ["AP", "ASL@5"], jobs=2, backend="threading", progress=False)
    pd.testing.assert_frame_equal(found, evaluate({"bm25": run}, QRELS, ["AP", "ASL@5"]))
