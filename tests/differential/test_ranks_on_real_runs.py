"""Intervals of ranks on real leaderboards, by numbers computed independently."""

import numpy as np
import pandas as pd
import pytest

import pyterrier_asl as asl


def p_of_all_pairs(values, draws=10_000, seed=0):
    """The p-value of each pair, from the statistics of all pairs in all draws at once."""
    a, b = np.triu_indices(len(values), 1)
    differences, topics = values[a] - values[b], values.shape[1]
    residuals = differences - differences.mean(axis=1, keepdims=True)
    residuals /= np.sqrt(topics * (topics - 1))
    error = (residuals**2).sum(axis=1)
    signs = 1 - 2 * np.random.default_rng(seed).integers(0, 2, (draws, topics))
    drawn = signs @ residuals.T
    drawn = np.abs(drawn) / np.sqrt((error - drawn**2 / topics + 3 * error.mean()) / 4)
    observed = np.abs(differences.mean(axis=1)) / np.sqrt((error + 3 * error.mean()) / 4)
    order = np.argsort(-observed)
    rest = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    p = np.ones((len(values), len(values)))
    shares = (rest >= observed[order] * (1 - 1e-9)).mean(axis=0)
    p[a[order], b[order]] = np.maximum.accumulate(shares)
    return np.minimum(p, p.T)


@pytest.mark.parametrize("seed", [0, 1])
def test_who_could_be_the_best_of_dl20(dl20, seed):
    board = asl.ranks(dl20, measures="nDCG@10", seed=seed)
    table = board.table.set_index("name")
    assert table["could_be_best"].sum() == 10
    p = pd.DataFrame(p_of_all_pairs(dl20.values("nDCG@10"), seed=seed), dl20.names, dl20.names)
    pairs = board.pairs()
    assert len(pairs) == 1711
    assert pairs["p"].tolist() == [p.loc[a, b] for a, b in zip(pairs["a"], pairs["b"])]
    assert pairs["ordered"].tolist() == (pairs["p"] <= 0.05).tolist()
    better = board.better.loc[:, "pash_r3"].sum(), board.better.loc["pash_r3"].sum()
    expected = [1, 1 + better[0], 59 - better[1]]
    assert table.loc["pash_r3", ["rank", "low", "high"]].tolist() == expected
    assert board.sentences()[0] == "10 of 59 systems could be the best by nDCG@10 (54 topics)."


def test_intervals_whatever_the_unjudged_contain_those_without(data, trec8):
    """The documents that only one group retrieved in its first 100 become unjudged."""
    groups = pd.read_csv(data / "trec8-adhoc" / "runs_table.tsv", sep="\t", dtype=str)
    group_of = dict(zip(groups["run"], groups["group"]))
    largest = pd.Series([group_of[name] for name in trec8.names]).value_counts().index[0]
    finds = np.zeros((2, len(trec8.judgements.docnos)), bool)
    for name, run in zip(trec8.names, trec8.runs):
        finds[int(group_of[name] == largest), run.pairs[run.ranks <= 100]] = True
    some = trec8.select(trec8.names[::6])
    table = trec8.judgements.table
    frame = table.frame("qid", "docno", "label")[~(finds[1] & ~finds[0])]
    hidden = some.judged_by(frame)
    plain = asl.ranks(hidden, measures="nDCG@10").table.set_index("name")
    whatever = asl.ranks(hidden, measures="nDCG@10", unjudged=True).table.set_index("name")
    whatever = whatever.loc[plain.index]
    assert (whatever["low"] <= plain["low"]).all() and (whatever["high"] >= plain["high"]).all()
    full = asl.ranks(some, measures="nDCG@10").table.set_index("name").loc[plain.index]
    assert ((whatever["low"] <= full["rank"]) & (full["rank"] <= whatever["high"])).all()
