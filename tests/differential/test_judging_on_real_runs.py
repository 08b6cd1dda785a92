"""Ranking and judging, on real runs and collections."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pyterrier_asl import RarenessPool
from pyterrier_asl.io.qrels import read_qrels_table
from pyterrier_asl.io.runs import read_run_table, run_name
from pyterrier_asl.judging.judged_run import judge
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.measures import AP_Rareness, P_Rareness


def nested(table: pa.Table) -> dict[str, dict]:
    """Query -> document -> score or grade."""
    made: dict[str, dict] = {}
    for qid, docno_, value in zip(*(table.column(n).to_pylist() for n in range(3))):
        made.setdefault(qid, {})[docno_] = value
    return made


@pytest.mark.parametrize("track", ["dl20-passage", "robust03", "trec8-adhoc"])
def test_without_alpha_rareness_is_pytrec_evals_precision(data: Path, track):
    """All runs with ties and repeated documents; every fifth run of TREC-8."""
    import pytrec_eval

    table = next(read_qrels_table(path) for path in (data / track).glob("qrels.txt*"))
    judgements = Judgements(table)
    evaluator = pytrec_eval.RelevanceEvaluator(nested(table), {"P.100", "map_cut.100"})
    paths = sorted((data / track / "runs").iterdir())[:: 5 if track == "trec8-adhoc" else 1]
    runs = {run_name(path): read_run_table(path) for path in paths}
    pool = RarenessPool.from_runs(runs, depth=100)
    measures = {
        "P_100": P_Rareness(pool=pool, alpha=0) @ 100,
        "map_cut_100": AP_Rareness(pool=pool, alpha=0) @ 100,
    }
    worst = 0.0
    for run in runs:
        judged, expected = judge(judgements, runs[run]), evaluator.evaluate(nested(runs[run]))
        for name, measure in measures.items():
            reference = [expected.get(q, {}).get(name, 0.0) for q in judgements.qids]
            difference = np.abs(measure.values(judged) - reference)
            assert difference.max() <= 1e-9, f"{run}, {name}: {difference.max()}"
            worst = max(worst, difference.max())
    print(
        f"{track}: P_Rareness and AP_Rareness with alpha=0 of {len(paths)} runs against "
        f"pytrec_eval's P_100 and map_cut_100: largest difference {worst:.1e}"
    )
