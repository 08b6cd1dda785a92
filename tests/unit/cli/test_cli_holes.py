"""The command 'holes'."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from click.testing import CliRunner

from pyterrier_asl.charts.sizes import WIDTHS
from pyterrier_asl.cli import main


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 n 0\np 0 b 1\n")
    rows = {"one": ["q a x y", "p u b"], "two": ["q z x a", "p v w b"]}
    for name, lines in rows.items():
        text = ""
        for line in lines:
            qid, *docs = line.split()
            text += "".join(f"{qid} Q0 {doc} {i} {-i} {name}\n" for i, doc in enumerate(docs, 1))
        (tmp_path / f"{name}.run").write_text(text)
    return [str(tmp_path / name) for name in ("qrels.txt", "one.run", "two.run")]


def call(*arguments):
    return CliRunner().invoke(main, ["holes", *map(str, arguments)])


def test_a_pair_its_list_and_its_labels(files, tmp_path):
    todo = tmp_path / "todo.tsv"
    done = call(*files, "-m", "ASL@3", "--export", todo, "-o", "tsv")
    assert done.exit_code == 0, done.output
    assert "open" in done.stdout
    table = pd.read_csv(todo, sep="\t", dtype=str, keep_default_na=False)
    assert len(table) == 6 and set(table["label"]) == {""}
    table["label"] = "0"
    table.to_csv(todo, sep="\t", index=False)
    done = call(*files, "-m", "ASL@3", "--labels", todo, "-o", "jsonl")
    row = json.loads(done.stdout)
    assert row["verdict"] == "A" and row["unjudged"] == 0 and row["low"] == row["high"]


def test_one_run_is_compared_with_nothing(files):
    done = call(*files[:2])
    assert done.exit_code == 2 and "give two or more" in done.output


@pytest.mark.parametrize("form", ["jsonl", "umbrela", "trec"])
def test_other_forms(files, tmp_path, form):
    todo = tmp_path / "todo"
    assert call(*files, "-m", "AP", "--export", todo, "--form", form, "--most", "3").exit_code == 0
    lines = todo.read_text().splitlines()
    if form == "trec":
        assert len(lines) == 3 and all(line.endswith(" -1") for line in lines)
    elif form == "jsonl":
        assert [json.loads(line)["label"] for line in lines] == [""] * 3
    else:
        requests = [json.loads(line) for line in lines]
        assert sum(len(request["candidates"]) for request in requests) == 3
        assert {request["query"]["qid"] for request in requests} <= {"q", "p"}


def test_all_pairs(files, tmp_path):
    done = call(files[0], tmp_path, "-m", "RR@1", "-o", "tsv")
    assert done.exit_code == 2  # the folder holds the qrels as well
    runs = tmp_path / "runs"
    runs.mkdir()
    for path in files[1:]:
        (runs / path.rpartition("/")[2]).write_text(open(path).read())
    (runs / "three.run").write_text(open(files[1]).read())
    done = call(files[0], runs, "-m", "ASL@3", "-o", "tsv")
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == 4
    assert "3 pairs, 0 settled, 1 equal, 2 open" in done.stderr


def test_a_measure_without_bounds(files):
    done = call(*files, "-m", "Bpref")
    assert done.exit_code == 2 and "Bpref has no bounds" in done.stderr


def test_the_chart_of_many_runs_fits_a_column(tmp_path):
    """More cells than a chart can take as a frame, in a picture with or without title."""
    pytest.importorskip("vl_convert")
    (tmp_path / "qrels.txt").write_text("q 0 a 1\np 0 a 1\n")
    runs = tmp_path / "runs"
    runs.mkdir()
    for number in range(72):
        lines = (f"{qid} Q0 {doc} 1 {len(doc)} r\n" for qid in "qp" for doc in ("a", f"x{number}"))
        (runs / f"{number}.run").write_text("".join(lines))
    chart = tmp_path / "pairs.svg"
    given = ["--chart", chart, "--width", "column", "--no-title"]
    done = call(tmp_path / "qrels.txt", runs, "-m", "P@2", "-o", "tsv", *given)
    assert done.exit_code == 0, done.output
    text = chart.read_text()
    assert "unjudged documents" not in text
    assert float(re.search(r'<svg[^>]*? width="([\d.]+)"', text)[1]) <= WIDTHS["column"]
