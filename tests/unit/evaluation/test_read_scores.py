"""Scores of other programs: what a table declares (scores.py, score_rows.py, score_files.py)."""

import gzip
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pyterrier_asl as asl
from pyterrier_asl.evaluation.scores import read_scores

VALUES = {"dense": {"402": 1.0, "401": 0.75}, "bm25": {"402": 0.5, "401": 0.25}}
EVALUATION = pd.DataFrame(
    [(n, q, v, 10 * v) for n, of in VALUES.items() for q, v in of.items()],
    columns=["name", "qid", "AP", "ASL@10"],
)
LONG = EVALUATION.melt(["name", "qid"], var_name="measure").sample(frac=1, random_state=1)
WIDE = pd.DataFrame(VALUES).rename_axis("qid").reset_index()


def printed(folder, line, summary):
    """One file per system, as trec_eval or ir_measures print it."""
    for name, by_query in VALUES.items():
        lines = [line.format(qid=qid, value=value) for qid, value in by_query.items()]
        (folder / f"input.{name}.txt").write_text("".join([*lines, summary]))


def of_systems(folder, frame):
    for name, part in frame.groupby("name"):
        part.drop(columns="name").to_csv(folder / f"{name}.tsv", sep="\t", index=False)


TREC = "map                   \t{qid}\t{value:.4f}\n"
#: Name of the form -> what writes it into a folder, or the frame; forms of the documentation.
FORMS = {
    "frame": lambda folder: LONG,
    "integers": lambda folder: LONG.astype({"qid": int}),
    "arrow": lambda folder: pa.Table.from_pandas(EVALUATION),
    "csv": lambda folder: LONG.to_csv(folder / "s.csv", index=False),
    "with index": lambda folder: LONG.to_csv(folder / "s.csv"),
    "tsv": lambda folder: LONG.to_csv(folder / "s.tsv", index=False, sep="\t"),
    "semicolons": lambda folder: EVALUATION.to_csv(folder / "s.csv", index=False, sep=";"),
    "gzip": lambda folder: LONG.to_csv(folder / "s.csv.gz", index=False),
    "parquet": lambda folder: EVALUATION.to_parquet(folder / "s.parquet"),
    "perquery.csv": lambda folder: EVALUATION.to_csv(folder / "perquery.csv", index=False),
    "JSON lines": lambda folder: LONG.to_json(folder / "s.jsonl", orient="records", lines=True),
    "a file per system": lambda folder: of_systems(folder, LONG),
    "measures of a file": lambda folder: of_systems(folder, EVALUATION),
    "trec_eval": lambda folder: printed(folder, TREC, "runid \tall\tx\nmap \tall\t0.5\n"),
    "trec_eval -n": lambda folder: printed(folder, TREC, ""),
    "ir_measures": lambda folder: printed(folder, "{qid}\tAP\t{value}\n", "all\tAP\t0.5\n"),
    "ir_measures -n": lambda folder: printed(folder, "{qid}\tAP\t{value}\n", ""),
    "evaluate": lambda folder: LONG.to_csv(folder / "s.tsv", sep="\t", header=False, index=False),
    "systems": lambda folder: WIDE,
    "systems csv": lambda folder: WIDE.to_csv(folder / "AP.csv", index=False),
    "queries": lambda folder: WIDE.set_index("qid").T.to_csv(folder / "AP.tsv", sep="\t"),
}


def read_form(form, folder, **options):
    source = FORMS[form](folder)
    wide = form.split()[0]
    options |= {"wide": wide} if wide in ("systems", "queries") else {}
    return read_scores(folder if source is None else source, **options)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_same_values(form, tmp_path):
    table = read_form(form, tmp_path)
    name = "score" if form == "systems" else "map"
    assert table.matrix(name).to_dict(orient="index") == VALUES
    assert table.tracks == [""] and "all" not in set(table.rows["qid"])
    assert list(table.rows) == ["track", "name", "repetition", "qid", "measure", "value", "text"]
    assert table.rows.index.tolist() == list(range(len(table.rows)))
    if "ASL@10" in table.measures:
        assert table.matrix("ASL@10").loc["dense", ["401", "402"]].tolist() == [7.5, 10]


CELLS = {"qid": "q1", "id": "q1", "task_name": "q1", "model_name": "a", "name": "a", "rag": "a"}
CELLS |= {"measure": "AP", "seed": "7", "category": "long"}


