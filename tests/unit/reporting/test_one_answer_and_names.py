"""One answer on the page, the terminal and in Python, and short names of systems."""

import html
import re

import numpy as np
import pytest
from _reports import QRELS, RUNS, a_run, data_of
from hypothesis import example, given
from hypothesis import strategies as st

from pyterrier_asl import ranks, report
from pyterrier_asl.leaderboard.numbers import p_text
from pyterrier_asl.reporting.page import short_names


@pytest.mark.parametrize("most", [9, 16])
@given(st.lists(st.text("ab", min_size=1, max_size=40), unique=True, max_size=8))
@example([f"bm25-tuned-with-a-long-description-{at}" for at in range(30)])
@example([f"{at}-then-a-long-end-that-is-the-same-for-all" for at in range(30)])
@example([f"begins-alike-{at}-and-ends-alike-as-well" for at in range(30)])
def test_short_names_stay_different(most, names):
    short = short_names(names, most)
    assert len(set(short)) == len(names) and all(len(name) <= most for name in short)


pytest.importorskip("vl_convert", reason="reports need pyterrier-asl[report]")
pytestmark = pytest.mark.filterwarnings("ignore")

THIRTY = {f"q{at}": {f"d{d}": int(d < 8) for d in range(12)} for at in range(30)}
NEAR = {f"s{seed}": a_run(seed, list(THIRTY), noise=1 + seed / 6) for seed in range(6)}


#: Systems and queries in another order.
TURNED = {name: dict(reversed(run.items())) for name, run in reversed(RUNS.items())}


#: Runs, qrels (or their paths) and measure.
SETS = {
    "five systems": (TURNED, QRELS, "nDCG@10"),
    "a cost": (RUNS, QRELS, "ASL@20"),
    "ties": (dict(zip("abcd", map(RUNS.get, ("fair", "good", "good", "poor")))), QRELS, "RR"),
    "equal runs": (dict.fromkeys("abc", RUNS["good"]), QRELS, "AP"),
    "near systems": (NEAR, THIRTY, "AP"),
    "DL 2020": ("dl20-passage/runs", "dl20-passage/qrels.txt", "nDCG@10"),
    "TREC-8": ("trec8-adhoc/runs", "trec8-adhoc/qrels.txt.gz", "AP"),
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("DL 2020", "TREC-8")]


def text_of(page: str, part: str) -> str:
    """The text of the first element of a class."""
    match = re.search(rf'(?s)<p class="{part}">(.*?)</p>', page)
    text = html.unescape(re.sub("<[^>]*>", "", match.group(1))).replace("−", "-")
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("name", [*list(SETS)[:-2], *SLOW])
def test_page_terminal_and_python_give_one_answer(name, request):
    runs, qrels, measure = SETS[name]
    if isinstance(runs, str):
        runs, qrels = (request.getfixturevalue("data") / path for path in (runs, qrels))
    board, page = ranks(runs, qrels, measure), report(runs, qrels, [measure]).html
    at_one = board.table["possibly_first"].equals(board.table["could_be_best"])
    assert at_one == (name != "near systems") or name in ("DL 2020", "TREC-8")
    check_data(data_of(page), board)
    check_rows(page, board)
    check_headline(text_of(page, "says"), str(board), board)


def check_data(data: dict, board) -> None:
    """Intervals of ranks, candidates, order and p of all pairs."""
    systems, [measure] = data["systems"], data["measures"]
    table = board.table.set_index("name").loc[systems]
    held = measure["board"]
    assert measure["ranks"] == table["rank"].tolist()
    assert (held["low"], held["high"]) == (table["low"].tolist(), table["high"].tolist())
    assert held["possible"] == table["could_be_best"].tolist()
    assert held["stars"] == [dict(zip(board.names, board.stars))[name] for name in systems]
    size = (len(systems),) * 2
    np.testing.assert_array_equal(
        np.reshape(held["better"], size), board.better.loc[systems, systems].to_numpy()
    )
    upper = np.triu_indices(len(systems), k=1)
    p = board.p.loc[systems, systems].to_numpy()[upper]
    shown = [held["p"][code] for code in np.reshape(held["codes"], p.shape)]
    assert shown == [p_text(each, board.draws, board.alpha) for each in p]


def check_rows(page: str, board) -> None:
    """The leaderboard of the page: order, ranks, and coloured rows."""
    body = page[page.index('<table id="board"') :]
    rows = re.findall(r'(?s)<tr data-system="\d+"(.*?)>(.*?)</tr>', body[: body.index("</tbody>")])
    assert len(rows) == len(board.names)
    separates = not board.table["could_be_best"].all()
    for (row, cells), (_, expected) in zip(rows, board.table.iterrows()):
        name = html.unescape(re.search('(?s)<th.*?data-value="(.*?)"', cells).group(1))
        assert name == expected["name"]
        assert ("possible" in row) == (separates and expected["could_be_best"])
        low, high = expected["low"], expected["high"]
        assert f"--low:{low};--high:{high};--rank:{expected['rank']}" in cells


def check_headline(says: str, terminal: str, board) -> None:
    """The page has the first sentences of the terminal, unless all systems are equal."""
    flat = re.sub(r"\s+", " ", terminal)
    if says.startswith("All 3 systems have the same"):
        assert board.table["could_be_best"].all() and not board.pairs()["ordered"].any()
    else:
        assert flat.startswith(" ".join(says.split()))
