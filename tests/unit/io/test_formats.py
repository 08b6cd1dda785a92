"""Formats that people bring: each is read in every reader, or is an error that names it."""

import bz2
import gzip
import json
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _files import write_qrels, write_run
from click.testing import CliRunner

import pyterrier_asl as asl
from pyterrier_asl.cli import main
from pyterrier_asl.io.declared import column_named

RUN = [("q 1", "a", 3.0), ("q 1", "b", 2.5), ("2", "c", -1.0), ("2", "a", -2.0)]
QRELS = [("q 1", "b", 2), ("q 1", "a", 0), ("2", "a", 1)]


def table(rows, header, separator=",", end="\n", quote=""):
    lines = [header.split(), *rows]
    cells = (separator.join(f"{quote}{cell}{quote}" for cell in line) for line in lines)
    return "".join(line + end for line in cells)


def nested(rows):
    return {qid: {d: value for q, d, value in rows if q == qid} for qid, _, _ in rows}


def objects(rows, names):
    return [dict(zip(names.split(), row)) for row in rows]


#: Names of columns; the place of others in a table does not matter.
HEADERS = {
    "run": ["query-id corpus-id score", "Query_ID PID Similarity", "qid docno score"],
    "qrels": ["query docid rating", "topic doc_id rel", "task document judgement"]
    + ["QUERY_ID Document_ID Grade", "query_id pid relevance", "query-id corpus-id score"]
    + ["qid docno label"],
}
ROWS = {"run": RUN, "qrels": QRELS}


def forms(rows, header):
    """All files with these rows, by name."""
    shuffled = [(value, docno, qid) for qid, docno, value in rows]
    backwards = " ".join(header.split()[::-1])
    lines = [json.dumps(row) for row in objects(rows, header)]
    return {
        "a.csv": table(rows, header),
        "crlf.csv": table(rows, header, end="\r\n"),
        "bom.csv": "\ufeff" + table(rows, header),
        "quoted.csv": table(rows, header, quote='"'),
        "spaces.csv": table(rows, header, separator=" , "),
        "backwards.csv": table(shuffled, backwards),
        "a.tsv": table(rows, header, "\t"),
        "semicolons.csv": "# of 2024\n\n" + table(rows, header, ";"),
        "bars.txt": table(rows, header, "|"),
        "no_end.csv": table(rows, header).rstrip("\n"),
        "zip.csv.gz": gzip.compress(table(rows, header, ";").encode()),
        "zip.jsonl.bz2": bz2.compress("\n".join(lines).encode()),
        "lines.jsonl": "\n".join(lines) + "\n",
        "lines.json": "\r\n".join(lines),
        "records.json": json.dumps(objects(rows, header), indent=1),
        "columns.json": json.dumps(dict(zip(header.split(), map(list, zip(*rows))))),
        "dicts.json": json.dumps(nested(rows)),
        "indented.json": json.dumps(nested(rows), indent=2),
    }


@pytest.mark.parametrize(
    ("kind", "header"), [(kind, header) for kind in HEADERS for header in HEADERS[kind]]
)
def test_every_form_has_the_same_rows(tmp_path, kind, header):
    """Each form with the first names, and some forms with all others."""
    columns = ["qid", "docno", "score" if kind == "run" else "label"]

    def read(source, by={"run": asl.read_run, "qrels": asl.read_qrels}[kind]):
        return [*by(source)[columns].itertuples(index=False, name=None)]

    some = header != HEADERS[kind][0]
    files = forms(ROWS[kind], header)
    for name in ("backwards.csv", "lines.jsonl") if some else files:
        content = files[name]
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert read(tmp_path / name) == ROWS[kind], name
    frame = pd.DataFrame(ROWS[kind], columns=header.split()).iloc[:, ::-1].assign(other="x")
    table = pa.Table.from_pandas(frame)
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (frame, table, tmp_path / "a.parquet"):
        assert read(source) == ROWS[kind]
    for source in (frame, table) if kind == "qrels" else ():
        assert read(source, asl.read_labels) == QRELS
    if kind == "qrels" and not some:
        for name in ("a.csv", "a.tsv", "crlf.csv", "lines.jsonl", "semicolons.csv"):
            assert read(tmp_path / name, asl.read_labels) == QRELS, name
            assert set(asl.read_labels(tmp_path / name)["source"]) == {name}