def test_the_forms_of_the_page_are_read(tmp_path):
    page = (Path(asl.__file__).parent / "pt_docs" / "leaderboards.rst").read_text()
    forms = re.findall(r"   \* - (.+)\n     - ``(.+)``\n     - (?:none|``--(.+?) (.+)``)\n", page)
    assert len(forms) == 11
    for name, line, option, value in forms:
        cells = ",".join(CELLS.get(cell, "0.25") for cell in line.split(","))
        is_header = "," in line and line[0] != "{"
        (tmp_path / "a.csv").write_text(f"{line}\n{cells}\n" if is_header else f"{line}\n")
        table = read_scores(tmp_path / "a.csv", **({option: value.strip("'")} if option else {}))
        frame = table.matrix("score" if option == "wide" else "AP")
        assert frame.loc["bm25" if value == "systems" else "a", "q1"] == 0.25, name
        assert table.groups == ({("", "q1"): "long"} if "category" in line else {})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("map\tq1\t.5\nmap\tall\t.5\n", {"AP": {"q1": 0.5}}),
        ("map 1 .5\nP_10 1 .25\n", {"AP": {"1": 0.5}, "P@10": {"1": 0.25}}),
        ("1\tAP\t.5\nall\tAP\t.5\n", {"AP": {"1": 0.5}}),
        ("q1 AP .5\nq2 AP 1\n", {"AP": {"q1": 0.5, "q2": 1.0}}),
        ("own q1 .5\nown all .5\n", {"own": {"q1": 0.5}}),
        ("own q1 .5\nmap q1 1\n", {"own": {"q1": 0.5}, "AP": {"q1": 1.0}}),
    ],
)
def test_lines_begin_with_what_no_measure_is_called(text, values, tmp_path):
    (tmp_path / "bm25.txt").write_text(text)
    table = read_scores(tmp_path / "bm25.txt")
    assert {m: table.matrix(m).loc["bm25"].to_dict() for m in table.measures} == values


@pytest.mark.parametrize("header", [None, False, True])
def test_collections_are_told_by_a_column(header, tmp_path):
    rows = pd.concat([LONG.assign(track="x"), LONG.assign(track="y", value=1.0)])
    if header is not None:  # lines of evaluate have none
        rows = rows[["track", *LONG]]
        rows.to_csv(tmp_path / "s.tsv", sep="\t", header=header, index=False)
    table = read_scores(rows if header is None else tmp_path / "s.tsv")
    assert table.tracks == ["x", "y"]
    assert (table.matrix("AP", "y") == 1).all(axis=None)
    with pytest.raises(ValueError, match="no collection 'z'"):
        table.matrix("AP", "z")


def test_systems_measures_and_directions():
    names = ["AP", "ASL@10", "latency", "f"]
    rows = pd.concat(LONG[:1].assign(measure=name, value=1) for name in names)
    table = read_scores(rows, lower_is_better=["latency"], higher_is_better=["f", "map"])
    assert [table.direction(name) for name in [*names, "map"]] == [True, False, False, True, True]
    for unknown in ("cost", "NumRet"):
        with pytest.raises(ValueError, match="--lower-is-better"):
            table.direction(unknown)
    assert read_scores(EVALUATION).systems(["bm25", "dense"]).names == ["bm25", "dense"]
    several = read_scores(LONG.replace("ASL@10", "score"))
    assert several.default_measures() == (several.measures, [])
    one, [lacks] = read_scores(
        several.rows[1:].query("measure == 'AP' or name == 'bm25'")
    ).default_measures()
    assert one == ["AP"] and lacks == "measures that some systems lack are left out: score (dense)"


def test_names_of_columns_are_given():
    """The names that are recognised belong to other columns: a topic, a judge, a language."""
    table = EVALUATION.rename(columns={"qid": "id", "name": "rag"})
    table = table.assign(topic="sport", model="gpt", language=list("edde"), part=list("xyxy"))
    columns = {"qid": "id", "name": "rag", "text": "topic|model", "group": "part"}
    found = read_scores(table, columns=columns | {"track": ""} | {"text": "topic|model|language"})
    assert found.matrix("AP").to_dict("index") == VALUES
    assert found.groups == {("", "402"): "x", ("", "401"): "y"}
    with pytest.raises(ValueError, match=r"language holds no numbers: .* 'text=language'"):
        read_scores(table, columns=columns)
    taken = EVALUATION.rename(columns={"qid": "model"}).drop(columns="name")  # a name of systems
    assert list(read_scores(taken[:2], columns={"qid": "model"}).matrix("AP")) == ["402", "401"]
    alone = read_scores(table, columns={"qid": "id", "name": "rag", "value": "AP"})
    assert alone.measures == ["AP"]
    [note] = alone.notes
    assert "ASL@10, topic, model, language and 1 more are left out" in note


