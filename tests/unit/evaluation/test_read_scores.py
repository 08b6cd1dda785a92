"""Scores that others computed, read from every form, and what is wrong with some."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import pyterrier_asl as asl
from pyterrier_asl.evaluation.frames import save_evaluation
from pyterrier_asl.evaluation.scores import read_scores

VALUES = {"bm25": {"401": 0.25, "402": 0.5}, "dense": {"401": 0.75, "402": 1.0}}
LONG = pd.DataFrame(
    [
        (name, qid, measure, value if measure == "AP" else 1 - value)
        for name, by_query in VALUES.items()
        for qid, value in by_query.items()
        for measure in ("AP", "ASL@10")
    ],
    columns=["name", "qid", "measure", "value"],
)
EVALUATION = LONG.pivot(index=["name", "qid"], columns="measure", values="value").reset_index()
WIDE = pd.DataFrame({"qid": ["401", "402"], **{n: list(v.values()) for n, v in VALUES.items()}})


def printed(folder, line, summary):
    """One file a system, as trec_eval or ir_measures print it."""
    for name, by_query in VALUES.items():
        lines = [line.format(qid=qid, value=value) for qid, value in by_query.items()]
        (folder / f"input.{name}.txt").write_text("".join([*lines, summary]))
    return folder


FORMS = {
    "frame": lambda folder: LONG,
    "integers": lambda folder: LONG.astype({"qid": int}),
    "evaluation": lambda folder: EVALUATION,
    "wide": lambda folder: WIDE,
    "csv": lambda folder: LONG.to_csv(folder / "s.csv", index=False),
    "with index": lambda folder: LONG.to_csv(folder / "s.csv"),
    "tsv": lambda folder: LONG.to_csv(folder / "s.tsv", index=False, sep="\t"),
    "gzip": lambda folder: LONG.to_csv(folder / "s.csv.gz", index=False),
    "parquet": lambda folder: LONG.to_parquet(folder / "s.parquet"),
    "jsonl": lambda folder: LONG.to_json(folder / "s.jsonl", orient="records", lines=True),
    "saved evaluation": lambda folder: save_evaluation(EVALUATION, folder / "s.parquet"),
    "perquery.csv": lambda folder: EVALUATION.to_csv(folder / "perquery.csv", index=False),
    "wide csv": lambda folder: WIDE.to_csv(folder / "s.csv", index=False),
    "wide without a name": lambda folder: WIDE.set_index("qid").to_csv(
        folder / "s.csv", index_label=""
    ),
    "trec_eval": lambda folder: printed(
        folder, "map                   \t{qid}\t{value:.4f}\n", "runid \tall\tx\nmap \tall\t0.5\n"
    ),
    "trec_eval -n": lambda folder: printed(folder, "map \t{qid}\t{value:.4f}\n", ""),
    "ir_measures": lambda folder: printed(folder, "{qid}\tAP\t{value}\n", "all\tAP\t0.5\n"),
    "ir_measures -n": lambda folder: printed(folder, "{qid}\tAP\t{value}\n", ""),
    "a file a system": lambda folder: [
        part.drop(columns="name").to_csv(folder / f"{name}.tsv", sep="\t", index=False)
        for name, part in LONG.groupby("name")
    ],
    "our lines": lambda folder: LONG.to_csv(folder / "s.tsv", sep="\t", header=False, index=False),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_same_values(form, tmp_path):
    source = FORMS[form](tmp_path)
    table = read_scores(source if isinstance(source, pd.DataFrame) else tmp_path)
    matrix = table.matrix("AP")
    assert matrix.to_dict(orient="index") == VALUES
    assert table.tracks == [""]
    if "ASL@10" in table.measures:
        assert table.values("ASL@10")[0].tolist() == [0.75, 0.5]


def test_ids_stay_text(tmp_path):
    rows = [{"name": "007", "qid": "01", "measure": "AP", "value": 0.5}]
    for name, text in (
        ("s.csv", "name,qid,measure,value\n007,01,AP,0.5\n"),
        ("s.jsonl", "".join(map(json.dumps, rows))),
    ):
        (tmp_path / name).write_text(text)
        assert read_scores(tmp_path / name).matrix("AP").to_dict() == {"01": {"007": 0.5}}


def test_collections_are_told_by_a_column():
    table = read_scores(pd.concat([LONG.assign(track="x"), LONG.assign(track="y", value=0.5)]))
    assert table.tracks == ["x", "y"]
    assert table.values("AP", "y").tolist() == [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(ValueError, match="no collection 'z'"):
        table.matrix("AP", "z")


def test_directions():
    table = read_scores(LONG, lower_is_better=["latency"], higher_is_better=["f"])
    names = ["AP", "map", "ASL@10", "latency", "f"]
    assert [table.direction(name) for name in names] == [True, True, False, False, True]
    for unknown in ("cost", "NumRet"):
        with pytest.raises(ValueError, match="--lower-is-better"):
            table.direction(unknown)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (LONG.drop(columns="qid"), "no column qid"),
        (LONG.assign(value="high"), "'high', which is no number"),
        (pd.concat([LONG, LONG]), "two values of AP 'bm25' for topic '401'"),
        (LONG.assign(qid="all"), "holds no value of a topic"),
    ],
)
def test_what_is_no_table_of_scores(frame, message):
    with pytest.raises(ValueError, match=message):
        read_scores(frame)


def test_a_measure_that_is_not_there_is_an_error_that_lists_those():
    with pytest.raises(ValueError, match="no measure 'RR'; they have AP, ASL@10"):
        read_scores(LONG).matrix("RR")


@pytest.mark.parametrize("missing", [LONG[1:], LONG.assign(value=[np.nan, *LONG["value"][1:]])])
def test_missing_values_are_an_error_unless_filled(missing):
    with pytest.raises(
        ValueError, match="1 value of AP missing, .* 'bm25' for topic '401'.*--fill"
    ):
        read_scores(missing).matrix("AP")
    assert read_scores(missing, fill=0).matrix("AP").loc["bm25", "401"] == 0


@pytest.mark.parametrize("text", ["1 2\n", "a b c d e\n", "just a line of words\n\n"])
def test_other_files_are_refused(text, tmp_path):
    (tmp_path / "s.txt").write_text(text)
    with pytest.raises(ValueError, match=r"s\.txt"):
        read_scores(tmp_path / "s.txt")


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("name,qid,measure,vlaue", "a,1,AP,.5", "a column measure, but none called value"),
        ("name,qid,measure,value", "a,,AP,.5", "1 row without qid"),
        ("name,Name,qid,measure,value", "a,b,1,AP,.5", "more than one column name"),
    ],
)
def test_a_table_that_lacks_something_is_refused_by_the_name_of_its_file(
    header, row, message, tmp_path
):
    (tmp_path / "s.csv").write_text(f"{header}\n{row}\n")
    with pytest.raises(ValueError, match=f"s.csv has {message}"):
        read_scores(tmp_path / "s.csv")


def test_a_value_that_is_there_twice_is_an_error_that_names_the_second_file(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("name,qid,measure,value\nbm25,1,AP,.5\n")
    with pytest.raises(
        ValueError, match="two values of AP 'bm25' for topic '1', the second in .*b.csv"
    ):
        read_scores([tmp_path / "a.csv", tmp_path / "b.csv"])
    with pytest.raises(ValueError, match="two values"):
        read_scores([tmp_path / "a.csv", tmp_path / "a.csv"])


def test_a_table_without_a_column_measure_is_about_one(tmp_path):
    (tmp_path / "s.csv").write_text("run,topic,score\na,1,0.5\nb,1,0.25\n")
    assert read_scores(tmp_path / "s.csv").matrix("AP")["1"].to_dict() == {"a": 0.5, "b": 0.25}


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_damaged_file_is_an_error_that_names_it(suffix, tmp_path):
    path = tmp_path / f"s{suffix}"
    LONG.to_parquet(path) if suffix == ".parquet" else LONG.to_feather(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):  # in a process that reads on, whatever the place
        path.write_bytes(whole[:place] + b"\xff\xff\xff\x7f" + whole[place + 4 :])
        try:
            read_scores(path)
        except (ValueError, OSError) as error:
            assert path.name in str(error)


def test_ranks_of_scores_are_those_of_the_runs(tmp_path):
    generator = np.random.default_rng(0)
    qrels = {f"q{n:02}": {f"d{k}": int(k < 3) for k in range(9)} for n in range(30)}
    runs = {
        name: {qid: {f"d{k}": float(generator.normal(-k * s)) for k in range(9)} for qid in qrels}
        for name, s in (("a", 1.0), ("b", 0.3), ("c", 0.0))
    }
    for measure in ("AP", "ASL@5"):
        expected = asl.ranks(runs, qrels, measure)
        frame = asl.evaluate(runs, qrels, [measure], long=True)
        frame.to_csv(tmp_path / "scores.csv", index=False)
        board = asl.ranks(asl.read_scores(tmp_path / "scores.csv"), measure=measure)
        pd.testing.assert_frame_equal(board.table, expected.table)
        assert board.critical == expected.critical


def test_ranks_of_scores_say_what_needs_runs():
    with pytest.raises(ValueError, match="unjudged needs runs, and these are scores"):
        asl.ranks(read_scores(LONG), measure="AP", unjudged=True)


def test_compressed_text_is_known_by_its_first_bytes(tmp_path):
    (tmp_path / "s.txt").write_bytes(gzip.compress(b"401 AP 0.5\n"))
    assert read_scores(tmp_path / "s.txt").values("AP").tolist() == [[0.5]]
