"""Scores of other programs, read from all formats, and errors of wrong tables."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

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
    """One file per system, as trec_eval or ir_measures print it."""
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
    "wide with means": lambda folder: pd.concat(
        [WIDE, pd.DataFrame({"qid": ["Mean"], "bm25": [0.4], "dense": [0.9]})]
    ),
    "evaluation in parquet": lambda folder: EVALUATION.to_parquet(folder / "s.parquet"),
    "perquery.csv": lambda folder: EVALUATION.to_csv(folder / "perquery.csv", index=False),
    "wide csv": lambda folder: WIDE.to_csv(folder / "s.csv", index=False),
    "wide without a name": lambda folder: WIDE.set_index("qid").to_csv(
        folder / "s.csv", index_label=""
    ),
    "trec_eval": lambda folder: printed(
        folder, "map                   \t{qid}\t{value:.4f}\n", "runid \tall\tx\nmap \tall\t0.5\n"
    ),
    "ir_measures": lambda folder: printed(folder, "{qid}\tAP\t{value}\n", "all\tAP\t0.5\n"),
    "a file a system": lambda folder: [
        part.drop(columns="name").to_csv(folder / f"{name}.tsv", sep="\t", index=False)
        for name, part in LONG.groupby("name")
    ],
    "our lines": lambda folder: LONG.to_csv(folder / "s.tsv", sep="\t", header=False, index=False),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_same_values(form, tmp_path):
    source = FORMS[form](tmp_path)
    source = source if isinstance(source, pd.DataFrame) else tmp_path
    table = read_scores(source, wide_systems=form.startswith("wide"))
    matrix = table.matrix("score" if form.startswith("wide") else "AP")
    assert matrix.to_dict(orient="index") == VALUES
    assert table.tracks == [""]
    assert list(table.rows) == ["track", "name", "qid", "measure", "value"]
    assert table.rows.index.tolist() == list(range(len(table.rows)))
    if "ASL@10" in table.measures:
        assert table.values("ASL@10")[0].tolist() == [0.75, 0.5]


def test_ids_stay_text(tmp_path):
    (tmp_path / "s.csv").write_text("name,qid,measure,value\n007,01,AP,0.5\n")
    assert read_scores(tmp_path / "s.csv").matrix("AP").to_dict() == {"01": {"007": 0.5}}


@pytest.mark.parametrize("header", [None, False, True])
def test_collections_are_told_by_a_column(header, tmp_path):
    rows = pd.concat([LONG.assign(track="x"), LONG.assign(track="y", value=0.5)])
    if header is not None:  # lines of evaluate have none
        rows = rows[["track", *LONG]]
        rows.to_csv(tmp_path / "s.tsv", sep="\t", header=header, index=False)
    table = read_scores(rows if header is None else tmp_path / "s.tsv")
    assert table.tracks == ["x", "y"]
    assert table.values("AP", "y").tolist() == [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(ValueError, match="no collection 'z'"):
        table.matrix("AP", "z")


def test_directions():
    names = ["AP", "ASL@10", "latency", "f"]
    rows = pd.concat(LONG[:1].assign(measure=name) for name in names)
    table = read_scores(rows, lower_is_better=["latency"], higher_is_better=["f", "AP"])
    directions = [table.direction(name) for name in [*names, "map"]]
    assert directions == [True, False, False, True, True]
    for unknown in ("cost", "NumRet"):
        with pytest.raises(ValueError, match="--lower-is-better"):
            table.direction(unknown)


@pytest.mark.parametrize("option", ["lower_is_better", "higher_is_better"])
def test_directions_of_other_measures_are_refused(option):
    with pytest.raises(ValueError, match="'latency', which is none of the measures"):
        read_scores(LONG, **{option: ["latency"]})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (LONG.drop(columns="qid"), "no column qid"),
        (LONG.drop(columns=["name", "value"]), "a column measure, but no column value"),
        (pd.DataFrame({"AP": [0.5]}), "no column qid; it has AP"),
        (pd.DataFrame({"run": ["a"], "AP": [0.5], "mrt": [9.0]}), "the values of each topic"),
        (LONG.assign(value="high"), "'high', which is not a number"),
        (pd.concat([LONG, LONG]), "two values of AP of 'bm25' for topic '401'"),
        (LONG.assign(qid="all"), "has no value of a topic"),
    ],
)
def test_what_is_no_table_of_scores(frame, message):
    with pytest.raises(ValueError, match=message):
        read_scores(frame)


SHORT = "run,topic,score\na,1,0.5\na,2,0.25\nb,1,0.5\nb,2,0.75\n"


def test_values_without_a_name_are_of_no_measure_but_the_one_of_the_file(tmp_path):
    (tmp_path / "s.csv").write_text(SHORT)
    table = read_scores(tmp_path / "s.csv")
    assert table.measures == ["score"]
    for measure in ("ASL@1000", "nDCG@10"):
        with pytest.raises(ValueError, match="rename it in the table"):
            table.matrix(measure)
    with pytest.raises(ValueError, match="--lower-is-better"):
        table.direction("score")
    assert read_scores(tmp_path / "s.csv", higher_is_better=["score"]).direction("score")
    (tmp_path / "nDCG@10.csv").write_text(SHORT)
    named = read_scores(tmp_path / "nDCG@10.csv")
    assert named.direction("nDCG@10") and named.matrix("nDCG@10").equals(table.matrix("score"))


@pytest.mark.parametrize("separator", [",", "\t", " "])
@pytest.mark.parametrize(
    "row", ["a 1 AP .5 x", "a 1 AP .5 ''", "a 1 AP", "a"], ids=["more", "comma", "less", "one"]
)
def test_a_row_with_more_or_fewer_fields_is_an_error_with_its_line(row, separator, tmp_path):
    """An additional field would shift all columns of the table."""
    header = "" if separator == " " else "name qid measure value\n"
    rows = ["a 2 AP .5", row, "b 1 AP .5", "b 2 AP .75"]
    text = (header + "".join(f"{each}\n" for each in rows)).replace("''", "" if header else "x")
    (tmp_path / "s.txt").write_text(text.replace(" ", separator))
    line = 3 if header else 2
    with pytest.raises(ValueError, match=rf"s.txt, line {line}: found {len(row.split())} field"):
        read_scores(tmp_path / "s.txt")


@pytest.mark.parametrize("form", ["csv", "perquery.csv", "tsv", "trec_eval", "our lines"])
def test_a_table_that_is_cut_in_its_last_line_is_an_error(form, tmp_path):
    FORMS[form](tmp_path)
    for path in list(tmp_path.iterdir()):
        whole = path.read_text()
        for end in range(whole.rstrip().rfind("\n") + 2, len(whole)):
            path.write_text(whole[:end])
            with pytest.raises(ValueError, match=rf"{path.name}, line"):
                read_scores(path, fill=0)


def test_quotation_marks_swallow_no_rows(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text('name,qid,AP\n"bm25,q1,0.5\ndph,q1,0.4\nlm",q1,0.3\n')
    with pytest.raises(ValueError, match=r"scores.csv, line 4: a field has a line break \('bm25,"):
        read_scores(path)


MTEB = pd.DataFrame({"model": ["a", "a", "b", "b"], "task": ["x", "y"] * 2, "score": [1, 2, 3, 4]})


@pytest.mark.parametrize(
    "table", [MTEB, MTEB.pivot(index="task", columns="model", values="score").reset_index()]
)
def test_tables_of_models_and_tasks_are_read_in_either_form(table, tmp_path):
    table.to_csv(tmp_path / "mteb.csv", index=False)
    wide = "model" not in table
    for source in (table, tmp_path / "mteb.csv"):
        found = read_scores(source, wide_systems=wide).matrix("score").to_dict("index")
        assert found == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 4}}


def test_a_column_for_each_measure_of_the_system_that_the_file_names(tmp_path):
    EVALUATION[EVALUATION["name"] == "bm25"].drop(columns="name").to_csv(
        tmp_path / "bm25.csv", index=False
    )
    table = read_scores(tmp_path / "bm25.csv")
    assert table.measures == ["AP", "ASL@10"]
    assert table.matrix("AP").to_dict("index") == {"bm25": VALUES["bm25"]}


def test_a_folder_without_files_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="holds no files"):
        read_scores(tmp_path)


@pytest.mark.parametrize("missing", [LONG[1:], LONG.assign(value=[np.nan, *LONG["value"][1:]])])
def test_missing_values_are_an_error_unless_filled(missing):
    with pytest.raises(
        ValueError, match="1 value of AP missing, .* 'bm25' for topic '401'.*--fill"
    ):
        read_scores(missing).matrix("AP")
    for fill in (0, 0.5):
        assert read_scores(missing, fill=fill).matrix("AP").loc["bm25", "401"] == fill


@pytest.mark.parametrize("text", ["", "1 2\n", "a b c d e\n", "just a line of words\n\n"])
def test_other_files_are_refused(text, tmp_path):
    (tmp_path / "s.txt").write_text(text)
    with pytest.raises(ValueError, match=r"s\.txt"):
        read_scores(tmp_path / "s.txt")


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("name,qid,measure,vlaue", "a,1,AP,.5", "a column measure, but no column value"),
        ("name,qid,measure,value", "a,,AP,.5", "1 row without qid"),
        ("name,Name,qid,measure,value", "a,b,1,AP,.5", "there are both name and Name"),
    ],
)
def test_a_table_that_lacks_something_is_refused_by_the_name_of_its_file(
    header, row, message, tmp_path
):
    (tmp_path / "s.csv").write_text(f"{header}\n{row}\n")
    with pytest.raises(ValueError, match=f"s.csv( has|:) {message}"):
        read_scores(tmp_path / "s.csv")


def test_a_value_that_is_there_twice_is_an_error_that_names_the_second_file(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("name,qid,measure,value\nbm25,1,AP,.5\n")
    with pytest.raises(
        ValueError,
        match="two values of AP of 'bm25' for topic '1': line 2 of .*a.csv and line 2 of .*b.csv",
    ):
        read_scores([tmp_path / "a.csv", tmp_path / "b.csv"])
    with pytest.raises(ValueError, match="two values"):
        read_scores([tmp_path / "a.csv", tmp_path / "a.csv"])


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_damaged_file_is_an_error_that_names_it(suffix, tmp_path):
    path = tmp_path / f"s{suffix}"
    LONG.to_parquet(path) if suffix == ".parquet" else LONG.to_feather(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 17):  # in a process with another current folder
        path.write_bytes(whole[:place] + b"\xff\xff\xff\x7f" + whole[place + 4 :])
        try:
            read_scores(path)
        except (ValueError, OSError) as error:
            assert path.name in str(error)


def test_compressed_text_is_known_by_its_first_bytes(tmp_path):
    (tmp_path / "s.txt").write_bytes(gzip.compress(b"401 AP 0.5\n"))
    assert read_scores(tmp_path / "s.txt").values("AP").tolist() == [[0.5]]


@pytest.mark.parametrize("text", ["\n", " \n\t\n", ",,\n", "\t\n,\r\n"])
def test_a_blank_file_is_an_error_with_its_name(tmp_path, text):
    path = tmp_path / "blank.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match="blank.csv is blank: give a table of scores"):
        read_scores(path)


def test_of_the_folder_of_an_experiment_the_table_by_query_is_read(tmp_path):
    (tmp_path / "bm25.res.gz").write_bytes(gzip.compress(b"401 Q0 d 0 1.0 bm25\n"))
    pd.DataFrame({"name": ["bm25"], "AP": [0.375]}).to_csv(tmp_path / "aggregated.csv")
    EVALUATION.to_csv(tmp_path / "perquery.csv", index=False)
    assert read_scores(tmp_path).matrix("AP").T.to_dict() == VALUES
