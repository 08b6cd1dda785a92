"""The command 'holes'."""

import json
from itertools import combinations

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


def test_the_collection_with_the_texts_must_exist(files, tmp_path):
    done = call(*files, "--export", tmp_path / "todo.tsv", "--dataset", "no/such/collection")
    assert done.exit_code == 2 and "no/such/collection" in done.stderr
    assert not (tmp_path / "todo.tsv").exists()


def test_one_run_is_compared_with_nothing(files):
    done = call(*files[:2])
    assert done.exit_code == 2 and "there is only the run 'one'" in done.output


def test_the_answer_is_printed_first(files, tmp_path):
    done = call(*files, "-m", "AP")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("AP: two - one = ") and max(map(len, lines[1:5])) <= 80
    by_query = call(*files, "-m", "AP", "-q").stdout.splitlines()
    assert by_query[0] == lines[0] and len(by_query) > len(lines)
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in "abc":
        (runs / name).write_text(open(files[1]).read())
    done = call(files[0], runs, "-m", "P@2")
    assert done.stdout.startswith("P@2: 0 open of 3 pairs of runs, 0 settled, 3 equal.\n")


@pytest.mark.parametrize("option", ["-q", "--show queries --chart x.html"])
def test_three_runs_have_no_difference_to_list_by_query(files, tmp_path, option):
    (tmp_path / "third.run").write_text(open(files[1]).read())
    done = call(*files, tmp_path / "third.run", *option.split())
    said = "-q is for two runs, not 3: name two of them"
    assert done.exit_code == 2 and said in done.stderr and not done.stdout


@pytest.mark.slow
def test_no_list_takes_the_place_of_what_is_read_or_of_another_kind(files, tmp_path):
    before = {path: open(path).read() for path in files}
    for path in files:
        for options in ([], ["--force"]):
            done = call(*files, "-m", "AP", "--export", path, *options)
            assert done.exit_code == 2 and "it is one of the inputs" in done.output
            assert not done.stdout
    assert {path: open(path).read() for path in files} == before
    for path in (tmp_path / "my.tsv", tmp_path / "my.jsonl", tmp_path / "mine"):
        assert call(*files, "-m", "AP", "--export", path).exit_code == 0
        assert call(*files, "-m", "AP", "--export", path).exit_code == 0
        path.write_text("my notes\n")
        done = call(*files, "-m", "AP", "--export", path)
        assert done.exit_code == 2 and f"{path}: it holds something else" in done.output
        assert path.read_text() == "my notes\n"
        assert call(*files, "-m", "AP", "--export", path, "--force").exit_code == 0
        assert path.read_text() != "my notes\n"
    page = tmp_path / "page.html"
    page.write_text("my notes")
    for chart, why in ((page, "holds something else"), (tmp_path / "page.doc", "must end in one")):
        done = call(*files, "-m", "AP", "--chart", chart)
        assert done.exit_code == 2 and why in done.output and not done.stdout


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


@pytest.fixture
def filled(tmp_path, files):
    """A list with labels of two of its six documents, in each format."""

    def fill(form):
        path = tmp_path / f"todo.{form}"
        assert call(*files, "-m", "ASL@3", "--export", path).exit_code == 0
        lines = path.read_text().splitlines(keepends=True)
        if form == "tsv":
            lines[1:3] = [line.rstrip("\n") + grade + "\n" for line, grade in zip(lines[1:3], "10")]
        else:
            lines[:2] = [
                json.dumps(json.loads(line) | {"label": grade}) + "\n"
                for line, grade in zip(lines, (1, 0))
            ]
        path.write_text("".join(lines))
        return path

    return fill


def todo_of(path):
    """Document and label of each row."""
    text = path.read_text()
    if path.suffix == ".jsonl":
        return [(row["docno"], str(row["label"])) for row in map(json.loads, text.splitlines())]
    table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    return list(zip(table["docno"], table["label"]))


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_a_list_with_labels_is_never_overwritten(files, filled, form):
    path = filled(form)
    before = path.read_bytes()
    for options in ([], ["--force"]):
        done = call(*files, "-m", "ASL@3", "--export", path, *options)
        assert (
            done.exit_code == 2
            and "it holds 2 labels; to keep them read the file by --labels" in done.stderr
        )
        assert path.read_bytes() == before


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_a_second_round_keeps_the_labels_and_lists_what_is_open(files, filled, form):
    path = filled(form)
    rows = todo_of(path)
    labelled = [row for row in rows if row[1]]
    assert len(rows) == 6 and len(labelled) == 2
    done = call(*files, "-m", "ASL@3", "--labels", path, "--export", path)
    assert done.exit_code == 0, done.output
    again = todo_of(path)
    assert again[:2] == labelled and {label for _, label in again[2:]} == {""}
    assert {docno for docno, _ in again} <= {docno for docno, _ in rows}
    assert f"{len(again) - 2} documents to judge" in done.stderr
    third = call(*files, "-m", "ASL@3", "--labels", path, "--export", path)
    assert third.exit_code == 0 and todo_of(path) == again


