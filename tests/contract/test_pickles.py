"""Measures pickled by an earlier version of the package."""

import base64
import pickle
import zlib
from pathlib import Path

import pytest

#: Pickled by version 0.1.0, with a pool of two runs and the lengths of three documents.
FIRST = (Path(__file__).parent / "measures-0.1.0.txt").read_text()

#: Three documents; only the second is relevant.
QRELS = {"q": {"d": 2, "x": 0}}
RUN = {"q": {"x": 3, "d": 2, "e": 1}}


def test_measures_of_the_first_version_have_their_names_and_values():
    measures = pickle.loads(zlib.decompress(base64.b64decode(FIRST)))
    asl, nasl, lexip, rareness, tbg = measures
    assert [str(measure).partition("(pool")[0] for measure in measures[:4]] == [
        "ASL(rel=2,g=3)@10",
        "nASL@100",
        "LexiP",
        "AP_Rareness",
    ]
    assert asl.calc_aggregate(QRELS, RUN) == 2
    assert nasl.calc_aggregate(QRELS, RUN) == pytest.approx(1 - 1 / 100)
    assert lexip.calc_aggregate(QRELS, RUN) == 1 / 2
    # One of two runs retrieves it, and this run is the third: R = 1 - 2/3; alpha = .5.
    assert rareness.calc_aggregate(QRELS, RUN) == pytest.approx((1 + 0.5 / 3) / 2)
    # One irrelevant document of three words first: 4.4 + (0.018 * 3 + 7.8) * 0.39 seconds.
    seconds = 4.4 + (0.018 * 3 + 7.8) * 0.39
    assert tbg.calc_aggregate(QRELS, RUN) == pytest.approx(0.4928 * 2 ** (-seconds / 224))
