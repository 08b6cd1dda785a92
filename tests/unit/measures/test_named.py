"""Pools found by the names that measures print, as long as an object refers to them."""

import weakref

import ir_measures
import pytest

from pyterrier_asl import P_Rareness, RarenessPool
from pyterrier_asl.measures import named as naming

pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 8")

KEPT = 2


@pytest.fixture(autouse=True)
def few_are_kept(monkeypatch):
    monkeypatch.setattr(naming, "KEPT", KEPT)


RUNS = {"first": {"q1": {"a": 3, "b": 2}}, "second": {"q1": {"a": 3, "d": 2}}}


def test_a_name_that_two_pools_have_is_ambiguous():
    RarenessPool.from_runs(RUNS, name="twice")
    RarenessPool.from_runs(RUNS, depth=1, name="twice")
    with pytest.raises(ValueError, match="choose by id"):
        P_Rareness(pool="twice") @ 1


def numbered(i):
    return RarenessPool.from_runs({"run": {"q": {f"d{i}": 1}}}, name=f"numbered {i}")


def test_pools_that_nothing_refers_to_are_forgotten_but_for_the_last():
    """Memory does not grow with experiments; the newest pool is found by its name."""
    made = [weakref.ref(numbered(i)) for i in range(3 * KEPT)]
    alive = [pool() is not None for pool in made]
    assert alive == [False] * 2 * KEPT + [True] * KEPT
    assert str(P_Rareness(pool="numbered 5") @ 1).startswith("P_Rareness(pool='numbered 5-")
    with pytest.raises(ValueError, match=r"process .*'numbered 4-.*, not 'numbered 2'"):
        P_Rareness(pool="numbered 2") @ 1


@pytest.mark.parametrize("holder", ["variable", "measure", "asked for"])
def test_a_pool_that_is_in_use_keeps_its_name(holder):
    pool = numbered(0)
    text = str(P_Rareness(pool=pool) @ 1)
    held = {"variable": pool, "measure": ir_measures.parse_measure(text)}.get(holder)
    del pool
    for i in range(3 * KEPT):
        numbered(i)  # it equals the first, which is forgotten again
        if holder == "asked for":
            ir_measures.parse_measure(text)
    assert str(ir_measures.parse_measure(text)) == text
    del held
