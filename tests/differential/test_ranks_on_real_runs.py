"""Intervals of ranks on real leaderboards, by numbers computed independently."""

from __future__ import annotations

import pytest

import pyterrier_asl as asl
from pyterrier_asl.evaluation.judged_runs import JudgedRuns

pytestmark = pytest.mark.filterwarnings("ignore:the mean nDCG@10 of DoRA_Large")


@pytest.fixture(scope="module")
def dl20(data):
    folder = data / "dl20-passage"
    return JudgedRuns.of(folder / "runs", folder / "qrels.txt")


@pytest.mark.parametrize(("seed", "ordered"), [(0, 1033), (1, 1027), (2, 1026)])
def test_who_could_be_the_best_of_dl20(dl20, seed, ordered):
    board = asl.ranks(dl20, measure="nDCG@10", seed=seed)
    table = board.table.set_index("name")
    assert table["could_be_best"].sum() == 12
    assert table["possibly_first"].sum() == 21
    assert table.loc["pash_r3", ["rank", "low", "high"]].tolist() == [1, 1, 21]
    assert len(board.pairs()) == 1711 and int(board.pairs()["ordered"].sum()) == ordered
    assert board.sentences()[0] == ("54 topics do not say who is best: 12 of 59 systems could be.")


def test_all_judges_together(data, dl20):
    folder = data / "assessors" / "dl20"
    names = [path.name for path in folder.glob("dl20.*.txt.gz") if "FRACTIONAL" not in path.name]
    judges = {name.removeprefix("dl20.").removesuffix(".txt.gz"): folder / name for name in names}
    alone = asl.ranks(dl20, measure="nDCG@10")
    nist = judges.pop("nist")
    board = asl.ranks(dl20, nist, "nDCG@10", judges=judges)
    assert len(board.judges) == 6
    assert int(board.pairs()["ordered"].sum()) == pytest.approx(540, abs=10)
    alone_by_name = alone.table.set_index("name").loc[board.names]
    assert (board.table["low"].to_numpy() <= alone_by_name["low"].to_numpy()).all()