def write_label(path, label):
    with open(path, "a") as file:
        file.write(json.dumps(label) + "\n")


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
    write_label(two, {"qid": "q", "docno": "z", "label": 1, "source": "two"})
    done = call(*files, "-m", "ASL@3", "--labels", one, "--labels", two)
    assert done.exit_code == 2 and "labelled 0 by 'one' and 1 by 'two'" in done.stderr


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ({"docno": "a", "label": 0}, "remove the label, or pass --conflicts official"),
        ({"docno": "x", "label": 3}, "correct it, or pass --highest 3"),
        ({"docno": "x", "label": 1, "qid": "other"}, "no official judgements"),
    ],
)
def test_errors_name_the_options(files, tmp_path, label, why):
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"qid": "q", **label}) + "\n")
    done = call(*files, "-m", "nDCG@3", "--labels", path)
    assert done.exit_code == 2 and why in done.stderr and "=" not in done.stderr


def test_a_result_prints_what_the_command_prints(files):
    done = call(*files, "-m", "AP")
    qrels, one, two = files
    found = asl.holes([one, two], qrels, "AP")
    lines = [[line.rstrip() for line in text.splitlines()] for text in (done.stdout, str(found))]
    assert lines[0] == lines[1]
    assert found.describe().replace("&", "&amp;") in found._repr_html_()


def test_texts_of_a_local_collection(files, tmp_path):
    docs, topics = tmp_path / "docs.tsv", tmp_path / "topics.tsv"
    docs.write_text("".join(f"{doc}\tsays {doc}\n" for doc in "anbxyuzvw"))
    topics.write_text("q\twhat is q\np\twhat is p\n")
    todo = tmp_path / "todo.jsonl"
    texts = ["--docs", docs, "--topics", topics]
    assert call(*files, "-m", "AP", "--export", todo, *texts).exit_code == 0
    for row in map(json.loads, todo.read_text().splitlines()):
        assert row["text"] == f"says {row['docno']}" and row["query"] == f"what is {row['qid']}"


@pytest.mark.parametrize("broken", ["q\tx\tgood\n", "q\tx\t1\tmore\n"])
def test_a_list_that_cannot_be_read_is_not_overwritten(files, tmp_path, broken):
    path = tmp_path / "todo.tsv"
    path.write_text(f"qid\tdocno\tlabel\nq\tz\t1\n{broken}")
    before = path.read_bytes()
    for options in ([], ["--labels", path]):
        done = call(*files, "-m", "AP", "--export", path, *options)
        assert done.exit_code == 2 and "todo.tsv" in done.stderr
    assert path.read_bytes() == before


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


@pytest.mark.parametrize("names", [("c.run", "a.run"), ("c.run", "a.run", "b.run")])
def test_bounds_are_those_of_the_function_in_any_order_of_runs(graded, names):
    runs, qrels = [str(graded / name) for name in names], str(graded / "qrels")
    found, reverse = (asl.holes(each, qrels, "nDCG@3") for each in (runs, runs[::-1]))
    done = call(qrels, *runs, "-m", "nDCG@3", "-o", "jsonl")
    assert [json.loads(line) for line in done.stdout.splitlines()] == found.table.to_dict("records")
    for mine, theirs in combinations([name.removesuffix(".run") for name in names], 2):
        one, two = found.pair(mine, theirs), reverse.pair(theirs, mine)
        assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
    open_documents = [set(zip(pair.todo["qid"], pair.todo["docno"])) for pair in (found, reverse)]
    assert open_documents[0] == open_documents[1]


def test_labels_above_the_grades_of_the_qrels_need_highest(graded):
    labels = graded / "labels.jsonl"
    runs = [graded / "a.run", graded / "b.run"]
    qid, docno = asl.holes(runs, graded / "qrels", "nDCG@3").todo.loc[0, ["qid", "docno"]]
    labels.write_text(json.dumps({"qid": qid, "docno": docno, "label": 5}) + "\n")
    given = [graded / "qrels", *runs, "-m", "nDCG@3"]
    refused = call(*given, "--labels", labels, "--highest", 4)
    assert refused.exit_code == 2 and "pass --highest 5" in refused.stderr
    done = call(*given, "--labels", labels, "--highest", 5, "-o", "jsonl")
    merged = asl.merge_labels(graded / "qrels", labels, highest=5)[["qid", "docno", "label"]]
    expected = asl.holes(runs, merged, "nDCG@3", highest=5).table.to_dict("records")
    assert [json.loads(line) for line in done.stdout.splitlines()] == expected


def test_a_list_for_a_track_is_the_list_of_the_result(graded):
    todo, runs = graded / "todo.tsv", [graded / name for name in ("a.run", "b.run", "c.run")]
    done = call(graded / "qrels", *runs, "-m", "P@3", "--export", todo, "--most", 5)
    assert done.exit_code == 0 and done.stderr.endswith("5 documents to judge\n")
    rows = pd.read_csv(todo, sep="\t", dtype={"qid": str})
    expected = asl.holes(runs, graded / "qrels", "P@3").todo.head(5)
    columns = ["qid", "docno", "rank", "runs"]
    assert rows[columns].values.tolist() == expected[columns].values.tolist()
    assert rows["weight"].tolist() == pytest.approx(expected["weight"].tolist(), abs=1e-6)
