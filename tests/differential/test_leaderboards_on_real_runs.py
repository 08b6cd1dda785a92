"""Leaderboards under several judges, on real runs and collections."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from pyterrier_asl.analysis.judges import (
    judge_agreement,
    leaderboard_agreement,
    leaderboard_swaps,
    leaderboards,
)
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.io.qrels import read_qrels


def test_dl20_under_people_and_models(data):
    folder = data / "assessors" / "dl20"
    files = [folder / "dl20.nist.txt.gz", *sorted(folder.glob("dl20.[a-m]*.txt.gz"))]
    files.append(folder / "dl20.umbrela-gpt4.txt.gz")
    judges = {f.name.removeprefix("dl20.").removesuffix(".txt.gz"): f for f in files}
    rel = {name: 1 if name.startswith("binary") else 2 for name in judges}
    runs = Evaluation.of(data / "dl20-passage" / "runs", judges["nist"])
    agreement = leaderboard_agreement(runs, judges, judge_rel=rel, draws=50)
    print("\n", agreement.iloc[: len(judges) - 1].round(3).to_string())
    documents = judge_agreement(judges, judge_rel=rel)
    print(documents.iloc[: len(judges) - 1].round(3).to_string())
    # AP(rel=2) under NIST by ir_measures, in the order of the leaderboard.
    board = leaderboards(runs, judges, judge_rel=rel)
    nist = dict(zip(runs.names, runs.values("AP(rel=2)").mean(axis=1)))
    of_nist = board[board["judge"] == "nist"]
    assert np.allclose(of_nist["value"], sorted(nist.values(), reverse=True))
    print(board[board["judge"] == "umbrela-gpt4"].head(8).round(4).to_string())
    # Independently: tau of the means under NIST and umbrela.
    other = runs.judged_by(judges["umbrela-gpt4"]).values("AP(rel=2)").mean(axis=1)
    tau = scipy.stats.kendalltau(list(nist.values()), other).statistic
    row = agreement.set_index(["reference", "judge", "agreement"]).loc[
        "nist", "umbrela-gpt4", "tau"
    ]
    assert row["value"] == pytest.approx(tau)
    two = ("nist", "binary-llama3.2")
    swaps = leaderboard_swaps(
        runs, {name: judges[name] for name in two}, judge_rel={name: rel[name] for name in two}
    )
    print(swaps.head(5).round(4).to_string())
    assert len(swaps) and (swaps["difference_a"] > 0).all() and (swaps["difference_b"] < 0).all()


def test_core17_under_nist_and_the_crowd(data):
    """Generated systems rank by NIST's grades with more or less noise.

    The data have no runs of this track. NIST's order of the generated systems is known."""
    folder = data / "assessors" / "core17"
    nist, crowd = (read_qrels(folder / f"qrels.{n}.txt") for n in ("nist_same_pairs", "crowd"))
    rng = np.random.default_rng(1)
    runs = {
        f"noise{noise}": nist.assign(score=nist["label"] + noise * rng.normal(size=len(nist)))
        for noise in (0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8)
    }
    judges = {"nist": nist, "crowd": crowd}
    agreement = leaderboard_agreement(runs, judges)
    print("\n", agreement.round(3).to_string())
    board = leaderboards(runs, judges)
    print(board.round(4).to_string())
    ordered = board[board["judge"] == "nist"]["run"].tolist()
    assert ordered == list(runs)  # less noise, better
    assert agreement["value"][0] > 0.5
    gains = board[board["judge"] == "crowd"].set_index("run")["own_gain"]
    assert gains["noise0.25"] < 0 < gains["noise8"]  # a system that copies NIST loses by the crowd