def test_ids_are_not_changed_by_a_table(tmp_path):
    ids = ["007", "NA", "1.0", "C:\\new\\a.txt", "star wars", "é", 'the "x"', "a;b", "null", "-"]
    frame = pd.DataFrame({"qid": ids, "docno": ids[::-1], "label": 1, "score": 0.5})
    for separator in ",;":
        frame.to_csv(tmp_path / "a.csv", index=False, sep=separator)
        for read in (asl.read_run, asl.read_qrels, asl.read_labels):
            assert read(tmp_path / "a.csv")[["qid", "docno"]].equals(frame[["qid", "docno"]])


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_a_run_of_ms_marco_is_ordered_by_rank(tmp_path, separator):
    lines = ["9 a 1", "9 b 2", "7 c 1", "7 a 4", "9 c 10"]
    (tmp_path / "run").write_text("\n".join(lines).replace(" ", separator))
    run = asl.read_run(tmp_path / "run")
    assert run["score"].tolist() == [-1, -2, -1, -4, -10]
    assert run["rank"].tolist() == [1, 2, 1, 4, 10] and set(run["name"]) == {"run"}
    for frame in (run.drop(columns="score"), run.drop(columns="score").rename(columns=str.upper)):
        assert asl.read_run(frame)["score"].tolist() == run["score"].tolist()
        value = asl.evaluate({"r": frame}, {"9": {"b": 1}, "7": {"a": 1}}, "RR")["RR"]
        assert value.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("lines", "scores"),
    [
        (["q a 2.5", "q b 7"], [2.5, 7]),  # no rank is a fraction
        (["q a 2", "q b 1"], None),
        (["q a 1", "p b 30", "q b 1"], None),
    ],
)
def test_three_columns_that_could_be_scores(tmp_path, lines, scores):
    (tmp_path / "run").write_text("\n".join(lines) + "\n")
    if scores:
        assert asl.read_run(tmp_path / "run")["score"].tolist() == scores
        return
    with pytest.raises(ValueError, match="could be ranks.*or scores; write the names"):
        asl.read_run(tmp_path / "run")


@pytest.mark.parametrize("tag", ['"bm25 + rm3"', "bm25 + rm3", "a 1 b 2", "bm25 k1 0.9"])
def test_a_tag_with_blanks(tmp_path, tag):
    lines = [f"q{i // 9} Q0 d{i} {i % 9} {-i - 0.5} " for i in range(30)]
    (tmp_path / "r.res").write_text("".join(f"{line}{tag}\n" for line in lines))
    run = asl.read_run(tmp_path / "r.res")
    assert set(run["name"]) == {tag.strip('"')}
    assert run["score"].tolist() == [-i - 0.5 for i in range(30)]
    evaluated = asl.evaluate(tmp_path / "r.res", {"q1": {"d9": 1}}, "RR")
    assert evaluated["RR"].tolist() == [1]
    (tmp_path / "r.res").write_text(f"{lines[0]}{tag}\n{lines[1]}{tag} x\n")
    with pytest.raises(ValueError, match="holds several runs"):
        asl.read_run(tmp_path / "r.res")


def test_names_of_pyterrier_come_first():
    """A frame of results has the internal number docid and the text query."""
    columns = ["query", "docid", "score", "rank", "docno", "qid", "label"]
    for key in ("qid", "docno", "score", "label"):
        assert column_named(columns, key, "") == key


def test_every_command_reads_every_form(tmp_path, monkeypatch):
    """Also other names of columns, and words for grades, where they are declared."""
    monkeypatch.chdir(tmp_path)
    docs, grade = {"a": "xyzw", "b": "yxwz"}, {"E": 2, "S": 1, "I": 0}
    pairs = [(number, docno) for number in range(12) for docno in "wxyz"]
    words = [(f"q{q}", d, "ISEI"["wxyz".index(d) * q % 4]) for q, d in pairs]
    rows = {n: [(f"q{q}", docs[n][at], at + 1) for at in range(4) for q in range(12)] for n in docs}
    grades = [(q, d, grade[word]) for q, d, word in words]
    for folder in ("plain", "forms", "named"):
        Path(folder).mkdir()
    write_qrels(nested(grades), "plain/qrels.csv")
    Path("forms/qrels.csv").write_text(table(grades, "Query_Id Doc_Id Rating", ";"))
    Path("named/qrels.csv").write_text(table(words, "q d_ how").replace("d_", "d id"))
    for name in rows:
        scores = [(q, d, -r) for q, d, r in rows[name]]
        write_run(nested(scores), f"plain/{name}")
        Path(f"named/{name}.csv").write_text(table(scores, "q d_ how").replace("d_", "d id"))
    Path("forms/a.tsv").write_text("".join(f"{q}\t{d}\t{r}\n" for q, d, r in rows["a"]))
    lines = map(json.dumps, objects(rows["b"], "query pid rank"))
    Path("forms/b.jsonl").write_text("\n".join(lines))
    declared = "--columns", "qid=q docno='d id' score=how label=how", "--grades", "E=2 S=1 I=0"
    for command in (
        *("evaluate {0} {1} {2} -m nDCG@2 -q", "compare {0} {1} {2} -m AP@2"),
        *("ranks {0} {1} {2} -m AP@2", "holes {0} {1} {2} -m AP@2 --rel 2", "labels {0} {0}"),
        "judges {0} {1} {2} --judge other={0} -m AP@2 --show agreement",
        *("audit {0} {1} {2} --judge other={0} -m AP@2", "analyze run-quality {0} {1} {2}"),
    ):
        printed = []
        for folder, runs, options in (
            ("plain", ("a", "b"), ()),
            ("forms", ("a.tsv", "b.jsonl"), ()),
            ("named", ("a.csv", "b.csv"), declared),
        ):
            files = [f"{folder}/{name}" for name in ("qrels.csv", *runs)]
            form = [] if command.startswith("labels") else ["-o", "tsv"]
            done = CliRunner().invoke(main, [*command.format(*files).split(), *form, *options])
            assert done.exit_code == 0, (command, done.output)
            printed.append(done.stdout)
        assert printed[0] == printed[1] == printed[2], command


