"""The tables and figures of the paper on lexiprecision, on real runs and collections."""

import pandas as pd

from pyterrier_asl.analysis.collections_and_lengths import collection_statistics
from pyterrier_asl.analysis.discrimination import preference_discrimination
from pyterrier_asl.analysis.incomplete_judgements import missing_labels
from pyterrier_asl.analysis.recall_levels import prediction_from_suffixes
from pyterrier_asl.analysis.tied_rankings import ties


def test_published_ties(dl20):
    found = ties(dl20, None, rel=2).set_index("preference")["percent"].round(2)
    assert found.tolist() == [2.58, 50.30]


def test_published_prediction_from_suffixes(dl20):
    found = prediction_from_suffixes(dl20, None).set_index("predictor")["percent"].round(2)
    assert found.tolist() == [92.86, 91.08]


def test_published_collection_statistics(dl20):
    found = collection_statistics(dl20, None).iloc[0].round(2)
    assert found[["requests", "runs", "rel/request"]].tolist() == [54, 59, 66.78]


def test_published_discriminative_power(dl20):
    found = preference_discrimination(dl20, None, rel=2, tests=["paired"])
    percent = found.set_index("preference")["percent"].round(2)
    assert percent.tolist() == [39.04, 39.45, 28.00]


def test_published_hsd(dl20):
    """The published numbers are within the range of 100 randomizations over several seeds."""
    published = {"rrLP": 37.46, "sgnLP": 40.91, "RR": 28.35}
    options = {"tests": ["tukey-randomized"], "progress": False}
    drawn = pd.concat(
        preference_discrimination(dl20, None, rel=2, draws=100, seed=seed, **options)
        for seed in range(40)
    ).groupby("preference")["percent"]
    for name, number in published.items():
        low, high = drawn.quantile(0.025)[name], drawn.quantile(0.975)[name]
        assert low - 0.01 <= number <= high + 0.01


def test_published_shape_of_ties_and_agreement_as_labels_go(dl20):
    labels = missing_labels(dl20, None, rel=2, progress=False)
    means = labels.set_index(["preference", "fraction"])[["ranking", "system", "tied"]]
    # Figure 9: ties of RR grow with labels, those of lexiprecision shrink.
    rr, lp = means.loc["RR", "tied"], means.loc["rrLP", "tied"]
    assert rr.loc[0.3:].is_monotonic_increasing
    assert (lp.diff().dropna() < 0.001).all(), "but for the scatter of ten samples"
    # Figure 8a: rrLP predicts complete reciprocal rank at least as well as incomplete RR does.
    partial = [fraction for fraction in rr.index if fraction < 1]
    for column in ("ranking", "system"):
        here = means[column]
        assert (here["rrLP"][partial] >= here["RR"][partial]).all()