def test_what_a_column_was_taken_for_is_said_once_for_all_files(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("task_name,title,f\n1,x,.5\n2,y,.25\n")
    [note] = read_scores([tmp_path / "b.csv", tmp_path / "a.csv"]).notes
    assert note.startswith(f"{tmp_path}/b.csv and {tmp_path}/a.csv: task_name is taken for qid")
    assert note.endswith("title is left out (--columns says otherwise)")


def test_missing_values_are_an_error_common_or_a_number():
    missing = EVALUATION.assign(AP=["N/A", 0.75, True, None])
    with pytest.raises(
        ValueError, match="2 values of 4 are missing, the first AP of dense for query '402'"
    ):
        read_scores(missing).matrices(["AP"])
    with pytest.raises(ValueError, match="no query has a value of every system"):
        read_scores(missing, missing="common").matrices(["AP"])
    filled = read_scores(missing, missing=0.5).matrices(["AP", "ASL@10"])
    assert filled.frames["AP"].to_dict("index") == {
        "dense": {"402": 0.5, "401": 0.75}, "bm25": {"402": 1.0, "401": 0.5},
    }  # fmt: skip
    assert filled.note == "2 missing values (dense: 1 and bm25: 1) count as 0.5"
    assert filled.filled["AP"].tolist() == [[True, False], [False, True]]
    rest = read_scores(EVALUATION[1:], missing="common").matrices(["map", "ASL@10"])
    assert rest.frames["map"].to_dict("index") == {"dense": {"401": 0.75}, "bm25": {"401": 0.25}}
    assert rest.note == "over 1 of 2 queries, those with a value of every system and measure"


MEAN = pd.DataFrame({"name": ["dense", "bm25"], "qid": ["Average"] * 2, "AP": [0.88, 0.37]})


def test_a_mean_of_the_others_is_left_out_and_a_query_of_that_name_is_not():
    """Means are rounded to two places, and one of them is printed as the other."""
    table = read_scores(pd.concat([EVALUATION[["name", "qid", "AP"]], MEAN]))
    assert table.matrix("AP").to_dict("index") == VALUES
    assert "'Average', the mean of the other queries, is left out" in table.notes[0]
    own = read_scores(pd.concat([EVALUATION[["name", "qid", "AP"]], MEAN.assign(AP=[0.89, 0.39])]))
    assert own.matrix("AP").loc["bm25", "Average"] == 0.39 and not own.notes
    wrong = pd.concat([MEAN.assign(AP=[0.88, 0.4]), EVALUATION[["name", "qid", "AP"]]])
    with pytest.raises(ValueError, match="'Average' is the mean .* but not for AP of bm25"):
        read_scores(wrong)
    counts = pd.DataFrame({"qid": ["1", "2", "all"], "NumRet": [4, 5, 9]})
    assert list(read_scores(counts).matrix("NumRet")) == ["1", "2"]


def test_repetitions_are_rows_of_their_own():
    rows = pd.concat([EVALUATION.assign(seed=s, AP=EVALUATION["AP"] / s) for s in (1, 2)])
    table = read_scores(rows[1:].query("name == 'dense' or seed == 1"), missing=0)
    assert table.repeated == ["dense"]
    with pytest.raises(ValueError, match="dense has several repetitions: only compare"):
        table.matrix("AP")
    frame = table.matrices(["AP"], repetitions=True).frames["AP"]
    assert frame.index.tolist() == [("dense", "1"), ("bm25", ""), ("dense", "2")]
    assert frame.loc["dense"].to_numpy().tolist() == [[0.75, 0], [0.375, 0.5]]
    folds = read_scores(EVALUATION.assign(fold=[1, 2, 1, 2]))
    assert not folds.repeated and folds.matrix("AP").to_dict("index") == VALUES


def test_files_that_name_one_system_and_files_with_one_value_twice(tmp_path):
    """The name is the model of the judge; each file is a system by its name."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("model,qid,f\ngpt,1,.5\n")
    with pytest.raises(ValueError, match="all name the system 'gpt': .*--columns name= .*one file"):
        read_scores(tmp_path)
    assert read_scores(tmp_path, columns={"name": ""}).names == ["a", "b"]
    (tmp_path / "c.csv").write_text(",qid,f\n0,1,.5\n")  # as pandas writes it
    assert read_scores(tmp_path / "c.csv", columns={"name": ""}).names == ["c"]
    (tmp_path / "c.csv").unlink()
    with pytest.raises(ValueError, match="a.csv is given twice"):
        read_scores([tmp_path / "a.csv"] * 2, columns={"name": ""})
    (tmp_path / "gpt.csv").write_text("model,qid,f\ngpt,2,.5\n")  # its own name
    assert read_scores([tmp_path / "a.csv", tmp_path / "gpt.csv"]).names == ["gpt"]
    (tmp_path / "gpt.csv").unlink()
    (tmp_path / "b.csv").write_text("name,qid,f\ngpt,1,.5\nb,1,.5\n")
    with pytest.raises(ValueError, match="two values of f of gpt .*: line 2 of .*a.csv and line 2"):
        read_scores(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="holds no files"):
        read_scores(tmp_path / "empty")


@pytest.mark.parametrize("form", ["csv", "perquery.csv", "tsv", "trec_eval", "evaluate"])
def test_a_table_that_is_cut_in_its_last_line_is_an_error(form, tmp_path):
    FORMS[form](tmp_path)
    for path in list(tmp_path.iterdir()):
        whole = path.read_text()
        for end in range(whole.rstrip().rfind("\n") + 2, len(whole)):
            path.write_text(whole[:end])
            with pytest.raises(ValueError, match=rf"{path.name}, line"):
                read_scores(path, missing=0)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_damaged_file_is_an_error_that_names_it(suffix, tmp_path):
    path = tmp_path / f"s{suffix}"
    LONG.to_parquet(path) if suffix == ".parquet" else LONG.reset_index(drop=True).to_feather(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 89):
        path.write_bytes(whole[:place] + b"\xff\xff\xff\x7f" + whole[place + 4 :])
        try:
            read_scores(path)
        except (ValueError, OSError) as error:
            assert path.name in str(error)


def test_of_the_folder_of_an_experiment_the_table_by_query_is_read(tmp_path):
    (tmp_path / "bm25.res.gz").write_bytes(gzip.compress(b"401 Q0 d 0 1.0 bm25\n"))
    pd.DataFrame({"name": ["bm25"], "AP": [0.375]}).to_csv(tmp_path / "aggregated.csv")
    EVALUATION.to_csv(tmp_path / "perquery.csv", index=False)
    assert read_scores(tmp_path).matrix("AP").to_dict("index") == VALUES


# Tables drawn at random


DAMAGES = ["", "None", "85 %", "1,234", "0,85", "inf", "timeout", "-1", "66", "[]", '"', "1e400"]
NAMES = {"name": ["name", "System", "rag"], "qid": ["qid", "Query-ID", "id"]}


@pytest.mark.parametrize("seed", range(40))
def test_a_table_is_read_right_or_refused(seed, tmp_path):
    """Columns renamed, columns and rows shuffled, cells damaged: never another number."""
    rng = np.random.default_rng(seed)
    table = EVALUATION if rng.random() < 0.5 else LONG
    texts = table.sample(frac=1, random_state=seed).astype(str).astype(object)
    column = str(rng.choice([name for name in texts if name not in NAMES and name != "measure"]))
    row, damage = int(rng.integers(len(texts))), str(rng.choice([*DAMAGES, "none of them"]))
    damaged = tuple(texts.iloc[row])
    if damage != "none of them":
        texts.iloc[row, list(texts).index(column)] = damage
    new = {name: str(rng.choice(names)) for name, names in NAMES.items()}
    texts = texts.rename(columns=new)[rng.permutation([new.get(name, name) for name in texts])]
    texts.to_csv(tmp_path / "s.csv", index=False, sep=str(rng.choice([",", ";", "\t"])))
    given = {role: name for role, name in new.items() if name in ("rag", "id")}
    try:
        found = read_scores(tmp_path / "s.csv", columns=given).rows
    except ValueError as error:
        assert damage != "none of them" and "s.csv, line" in str(error)
        return
    expected = LONG.set_index(["name", "qid", "measure"])["value"]
    found = found.set_index(["name", "qid", "measure"])["value"]
    missing = found[found.isna()].index
    assert len(missing) == (damage in ("", "None")) and set(found.index) == set(expected.index)
    for name, qid, measure in missing:
        assert {name, qid} <= {*damaged} and measure in {column, *damaged}
    is_seen = found.dropna()
    assert is_seen.to_dict() == expected[is_seen.index].to_dict()
    assert damage in ("none of them", "", "None")
