"""The range of TBG: a ranking of relevant documents without words reaches its end."""

import pytest

from pyterrier_asl import TBG
from pyterrier_asl.measures.directions import value_range

#: Each parameter off its default.
OPTIONS = {"p_click_rel": 0.3, "p_save": 0.5, "time_summary": 2, "time_base": 9, "halflife": 60}


@pytest.mark.parametrize("option", [None, *OPTIONS])
@pytest.mark.parametrize("cutoff", [1, 4, None])
def test_the_range_ends_at_the_best_value(option, cutoff):
    changed = {name: value for name, value in OPTIONS.items() if option in (None, name)}
    measure = TBG(cutoff=cutoff, missing_length=0, p_click_nonrel=0.9, time_per_word=2, **changed)
    run = {"q": {f"d{n}": -n for n in range(cutoff or 3000)}}
    best = measure.calc_aggregate({"q": dict.fromkeys(run["q"], 1)}, run)
    assert value_range(measure) == (0, pytest.approx(best, rel=1e-9))
