"""The tables and figures of the paper on atomized search length, on real runs and collections."""

import numpy as np
import pandas as pd
import pytest

from pyterrier_asl import ASL
from pyterrier_asl.analysis.best_runs import headroom, run_quality
from pyterrier_asl.analysis.inputs import by_double_scores
from pyterrier_asl.analysis.reordered_systems import reordering
from pyterrier_asl.analysis.search_lengths import (
    effective_share,
    search_length_changes,
    search_length_distribution,
)
from pyterrier_asl.analysis.techniques import compare_techniques


def test_as_published_takes_missing_documents_right_after_the_list(robust03):
    several = headroom, run_quality, reordering, search_length_distribution, search_length_changes
    for analysis in several:
        published = analysis(robust03, as_published=True)
        pd.testing.assert_frame_equal(published, analysis(robust03, missing="after"))
        assert not published.equals(analysis(robust03))


def test_the_best_dl20_run_leaves_the_paper_s_750_passages_far_down(dl20):
    hundreds = list(range(1, 1002, 100))  # as in the figures of the paper
    frame = search_length_distribution(dl20, edges=hundreds)
    last = frame.iloc[-1]
    assert frame.attrs["run"] == "p_d2q_rm3_duo"
    assert int(frame["documents"].sum()) == int(dl20.judgements.num_relevant(1).sum())
    assert frame["documents"].idxmax() == 0  # the fullest bin is that of the shortest
    assert last["low"] == 901 and 750 < last["documents"] < 1000
    changes = search_length_changes(dl20, edges=hundreds)
    assert changes.attrs["wins"] > changes.attrs["losses"] > 0
    assert changes["documents"].iloc[0] > changes["documents"].iloc[-1]


def test_asl_over_deep_pools_is_mostly_recall(trec8, dl20):
    for judged, pearson, share in ((dl20, -0.993, 0.85), (trec8, -0.995, 0.73)):
        frame = run_quality(judged)
        found = np.corrcoef(frame["ASL"], frame["R@1000"])[0, 1]
        median = frame["missing_share"].median()
        assert found == pytest.approx(pearson, abs=5e-4)
        assert median == pytest.approx(share, abs=5.1e-3)
    unjudged = run_quality(dl20)["unjudged_share"].median()
    assert round(unjudged, 2) == 0.82


def test_map_of_all_trec8_runs_is_the_official_one(data, trec8):
    """uwmt8a0 has scores that are equal in 32 bits, as trec_eval reads them; NIST used 64 bits."""
    lines = (data / "trec8-adhoc" / "official-scores.map").read_text().split()
    official = {name: f"{float(value):.4f}" for name, value in zip(lines[::2], lines[1::2])}
    frame = run_quality(trec8).set_index("run")["AP"]
    ours = {name: f"{value:.4f}" for name, value in frame.items()}
    differ = {name: (ours[name], map_) for name, map_ in official.items() if ours[name] != map_}
    assert len(official) == 129 == len(ours) and differ == {"uwmt8a0": ("0.2143", "0.2142")}
    double = by_double_scores(trec8.select(differ)).values("AP").mean(axis=1)
    assert [f"{value:.4f}" for value in double] == ["0.2142"]


def test_table_1_dl20_passages(dl20):
    """As printed, except ASL@g1-10 of BM25: 51 is the value of p_bm25 or p_bm25rm3."""
    frame = compare_techniques(dl20, old="DLH_d_5_t_25", new="p_d2q_rm3_duo", as_published=True)
    frame = frame.set_index("measure")
    printed = {"P@20": (0.517, 0.706, 0.39), "AP": (0.400, 0.572, 0.29), "ASL": (264, 215, 0.19)}
    for measure, (old, new, rrie) in printed.items():
        digits = 0 if measure == "ASL" else 3
        row = frame.loc[measure]
        assert (round(row["old"], digits), round(row["new"], digits)) == (old, new)
        assert round(row["RRIE"], 2) == rrie
    assert frame.loc["ASL", "new"] == pytest.approx(214.505, abs=5e-4)
    assert round(frame.loc["ASL@g1-10", "new"]) == 6
    tops = dict(zip(dl20.names, dl20.values(ASL(g=10, missing="after")).mean(axis=1)))
    assert round(tops["p_bm25"]) == round(tops["p_bm25rm3"]) == 51


def test_reordering_is_within_what_the_paper_prints(trec8, dl20, robust03):
    """Table 2 gives mean ± one standard deviation over 76 tracks; these are three of them."""
    printed = {
        "atomize P": ((26, 60), (0.7, 0.9), (0.3, 0.6)),
        "documents": ((37, 77), (0.4, 0.8), (0.03, 0.4)),
        "queries": ((29, 78), (0.4, 0.9), (0.1, 0.9)),
        "cumulative": ((26, 60), (0.6, 0.9), (0.004, 0.06)),
        "P@20 to ASL@g1-10": ((40, 76), (0.4, 0.8), None),
        "RR to ASL@g1": ((49, 85), (0.3, 0.7), None),
    }
    frame = reordering({"TREC-8": trec8, "DL 2020": dl20, "Robust 2003": robust03})
    for row in frame.to_dict("records"):
        for value, within in zip((row["dSort"], row["tau"], row["dValue"]), printed[row["change"]]):
            if within is not None:
                assert within[0] <= value <= within[1], row


def test_effective_share_with_the_paper_s_57_percent(trec8, dl20, robust03):
    frame = effective_share({"TREC-8": trec8, "Robust 2003": robust03, "DL 2020": dl20})
    by_track = frame.groupby("track", sort=False)[["share", "pooled"]].agg(["mean", "std"])
    assert by_track.xs("mean", axis=1, level=1).to_numpy().min() > 0.57 - 0.16
    assert by_track.xs("mean", axis=1, level=1).to_numpy().max() < 0.57 + 0.16
    named = frame[frame["track"] == "TREC-8"].set_index("run")
    ap = dict(zip(trec8.names, trec8.values("AP").mean(axis=1)))
    assert all(named.loc[name, "AP"] == pytest.approx(value) for name, value in ap.items())
