"""The command 'holes'."""

import json

import numpy as np
import pandas as pd
import pytest
from _files import write_run
from click.testing import CliRunner

import pyterrier_asl as asl
from pyterrier_asl.cli import main


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 n 0\np 0 b 1\n")
    for name, (q, p) in {"one": ("axy", "ub"), "two": ("zxa", "vwb")}.items():
        run = {"q": dict(zip(q, (3, 2, 1))), "p": dict(zip(p, (3, 2, 1)))}
        write_run(run, tmp_path / f"{name}.run")
    return [str(tmp_path / name) for name in ("qrels.txt", "one.run", "two.run")]


def call(*arguments):
    return CliRunner().invoke(main, ["holes", *map(str, arguments)])


def test_no_list_takes_the_place_of_what_is_read_or_of_another_kind(files, tmp_path):
    before = {path: open(path).read() for path in files}
    for path in files:
        done = call(*files, "-m", "AP", "--export", path, "--force")
        assert done.exit_code == 2 and "it is one of the inputs" in done.output
        assert not done.stdout
    assert {path: open(path).read() for path in files} == before
    mine, page = tmp_path / "mine", tmp_path / "page.html"
    for path in (mine, page):
        path.write_text("my notes\n")
    for option, path, why in (
        ("--export", mine, f"{mine}: it holds something else"),
        ("--chart", page, "holds something else"),
        ("--chart", tmp_path / "page.doc", "must end in one"),
    ):
        done = call(*files, "-m", "AP", option, path)
        assert done.exit_code == 2 and why in done.output and not done.stdout
    assert call(*files, "-m", "AP", "--export", mine, "--force").exit_code == 0
    call(*files, "-m", "AP", "--show", "pairs", "--chart", tmp_path / "pairs.html")
    assert "documents leave open" in (tmp_path / "pairs.html").read_text()  # not by query
    assert mine.read_text().startswith("qid\tdocno")


@pytest.mark.slow
def test_a_chart_has_many_runs(tmp_path):
    """The matrix has more cells than Altair accepts as a frame; with and without title."""
    pytest.importorskip("vl_convert")
    (tmp_path / "qrels.txt").write_text("q 0 a 1\np 0 a 1\n")
    runs = tmp_path / "runs"
    runs.mkdir()
    for number in range(72):
        lines = (f"{qid} Q0 {doc} 1 {len(doc)} r\n" for qid in "qp" for doc in ("a", f"x{number}"))
        (runs / f"{number}.run").write_text("".join(lines))
    chart = tmp_path / "pairs.svg"
    given = ["--chart", chart, "--no-title"]
    done = call(tmp_path / "qrels.txt", runs, "-m", "P@2", "-o", "tsv", *given)
    assert done.exit_code == 0, done.output
    text = chart.read_text()
    assert "unjudged documents" not in text


# Filled lists


def test_a_second_round_keeps_the_labels_and_lists_what_is_open(files, tmp_path):
    """Two of six documents are labelled, and without --labels nothing overwrites that."""
    path = tmp_path / "todo.jsonl"
    listing = [*files, "-m", "ASL@3", "--export", path]
    assert call(*listing).exit_code == 0
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    labelled = [row | {"label": grade} for row, grade in zip(rows, (1, 0))]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*labelled, *rows[2:]]))
    before = path.read_bytes()
    for options in ([], ["--force"]):
        done = call(*listing, *options)
        says = "it holds 2 labels; to keep them read the file by --labels"
        assert done.exit_code == 2 and says in done.stderr and path.read_bytes() == before
    done = call(*listing, "--labels", path)
    assert done.exit_code == 0, done.output
    again = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["label"] for row in again] == [1, 0, *[""] * (len(again) - 2)]
    docnos = [row["docno"] for row in again]
    assert docnos[:2] == [row["docno"] for row in labelled]
    assert len(rows) == 6 and {*docnos} <= {row["docno"] for row in rows}
    assert f"{len(again) - 2} documents to judge" in done.stderr
    second = path.read_bytes()
    assert call(*listing, "--labels", path).exit_code == 0 and path.read_bytes() == second


