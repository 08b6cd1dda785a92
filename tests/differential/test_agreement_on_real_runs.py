"""Agreement of rankings and of judges, on real runs and collections."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from pyterrier_asl.statistics.agreement import cohen_kappa, confusion_table


@pytest.mark.data
def test_kappa_of_crowd_and_nist_on_real_judgements(data):
    def read(name):
        lines = (data / "assessors" / "core17" / name).read_text().split("\n")
        rows = [line.split() for line in lines if line]
        return {(qid, docno): int(grade) for qid, _, docno, grade in rows}

    crowd, nist = read("qrels.crowd.txt"), read("qrels.nist_same_pairs.txt")
    assert crowd.keys() == nist.keys() and len(crowd) == 5947
    a = np.array([crowd[pair] for pair in crowd])
    b = np.array([nist[pair] for pair in crowd])
    _, counts = confusion_table(a > 0, b > 0)
    assert counts.sum() == 5947

    assert cohen_kappa(a > 0, b > 0) == pytest.approx(cohens_kappa(counts).kappa, abs=1e-12)
