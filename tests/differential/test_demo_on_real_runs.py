"""The demo, on real runs and collections."""

from __future__ import annotations

from pyterrier_asl.experiment import demo, demo_collection
from pyterrier_asl.experiment.demo import SHORT
from pyterrier_asl.measures.lengths import DocLengths


def test_vaswani_as_it_is(vaswani):
    collection, reason = demo_collection.collection()
    assert (collection.name, reason) == ("vaswani", "")
    assert collection.summary == "11,429 documents, 93 queries, 2,083 relevant documents"
    assert DocLengths.from_irds("vaswani").digest == collection.lengths().digest


def test_demo_on_vaswani_shows_a_system_that_ap_and_asl_disagree_about(vaswani):
    shown = demo.demonstrate(demo_collection.vaswani())
    values = shown.scores.set_index("run")
    assert values["AP"].idxmax() == SHORT == values["ASL@1000"].idxmax()
    assert "AP puts" in demo.remarks(shown)[0]