def write_label(path, label):
    with open(path, "a") as file:
        file.write(json.dumps(label) + "\n")


def test_labels_are_matched_as_the_qrels_are(files, tmp_path):
    """Passages, and grades that are words, in a table with other names of columns."""
    qrels, *runs = files
    (tmp_path / "words.csv").write_text("qid,_id,label\nq,a,S\nq,n,I\np,b,S\n")
    (tmp_path / "labels.csv").write_text("qid,_id,label\nq,x#1,I\nq,x#2,S\nq,y#1,I\np,u#1,I\n")
    labels = tmp_path / "labels.tsv"
    labels.write_text("qid\tdocno\tlabel\nq\tx\t1\nq\ty\t0\np\tu\t0\n")
    plain = call(qrels, *runs, "-m", "P@2", "--labels", labels, "-o", "tsv")
    given = "--columns docno=_id --grades S=1 --collapse #".split() + ["--grades", "S=1 I=0"]
    given += ["--labels", tmp_path / "labels.csv"]
    done = call(tmp_path / "words.csv", *runs, "-m", "P@2", *given, "-o", "tsv")
    assert done.stdout == plain.stdout
    assert done.stdout != call(qrels, *runs, "-m", "P@2", "-o", "tsv").stdout


def test_labels_of_several_files_are_merged(files, tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    write_label(one, {"qid": "q", "docno": "z", "label": 0, "source": "one"})
    write_label(two, {"qid": "p", "docno": "v", "label": 0, "source": "two"})
    unjudged = []
    for labels in ([], [one], [two], [one, two]):
        options = [word for path in labels for word in ("--labels", path)]
        done = call(*files, "-m", "ASL@3", *options, "-o", "jsonl")
        unjudged.append(json.loads(done.stdout)["unjudged"])
    assert unjudged == [6, 5, 5, 4]
    write_label(two, {"qid": "q", "docno": "z", "label": 2, "source": "two"})
    highest = ["-m", "nDCG@3", "--labels", two, "--highest"]  # the best official grade is 1
    assert [call(*files, *highest, n).exit_code for n in (1, 2)] == [2, 0]
    done = call(*files, "-m", "ASL@3", "--labels", one, "--labels", two)
    assert done.exit_code == 2 and "labelled 0 by 'one' and 2 by 'two'" in done.stderr


@pytest.fixture
def graded(tmp_path):
    """Qrels with grades 0 to 2, and three runs whose files are in no order of their names."""
    random, documents = np.random.default_rng(2), [f"d{number}" for number in range(12)]
    qids = [f"q{number}" for number in range(6)]
    lines = [f"{qid} 0 d{n} {random.integers(0, 3)}\n" for qid in qids for n in range(0, 12, 2)]
    (tmp_path / "qrels").write_text("".join(lines))
    for name in ("c.run", "a.run", "b.run"):
        rankings = {qid: random.permutation(documents)[:8] for qid in qids}
        run = {q: {doc: -rank for rank, doc in enumerate(docs)} for q, docs in rankings.items()}
        write_run(run, tmp_path / name)
    return tmp_path


def test_a_list_for_a_track_is_the_list_of_the_result(graded):
    todo, runs = graded / "todo.tsv", [graded / name for name in ("a.run", "b.run", "c.run")]
    done = call(graded / "qrels", *runs, "-m", "P@3", "--export", todo, "--most", 5)
    assert done.exit_code == 0 and done.stderr.endswith("5 documents to judge\n")
    rows = pd.read_csv(todo, sep="\t", dtype={"qid": str})
    expected = asl.holes(runs, graded / "qrels", "P@3").todo.head(5)
    columns = ["qid", "docno", "rank", "runs"]
    assert rows[columns].values.tolist() == expected[columns].values.tolist()
    assert rows["weight"].tolist() == pytest.approx(expected["weight"].tolist(), abs=1e-6)
