"""The experiment with Terrier, and statements of README and guides about real runs."""

import runpy

import numpy as np
import pytest
import scipy.stats
from _pages import PAGES, ROOT, blocks
from _systems import by_query
from brute_force import asl, lexip, ranking, rareness, tbg
from ir_measures import AP

from pyterrier_asl import ranks
from pyterrier_asl.analysis import ties
from pyterrier_asl.evaluation.evaluation import Evaluation

README = ROOT / "README.md"


def text(path):
    """The text of a page on one line."""
    return " ".join(path.read_text().replace("``", "").split())


@pytest.fixture(scope="module")
def world(java, expansion, vaswani, tmp_path_factory):
    """The names that the experiment with Terrier defines."""
    names = {}
    code = next(block for block in blocks("retrieval", "python") if "TerrierIndex" in block)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("readme"))
        exec(code, names)
        names["results"] = {
            name: system.transform(names["topics"]) for name, system in names["systems"].items()
        }
    return names


pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_table_is_the_one_that_is_shown(world):
    shown = next(block for block in blocks("retrieval", "text") if "RM3" in block)
    table = world["table"].set_index("name")
    rows = [line.split() for line in shown.strip().splitlines()[1:]]
    assert len(rows) == len(table.columns)
    for label, *values in rows:
        start = label.split("…")[0]
        column = next(c for c in table if c == label or "…" in label and c.startswith(start))
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


def test_statements_about_the_runs_of_a_track(data):
    folder = data / "dl20-passage"
    judged = Evaluation.of(folder / "runs", folder / "qrels.txt")
    tied = ties(judged, rel=2).set_index("preference")["percent"]
    measures = text(PAGES / "measures.rst")
    shares = f"{tied['RR']:.0f} % of all pairs of rankings tie in reciprocal rank, and "
    assert f"{shares}{tied['rrLP, sgnLP']:.0f} % in lexicographic precision" in measures
    board = ranks(judged, None, "nDCG@10").table
    number = f"decide between {board['could_be_best'].sum()} of its {len(board)} passage runs"
    for page in (README, PAGES / "index.rst"):
        assert number in text(page)


def test_the_picture_of_search_lengths(vaswani):
    """Mean AP hardly differs, and most of the large changes are improvements."""
    why = runpy.run_path(str(ROOT / "examples" / "why.py"))
    judged = why["runs"]()
    values = judged.values(AP)
    a, b = values[judged.row(why["BM25"])], values[judged.row(why["FEEDBACK"])]
    assert "Feedback hardly changes AP" in text(PAGES / "compare.rst")
    assert abs(a.mean() - b.mean()) < 0.01 and scipy.stats.ttest_rel(a, b).pvalue > 0.5
    assert "<text" not in (PAGES / "why.svg").read_text()
    changes = why["changes"](judged)
    far = changes["low"].abs().clip(lower=changes["high"].abs()) > 256
    sides = (changes["high"] < 0, changes["low"] > 0)
    nearer, farther = (changes[far & side]["documents"].sum() for side in sides)
    assert nearer > 10 * farther
