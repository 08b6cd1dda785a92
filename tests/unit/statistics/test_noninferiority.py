"""The one-sided test of non-inferiority, against SciPy's t-test and noncentral t and draws."""

import numpy as np
import pytest
from scipy import stats

from pyterrier_asl.statistics.pairwise import non_inferiority


@pytest.mark.parametrize("margin", [0.01, 0.02, 0.3])
@pytest.mark.parametrize("queries", [2, 8, 50])
def test_it_is_a_one_sided_t_test_against_the_margin(queries, margin):
    gains = np.random.default_rng(queries).normal(-0.01, 0.1, queries)
    result = non_inferiority(gains, margin)
    expected = stats.ttest_1samp(gains, -margin, alternative="greater")
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_the_power_matches_the_noncentral_t(alpha):
    gains = np.random.default_rng(3).normal(0, 0.1, 20)
    error = gains.std(ddof=1) / np.sqrt(20)
    power = stats.nct(19, 0.05 / error).sf(stats.t.isf(alpha, 19))
    assert non_inferiority(gains, 0.05, alpha=alpha).power == pytest.approx(power)


@pytest.mark.parametrize("gain", [0.1, -0.019, -0.5])
def test_without_variance_there_is_no_test_but_for_equal_systems(gain):
    assert np.isnan([non_inferiority([gain] * queries, 0.02).p for queries in (1, 5)]).all()
    assert non_inferiority([0.0] * 5, 0.02).p == 0
    with pytest.raises(ValueError, match="give 0 < alpha < 1"):
        non_inferiority([0.1, 0.2], 0.02, alpha=1)
