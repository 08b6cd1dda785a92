"""The command 'holes'."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from click.testing import CliRunner

from pyterrier_asl.charts.saving import WIDTHS
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


@pytest.mark.parametrize("highest", ["nan", "1e400", "1e15"])
def test_a_best_grade_that_no_scale_has(files, highest):
    done = call(*files, "-m", "nDCG@3", "--highest", highest)
    assert done.exit_code == 2 and "from 0 to the best grade, at most 1000, not" in done.output


@pytest.mark.parametrize(
    "asked",
    [
        ["judges", "--judge", "it={0}"],
        ["compare", "--test", "randomization"],
        ["demo"],
    ],
)
def test_seeds_are_whole_numbers(files, asked):
    command, *options = (word.format(*files) for word in asked)
    more = [] if command == "demo" else files
    done = CliRunner().invoke(main, [command, *more, *options, "--seed", "-1"])
    assert done.exit_code == 2 and "Invalid value for '--seed': -1" in done.output


def test_a_chart_is_of_all_pairs(files, tmp_path):
    done = call(*files, "-m", "AP", "--chart", tmp_path / "page.html")
    assert done.exit_code == 2 and "--chart draws all pairs of three runs or more" in done.output


@pytest.mark.slow
def test_no_list_takes_the_place_of_what_is_read_or_of_another_kind(files, tmp_path):
    before = {path: open(path).read() for path in files}
    for path in files:
        for options in ([], ["--form", "tsv"], ["--force"]):
            done = call(*files, "-m", "AP", "--export", path, *options)
            assert done.exit_code == 2 and "it is one of the inputs" in done.output
            assert not done.stdout
    assert {path: open(path).read() for path in files} == before
    todo = {form: tmp_path / f"my.{form}" for form in ("tsv", "jsonl", "umbrela", "trec")}
    for form, path in todo.items():
        assert call(*files, "-m", "AP", "--export", path).exit_code == 0
        done = call(*files, "-m", "AP", "--export", path)
        assert done.exit_code == (2 if form == "trec" else 0)
        path.write_text("my notes\n")
        done = call(*files, "-m", "AP", "--export", path)
        assert done.exit_code == 2 and f"{path}: it holds something else" in done.output
        assert path.read_text() == "my notes\n"
        assert call(*files, "-m", "AP", "--export", path, "--force").exit_code == 0
        assert path.read_text() != "my notes\n"
    labels = ["--labels", todo["tsv"], "--export", todo["tsv"]]
    assert "it is one of the inputs" in call(*files, "-m", "AP", *labels).output
    page = tmp_path / "page.html"
    page.write_text("my notes")
    for chart, why in ((page, "holds something else"), (tmp_path / "page.doc", "must end in one")):
        done = call(*files, "-m", "AP", "--chart", chart)
        assert done.exit_code == 2 and why in done.output and not done.stdout


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


@pytest.mark.slow
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
