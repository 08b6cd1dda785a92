"""The README's experiment and picture, run as they stand."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from brute_force import asl, lexip, ranking, rareness, tbg
from ir_measures import AP, R

from pyterrier_asl import ASL, ranks
from pyterrier_asl.analysis import rare_finds, ties
from pyterrier_asl.evaluation.evaluation import Evaluation

README = Path(__file__).resolve().parents[2] / "README.md"


def blocks(language):
    pattern = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    fenced = pattern.findall(README.read_text())
    return [text for name, text in fenced if name == language]


@pytest.fixture(scope="module")
def world(java, expansion, vaswani, tmp_path_factory):
    """What the README's experiment leaves behind."""
    import os

    names = {}
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("readme"))
    try:
        exec(next(block for block in blocks("python") if "TerrierIndex" in block), names)
        names["results"] = {
            name: system.transform(names["topics"]) for name, system in names["systems"].items()
        }
    finally:
        os.chdir(before)
    return names


pytestmark = pytest.mark.filterwarnings("ignore")


def test_published_average_precision(world):
    """As PyTerrier's users know vaswani."""
    found = world["table"].set_index("name")["AP"]
    print(found.to_dict())
    for name, expected in {"BM25": 0.2965, "RM3": 0.2984, "Bo1": 0.3046}.items():
        assert found[name] == pytest.approx(expected, abs=6e-5)


def test_the_table_is_the_one_that_is_shown(world):
    shown = next(block for block in blocks("") if "ASL@1000" in block and "RM3" in block)
    table = world["table"].set_index("name")
    rows = [line.split() for line in shown.strip().splitlines()[1:]]
    assert len(rows) == len(table.columns)
    for label, *values in rows:
        start = label.split("…")[0]
        column = next(
            name
            for name in table.columns
            if name == label or "…" in label and name.startswith(start)
        )
        assert table[column].round(4).tolist() == [float(value) for value in values], label


def test_each_measure_is_a_loop_over_the_same_results(world):
    grades = by_query(world["qrels"], "label")
    runs = {name: by_query(frame, "score") for name, frame in world["results"].items()}
    words = {d["docno"]: len(d["text"].split()) for d in world["dataset"].get_corpus_iter()}
    loops = {
        "ASL@1000": lambda docs, qrels, pool: asl(docs[:1000], qrels, k=1000),
        "ASL(g=10)@1000": lambda docs, qrels, pool: asl(docs[:1000], qrels, k=1000, g=10),
        "nASL@1000": lambda docs, qrels, pool: 1 - (asl(docs[:1000], qrels, k=1000) - 1) / 1000,
        "LexiP": lambda docs, qrels, pool: lexip(docs, qrels),
        "TBG": lambda docs, qrels, pool: tbg(docs, qrels, words),
        "AP_Rareness": lambda docs, qrels, pool: rareness(docs, qrels, pool, 100)[1],
    }
    table = world["table"].set_index("name")
    for start, loop in loops.items():
        column = next(name for name in table.columns if name.startswith(start))
        for name, run in runs.items():
            values = []
            for qid, qrels in grades.items():
                pool = [ranking(other.get(qid, {}), qrels) for other in runs.values()]
                values.append(loop(ranking(run.get(qid, {}), qrels), qrels, pool))
            assert table.loc[name, column] == pytest.approx(np.mean(values), abs=1e-9), column


def check_table(digits, block, table):
    """Checks that the values of a table are those that a block of the README shows."""
    rows = [line.split() for line in block.strip().splitlines()[1:]]
    assert len(rows) == len(table.columns)
    for label, *values in rows:
        assert table[label].round(digits).tolist() == [float(value) for value in values], label


def test_the_first_example_prints_what_is_shown(vaswani):
    names = {}
    exec(blocks("python")[0], names)
    check_table(3, blocks("")[0], names["table"].set_index("name"))


def test_what_is_said_of_the_runs_of_a_track(data):
    text = " ".join(README.read_text().split())
    folder = data / "dl20-passage"
    judged = Evaluation.of(folder / "runs", folder / "qrels.txt")
    tied = ties(judged, rel=2).set_index("preference")["percent"]
    assert f"same reciprocal rank in {tied['RR']:.0f} % of all pairs" in text
    assert f"same lexicographic precision in {tied['rrLP, sgnLP']:.0f} %" in text
    board = ranks(judged, measure="nDCG@10").table.set_index("name")
    finds = rare_finds(judged, rel=2).set_index("system")
    run = "DLH_d_5_t_25"
    assert f"`{run}` is {board['rank'][run]}th of {len(board)} on DL 2020 by nDCG@10" in text
    assert f"retrieves {finds['alone'][run]} relevant documents that no other run" in text
    assert f"{board['could_be_best'].sum()} of {len(board)} runs could be, by nDCG@10" in text


def test_what_stands_beside_the_picture(vaswani):
    """Picture and words are those of examples/why.py; p is of SciPy's paired t-test."""
    why = runpy.run_path(str(README.parent / "examples" / "why.py"))
    judged = why["runs"]()
    before, after = judged.row(why["BM25"]), judged.row(why["FEEDBACK"])
    text = " ".join(README.read_text().split())
    for measure, digits in ((AP, 3), (ASL @ 1000, 0), (R @ 1000, 3)):
        values = judged.values(measure)
        a, b = values[before].mean(), values[after].mean()
        p = scipy.stats.ttest_rel(values[before], values[after]).pvalue
        p = "p < 0.001" if p < 0.001 else f"p = {p:.2f}"
        assert f"({a:.{digits}f} and {b:.{digits}f}, {p})" in text
    changes = why["changes"](judged)
    moved = f"{changes.attrs['wins']} have fewer irrelevant documents above them with feedback and "
    assert moved + f"{changes.attrs['losses']} have more" in text
    picture = README.parent / "pyterrier_asl" / "pt_docs" / "why.svg"
    assert "<text" not in picture.read_text()
    far = changes["low"].abs().clip(lower=changes["high"].abs()) > 256
    nearer, farther = (
        changes[far & side]["documents"].sum() for side in (changes["high"] < 0, changes["low"] > 0)
    )
    assert nearer > 10 * farther


def by_query(frame, value):
    found = {}
    for qid, docno, number in zip(frame["qid"], frame["docno"], frame[value]):
        found.setdefault(qid, {})[docno] = number
    return found