@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "v.tsv"])
@pytest.mark.parametrize("runs", [["a=b"], ["x, y", "a=b"]])
def test_what_evaluate_writes_is_read_again(tmp_path, monkeypatch, name, runs):
    monkeypatch.chdir(tmp_path)
    for number, run in enumerate(runs):
        write_run(
            {f"q{q}": {f"d{(q + d + number) % 5}": -d for d in range(5)} for q in (3, 1, 2)}, run
        )
    write_qrels({f"q{q}": {f"d{q}": 1} for q in (1, 2, 3)}, "qrels")
    words = ["evaluate", "qrels", *runs, "-m", "AP nDCG@3", "-q", "-o", name, "-p", "-1"]
    assert CliRunner().invoke(main, words).exit_code == 0
    expected = asl.evaluate(runs, "qrels", ["AP", "nDCG@3"]).set_index(["name", "qid"])
    scores = asl.read_scores(name)
    for measure in ("AP", "nDCG@3"):
        found = scores.matrix(measure)
        assert found.index.tolist() == (runs if len(runs) > 1 else ["v"])
        values = expected[measure].unstack("qid").loc[runs, found.columns]
        assert found.to_numpy() == pytest.approx(values.to_numpy(), abs=1e-15)


@pytest.mark.parametrize("output", ["m.csv", "m.tsv", "m.jsonl", "m.txt", "csv", None])
def test_merged_labels_are_read_again(tmp_path, monkeypatch, output):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q2 0 a 1\nq1 0 b 0.5\n")
    Path("labels.csv").write_text("docid;Rating;query\nc;0.25;q1\n")
    words = ["labels", "qrels", "labels.csv", *(["-o", output] if output else [])]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    if not Path(output or "none").is_file():
        Path(output := "printed").write_text(done.stdout)
    rows = [("q2", "a", 1), ("q1", "b", 0.5), ("q1", "c", 0.25)]
    for read in (asl.read_qrels, asl.read_labels):
        assert [*read(output).iloc[:, :3].itertuples(index=False, name=None)] == rows


def test_merged_labels_of_ids_with_blanks_are_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q2 0 a 1\nq1 0 b 0.5\n")
    Path("labels.csv").write_text("docid;Rating;query\nc d;1;q1\n")
    assert CliRunner().invoke(main, ["labels", "qrels", "labels.csv", "-o", "x.csv"]).exit_code == 0
    assert asl.read_qrels("x.csv")["docno"].tolist() == ["a", "b", "c d"]
    wrong = CliRunner().invoke(main, ["labels", "qrels", "labels.csv"])
    assert wrong.exit_code == 2 and "cannot hold ids with blanks; write a table" in wrong.stderr


CELLS = dict.fromkeys(["query-id", "query"], "q1")
CELLS |= {"corpus-id": "d7", "docid": "d7", "score": "2", "rating": "2"}
READERS = {"runs": asl.read_run, "qrels": asl.read_qrels, "labels": asl.read_labels}


def test_the_formats_of_the_page_are_read(tmp_path):
    page = (Path(asl.__file__).parent / "pt_docs" / "large.rst").read_text()
    formats = re.findall(r"   \* - (.+)\n     - ``(.+)``\n     - (.+)\n", page)
    assert len(formats) == 7
    for name, line, holds in formats:
        path = tmp_path / "file"
        is_header = "," in line and line[0] != "{"
        below = ",".join(CELLS[cell] for cell in line.split(",")) if is_header else ""
        path.write_text(f"{line}\n{below}\n" if is_header else f"{line}\n")
        for what in holds.split(", "):
            frame = READERS[what](path)
            assert frame[["qid", "docno"]].to_numpy().tolist() == [["q1", "d7"]], name
