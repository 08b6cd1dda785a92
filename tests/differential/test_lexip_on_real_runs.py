"""The tables and figures of the paper on lexiprecision, on real runs and collections."""

import pandas as pd
import pytest

from pyterrier_asl.analysis.collections_and_lengths import collection_statistics
from pyterrier_asl.analysis.discrimination import preference_discrimination
from pyterrier_asl.analysis.incomplete_judgements import missing_labels
from pyterrier_asl.analysis.recall_levels import prediction_from_suffixes
from pyterrier_asl.analysis.tied_rankings import ties

#: Analysis, its options and column, and the printed numbers.
PUBLISHED = [
    (ties, {"rel": 2}, "percent", [2.58, 50.30]),
    (prediction_from_suffixes, {}, "percent", [92.86, 91.08]),
    (preference_discrimination, {"rel": 2, "tests": ["paired"]}, "percent", [39.04, 39.45, 28.00]),
    (collection_statistics, {}, "rel/request", [66.78]),
]


@pytest.mark.parametrize(("analysis", "options", "column", "numbers"), PUBLISHED)
def test_published_numbers(dl20, analysis, options, column, numbers):
    """Of lexiprecision before those of reciprocal rank, of a collection of 54 requests."""
    found = analysis(dl20, None, **options)
    assert found[column].round(2).tolist() == numbers
    assert (len(dl20.qids), len(dl20)) == (54, 59)


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
