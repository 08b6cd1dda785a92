"""TBG from ranks and lengths."""

import numpy as np
import pytest

from pyterrier_asl.scoring.time_biased_gain import time_biased_gain


def test_fractions_of_words_are_summed_within_their_query():
    ranks, offsets = np.array([3, 3]), np.array([0, 1, 2])
    words = np.array([1e9, 1e9, 1.0, 0.1, 0.2, 0.3])
    both = time_biased_gain(ranks, offsets, words, np.array([0, 3, 6]))
    alone = time_biased_gain(ranks[1:], offsets[:2], words[3:], np.array([0, 3]))
    assert both[1] == alone[0]
    seconds = 2 * 4.4 + 0.39 * (0.018 * (0.1 + 0.2) + 2 * 7.8)
    assert alone[0] == pytest.approx(0.64 * 0.77 * 2 ** (-seconds / 224), abs=1e-15)
