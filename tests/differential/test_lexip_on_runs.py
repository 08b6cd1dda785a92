"""LexiP against sgnLP on every pair of real runs and every topic."""

import itertools
import math

import numpy as np
import pytest

from pyterrier_asl import LexiP


@pytest.mark.parametrize("rel", [1, 2])
def test_every_pair_on_every_topic_of_dl20(dl20, rel):
    """The first difference in the ranks of relevant documents decides, or both tie.

    Each shared position divides the difference of the values by about g (g + 1), with its gap g.
    The values may tie only if the product of these factors is near the precision of doubles.
    """
    values = dl20.values(LexiP(rel=rel))
    ranks = [run.relevant(rel) for run in dl20.runs]
    for topic in range(len(dl20.qids)):
        at = [r.ranks[r.offsets[topic] : r.offsets[topic + 1]].tolist() for r in ranks]
        total = int(ranks[0].total[topic])
        padded = [found + [math.inf] * (total - len(found)) for found in at]
        for a, b in itertools.combinations(range(len(dl20)), 2):
            sign = (padded[a] < padded[b]) - (padded[a] > padded[b])  # a smaller rank is better
            found = np.sign(values[a, topic] - values[b, topic])
            if found == 0 and sign != 0:
                same = next(i for i, (x, y) in enumerate(zip(padded[a], padded[b])) if x != y)
                gaps = np.diff([0, *padded[a][:same]])
                assert np.log2(gaps * (gaps + 1.0)).sum() > 40, (topic, a, b)
            else:
                assert found == sign, (dl20.qids[topic], dl20.names[a], dl20.names[b])
