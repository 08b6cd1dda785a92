"""Runs of forty queries with ties and lengths, and qrels that judge some of them."""

import numpy as np
import pandas as pd
from ir_measures import AP, RR, infAP, nDCG

from pyterrier_asl import ASL, TBG, AP_Rareness, LexiP, RarenessPool

QUERIES, DEPTH = 40, 30


def make_run(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    docs = np.concatenate([rng.choice(100, DEPTH, replace=False) for _ in range(QUERIES)])
    return pd.DataFrame(
        {
            "qid": np.repeat([f"0{qid}" for qid in range(QUERIES)], DEPTH),
            "docno": [f"d{doc}" for doc in docs],
            "score": rng.integers(0, 20, QUERIES * DEPTH).astype(float),
            "doc_len": rng.integers(10, 500, QUERIES * DEPTH),
        }
    )


RUNS = {name: make_run(seed) for seed, name in enumerate(("bm25", "dph", "rm3"))}
RNG = np.random.default_rng(7)
QRELS = pd.DataFrame(
    {
        "qid": np.repeat([f"0{qid}" for qid in range(-1, QUERIES, 2)], 20),
        "docno": [f"d{d}" for _ in range(-1, QUERIES, 2) for d in RNG.choice(100, 20, False)],
        "label": RNG.integers(0, 3, 20 * len(range(-1, QUERIES, 2))),
    }
)
POOL = RarenessPool.from_runs({f"other{seed}": make_run(seed) for seed in range(1, 9)})
MEASURES = [
    ASL @ 20, LexiP, AP, RR, nDCG @ 10, TBG, AP_Rareness(pool=POOL) @ 10, AP_Rareness @ 10, infAP,
]  # fmt: skip
