"""Clarke's experiment on a small collection: what is tuned on and what is transferred to."""

from __future__ import annotations

import pytest
from _sweeps import Collection

from pyterrier_asl.tuning.clarke import side_by_side, tune_for_each
from pyterrier_asl.tuning.collection import IndexedCollection

COLLECTION = Collection()


def collection(name: str) -> IndexedCollection:
    made = COLLECTION
    return IndexedCollection(name, made.index, made.lengths, made.topics, made.qrels)


def transferred_to(**options) -> set[str]:
    results = tune_for_each(collection("here"), ["AP"], n_trials=1, seed=1, **options)
    table = side_by_side(results)
    assert list(table.columns) == ["stage", "name", "AP best", "AP worst"]
    return {stage for stage in table["stage"] if stage.startswith("transfer to")}


@pytest.mark.filterwarnings("ignore:.*topics of .* are among the .* topics of the tuning")
def test_pipelines_are_transferred_to_the_other_topics():
    assert transferred_to() == set()
    assert transferred_to(transfer=collection("there")) == {"transfer to there"}
    assert transferred_to(split=True) == {"transfer to here, even"}


def test_split_and_transfer_exclude_each_other():
    with pytest.raises(ValueError, match="split and transfer exclude each other"):
        tune_for_each(collection("here"), split=True, transfer=collection("there"))
