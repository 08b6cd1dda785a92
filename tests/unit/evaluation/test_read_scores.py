"""Scores of other programs from all formats, and errors of tables (scores.py, score_files.py)."""

import gzip
import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
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
    "arrow": lambda folder: pa.Table.from_pandas(EVALUATION),
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
    source = source if isinstance(source, (pd.DataFrame, pa.Table)) else tmp_path
    table = read_scores(source, wide_systems=form.startswith("wide"))
    matrix = table.matrix("score" if form.startswith("wide") else "AP")
    assert matrix.to_dict(orient="index") == VALUES
    assert table.tracks == [""]
    assert list(table.rows) == ["track", "name", "qid", "measure", "value", "text"]
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

    for option in ("lower_is_better", "higher_is_better"):
        with pytest.raises(ValueError, match="'latency', which is none of the measures"):
            read_scores(LONG, **{option: ["latency"]})


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
    with pytest.raises(ValueError, match="holds no files"):
        read_scores(tmp_path)
    alone = EVALUATION[EVALUATION["name"] == "bm25"].drop(columns="name")
    alone.to_csv(tmp_path / "bm25.csv", index=False)
    table = read_scores(tmp_path / "bm25.csv")
    assert table.measures == ["AP", "ASL@10"]
    assert table.matrix("AP").to_dict("index") == {"bm25": VALUES["bm25"]}


@pytest.mark.parametrize("missing", [LONG[1:], LONG.assign(value=[np.nan, *LONG["value"][1:]])])
def test_missing_values_are_an_error_unless_filled(missing):
    message = "1 value of AP missing, .* 'bm25' for topic '401'.*--fill"
    with pytest.raises(ValueError, match=message):
        read_scores(missing).matrix("AP")
    for fill in (0, 0.5):
        assert read_scores(missing, fill=fill).matrix("AP").loc["bm25", "401"] == fill


