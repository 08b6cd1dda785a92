"""Statistics by name, on real runs and collections."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pyterrier_asl.statistics.tests import (
    compare_all,
)


def names(values: np.ndarray) -> list[str]:
    return [f"s{i}" for i in range(len(values))]


def values_by_pytrec_eval(folder, qrels_name, least, measures):
    """Per-query values of all runs of a folder, on rankings by 64-bit scores.

    Ranks replace the scores, because pytrec_eval compares scores in 32 bits.
    """
    import pytrec_eval

    columns = {0: "qid", 2: "docno", 4: "score"}
    qrels = pd.read_csv(folder / qrels_name, sep=r"\s+", header=None, dtype=str, na_filter=False)
    judged = {
        qid: {docno: int(int(grade) >= least) for docno, grade in zip(rows[2], rows[3])}
        for qid, rows in qrels.groupby(0)
    }
    evaluator = pytrec_eval.RelevanceEvaluator(judged, measures)
    results = []
    for path in sorted((folder / "runs").glob("*.gz")):
        run = pd.read_csv(
            path, sep=r"\s+", header=None, usecols=[0, 2, 4], dtype=str, na_filter=False
        ).rename(columns=columns)
        run["score"] = run["score"].map(float)
        run = run.sort_values(["score", "docno"], ascending=False)
        run = run.drop_duplicates(["qid", "docno"])
        run["place"] = -run.groupby("qid").cumcount().astype(float)
        ranking = {qid: dict(zip(r["docno"], r["place"])) for qid, r in run.groupby("qid")}
        results.append(evaluator.evaluate(ranking))
    return {
        measure: np.array([[r.get(qid, {}).get(measure, 0.0) for qid in judged] for r in results])
        for measure in measures
    }


@pytest.mark.data
def test_significant_pairs_of_trec8_as_published_for_rareness(data):
    # Türkmen et al. (2023), Table 1, also AP at 100. Values were read from rounded output, so the
    # numbers may differ by one pair.
    tables = values_by_pytrec_eval(
        data / "trec8-adhoc", "qrels.txt.gz", 1, ["P_100", "map_cut_100"]
    )
    published = {"P_100": (3666, 2973), "map_cut_100": (3731, 2976)}
    for measure, (at_95, at_99) in published.items():
        values = tables[measure]
        assert values.shape == (129, 50)
        frame = compare_all(values, names(values), test="unpaired-t", correction="none")
        assert len(frame) == 8256
        assert np.sum(frame["p"] <= 0.05) == pytest.approx(at_95, abs=1)
        assert np.sum(frame["p"] <= 0.01) == pytest.approx(at_99, abs=1)


@pytest.mark.data
def test_significant_pairs_and_ties_of_dl20_as_published_for_reciprocal_rank(data):
    # Diaz (2023), Tables 3 and 4; the paper names Bonferroni's correction and uses Holm's.
    tables = values_by_pytrec_eval(data / "dl20-passage", "qrels.txt", 2, ["recip_rank"])
    values = tables["recip_rank"]
    assert values.shape == (59, 54)
    frame = compare_all(values, names(values), test="t", correction="holm")
    assert 100 * frame["significant"].mean() == pytest.approx(28.00, abs=0.005)
    first, second = np.triu_indices(59, 1)
    assert 100 * np.mean(values[first] == values[second]) == pytest.approx(50.30, abs=0.005)
