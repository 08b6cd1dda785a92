"""Ranks in the result of an experiment (results.py)."""

import numpy as np
import pandas as pd

from pyterrier_asl import Experiment, ranks


def test_ranks_follow_means():
    generator = np.random.default_rng(0)
    qids = [f"{number:02}" for number in range(30)]
    qrels = pd.DataFrame({"qid": qids, "docno": "a", "label": 1})
    topics = pd.DataFrame({"qid": qids, "query": "chess"})
    both = pd.DataFrame({"qid": np.repeat(qids, 2), "docno": ["a", "b"] * 30})
    systems = {
        name: both.assign(score=generator.normal(np.tile([gain, 0.0], 30)))
        for name, gain in (("bad", -2), ("good", 3), ("fair", 1))
    }
    table = Experiment(systems, topics, qrels, ["AP", "ASL@5", "NumRet"], ranks=True)
    ends = ("", " *", " rank low", " rank high")
    columns = [f"{measure}{end}" for measure in ("AP", "ASL@5") for end in ends]
    assert list(table) == ["name", *columns, "NumRet"]
    for measure in ("AP", "ASL@5"):
        board = ranks(systems, qrels, measure).table.set_index("name").loc[table["name"]]
        best = board.index[board["rank"] == 1][0]
        ordered = ranks(systems, qrels, measure).better.loc[best, table["name"]]
        assert table[f"{measure} *"].tolist() == ["*" * star for star in ordered]
        assert table[f"{measure} rank low"].tolist() == board["low"].tolist()
        assert table[f"{measure} rank high"].tolist() == board["high"].tolist()
    plain = Experiment(systems, topics, qrels, ["AP", "ASL@5", "NumRet"])
    pd.testing.assert_frame_equal(table[list(plain)], plain)