def test_a_value_that_is_there_twice_is_an_error_that_names_the_second_file(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("name,qid,measure,value\nbm25,1,AP,.5\n")
    said = "two values of AP of 'bm25' for topic '1': line 2 of .*a.csv and line 2 of .*b.csv"
    with pytest.raises(ValueError, match=said):
        read_scores([tmp_path / "a.csv", tmp_path / "b.csv"])
    with pytest.raises(ValueError, match="two values"):
        read_scores([tmp_path / "a.csv", tmp_path / "a.csv"])


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_damaged_file_is_an_error_that_names_it(suffix, tmp_path):
    path = tmp_path / f"s{suffix}"
    LONG.to_parquet(path) if suffix == ".parquet" else LONG.to_feather(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 89):  # in a process with another current folder
        path.write_bytes(whole[:place] + b"\xff\xff\xff\x7f" + whole[place + 4 :])
        try:
            read_scores(path)
        except (ValueError, OSError) as error:
            assert path.name in str(error)


def test_compressed_text_is_known_by_its_first_bytes(tmp_path):
    (tmp_path / "s.txt").write_bytes(gzip.compress(b"401 AP 0.5\n"))
    assert read_scores(tmp_path / "s.txt").values("AP").tolist() == [[0.5]]


def test_of_the_folder_of_an_experiment_the_table_by_query_is_read(tmp_path):
    (tmp_path / "bm25.res.gz").write_bytes(gzip.compress(b"401 Q0 d 0 1.0 bm25\n"))
    pd.DataFrame({"name": ["bm25"], "AP": [0.375]}).to_csv(tmp_path / "aggregated.csv")
    EVALUATION.to_csv(tmp_path / "perquery.csv", index=False)
    assert read_scores(tmp_path).matrix("AP").T.to_dict() == VALUES


#: A file's name and content -> measures, systems and topics, and a part of the warning.
OTHERS = {
    "ragas.csv": ("qid,faith,relevancy\n1,.5,.25\n2,1,0\n", ["faith", "relevancy"], ["ragas"], ""),
    "latency.csv": ("qid;AP;latency_ms\n1;.5;9\n2;1;8\n", ["AP", "latency_ms"], ["latency"], ""),
    "text.csv": ("query,model,qid,AP\n7,a,1,.5\n7,b,1,1\n8,a,2,0\n8,b,2,1\n", ["AP"], ["a", "b"],
                 "query"),
    "wide.tsv": ("Model\tRank\tx\tAverage\ty\na\t1\t3\t2.5\t2\nb\t2\t1\t.5\t0\n", ["score"],
                 ["a", "b"], "Rank and Average, which hold no topic"),
    "mteb.csv": ("task_name,main_score,model_name,time\n1,.5,a,7\n2,.25,a,8\n", ["main_score"],
                 ["a"], "time"),
    "measures.csv": ("system;topic;measure;value\na;1;AP;.5\na;2;AP;0\n", ["AP"], ["a"], ""),
    "systems.csv": ("topic,metric,a,b\n1,AP,.5,1\n2,AP,.25,0\n", ["AP"], ["a", "b"], ""),
    "all_trec.eval": (
        "a, b\nmap\t1\t.5\nrelstring\t1\t'01'\nmap\t2\t1\nrunid\tall\tx y\n", ["map"],
        ["all_trec.eval"],
        "1 line before the first value and 2 values that are no numbers .relstring and runid",
    ),
    "ours.jsonl": (
        '{"run": "a", "query_id": "1", "measure": "AP", "value": 1}\n'
        '{"run": "a", "query_id": "2", "measure": "AP", "value": 0}\n'
        '{"run": "a", "query_id": "all", "measure": "AP", "value": 0.5}\n', ["AP"], ["a"], "",
    ),
    "pytrec_eval.json": ('{"1": {"map": 1, "P_5": 0}, "2": {"map": 0.5, "P_5": 1}}',
                         ["map", "P_5"], ["pytrec_eval"], ""),
    "excel.csv": ("\ufeffsep=;\r\nQID;AP\r\n1;0.5\r\n2;1\r\n", ["AP"], ["excel"], ""),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_tables_that_people_bring(name, tmp_path):
    content, measures, systems, left_out = OTHERS[name]
    (tmp_path / name).write_bytes(content.encode())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read_scores(tmp_path / name)
    assert table.measures == measures
    for measure in measures:
        matrix = table.matrix(measure)
        assert matrix.index.tolist() == systems and set(matrix.columns) in ({"1", "2"}, {"x", "y"})
    found = [bool(re.search(left_out, str(warning.message))) for warning in caught]
    assert found == [True] * bool(left_out)


def test_two_files_of_measures_are_two_systems(tmp_path):
    for number, name in enumerate("ba"):
        (tmp_path / f"{name}.csv").write_text(f"qid,f\n2,{number}\n1,.5\n")
    table = read_scores([tmp_path / "b.csv", tmp_path / "a.csv"])
    assert table.matrix("f").to_dict("index") == {"b": {"2": 0, "1": 0.5}, "a": {"2": 1, "1": 0.5}}
    message = "'f' is a measure of the scores, .* pass wide_systems=True"
    with pytest.raises(ValueError, match=message):
        read_scores(tmp_path / "a.csv").systems(["f"])


REFUSED = [
    (LONG.drop(columns="qid"), "no column qid"),
    (LONG.drop(columns=["name", "value"]), "a column measure, but no column value"),
    (pd.DataFrame({"AP": [0.5]}), "no column qid; it has AP"),
    (pd.DataFrame({"run": ["a"], "AP": [0.5], "mrt": [9.0]}), "the values of each topic"),
    (LONG.assign(value="high"), "'high', which is not a number"),
    (pd.concat([LONG, LONG]), "two values of AP of 'bm25' for topic '401'"),
    (LONG.assign(qid="all"), "has no value of a topic"),
    *((text, "s.csv is blank") for text in ("\n", " \n\t\n", ",,\n", "\t\n,\r\n")),
    *((text, "s.csv") for text in ("", "1 2\n", "a b c d e\n", "just a line of words\n\n")),
    ("name,qid,measure,vlaue\na,1,AP,.5\n", "s.csv has a column measure, but no column value"),
    ("name,qid,measure,value\na,,AP,.5\n", "s.csv has 1 row without qid"),
    ("name,Name,qid,measure,value\na,b,1,AP,.5\n", "s.csv: there are both name and Name"),
    ("Model,A,B\nx,1,3\n", "could be topics, but no column has their mean, or measures"),
    ("Model,Average,A,B\nx,9,1,3\n", "could be topics, but no column has their mean"),
    ("qid;AP\n1;0,5\n", "line 2: the AP of s for topic '1' is '0,5', which is not a number"),
    (
        "name,seed,qid,f\na,1,q,.5\n\na,2,q,.25\n",
        "for topic 'q': line 2 of .* and line 4 of .*mean",
    ),
    ("Model\t1\t2\tmean\t3\na\t3\t2.5\t2\t.5\n", "line 2: the measure is .2., a number"),
    ('{"a": {"1": 0.5}}', "needs measures of each topic, but has 1"),
    (
        '{"qid": "1", "AP": 1}\n{"qid": "2"}\n{"qid": "2", "AP": "x"}',
        "3: the AP of s for topic '2' is 'x'",
    ),
    ('name,qid,AP\n"bm25,q1,0.5\ndph,q1,0.4\nlm",q1,0.3\n', r"line 4: a field has a line break"),
]


@pytest.mark.filterwarnings("ignore:.* left out")
@pytest.mark.parametrize(("scores", "message"), REFUSED)
def test_wrong_tables_are_refused(scores, message, tmp_path):
    if isinstance(scores, str):
        (tmp_path / "s.csv").write_text(scores)
        scores = tmp_path / "s.csv"
    with pytest.raises(ValueError, match=message):
        read_scores(scores)
