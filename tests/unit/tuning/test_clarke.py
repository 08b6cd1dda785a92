"""Clarke's experiment on a small collection: what is tuned on and what is transferred to."""

from dataclasses import replace

import pandas as pd
import pytest
from _charts import assert_everything_is_visible, assert_fields_exist
from _sweeps import Collection

from pyterrier_asl.tuning import clarke
from pyterrier_asl.tuning.clarke import scores_by_parameters, side_by_side, tune_for_each
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
@pytest.mark.slow
def test_pipelines_are_transferred_to_the_other_topics():
    assert transferred_to() == set()
    assert transferred_to(transfer=collection("there")) == {"transfer to there"}
    assert transferred_to(split=True) == {"transfer to here, even"}


def test_split_and_transfer_exclude_each_other():
    with pytest.raises(ValueError, match="split and transfer exclude each other"):
        tune_for_each(collection("here"), split=True, transfer=collection("there"))


@pytest.mark.filterwarnings("ignore")
def test_settings_that_are_all_equal_are_said_to_be_equal():
    """Of qrels whose documents are not in the index every setting has AP 0."""
    made, words = collection("here"), " (all settings are equal)"
    lacking = replace(made, qrels=made.qrels.assign(docno="x"))
    with pytest.warns(UserWarning, match="AP does not depend on b and k1"):
        [said] = clarke.winners(tune_for_each(lacking, ["AP"], n_trials=1, seed=1))
    stages = [f"{stage} defaults{words}" for stage in ("initial retrieval", "feedback")]
    assert said.startswith(f"The best settings by AP: {', '.join(stages)}, final retrieval ")


def test_charts_show_every_trial_of_both_retrievals_and_the_best_in_red_on_top():
    pytest.importorskip("altair")
    results = tune_for_each(collection("here"), ["ASL@20"], n_trials=4, seed=1)
    assert "all settings are equal" not in clarke.winners(results)[0]
    for table in (results["ASL@20"].table, side_by_side(results)):
        assert table.index.tolist() == [*range(len(table))]
        assert {"AP", "TBG", "ASL@20"} < {*table["name"]}
    spec = scores_by_parameters(results).to_dict()
    assert_everything_is_visible(spec)
    assert_fields_exist(spec)
    assert spec["title"]["text"] == "Score by b and k1"
    renamed = {
        stage: trials.rename(columns={"ASL@20": "</script>"})
        for stage, trials in results["ASL@20"].trials.items()
    }
    unsafe = scores_by_parameters({"</script>": replace(results["ASL@20"], trials=renamed)})
    assert "</script>" not in unsafe.to_json()
    rows = spec["vconcat"]
    for stage, row in zip(("initial retrieval", "final retrieval"), rows, strict=True):
        trials = results["ASL@20"].trials[stage]
        for view, name, scale in zip(row["hconcat"], ("b", "k1"), ("linear", "log"), strict=True):
            assert view["title"] == f"{stage}, tuned on ASL@20"
            points, encoding = pd.DataFrame(view["data"]["values"]), view["encoding"]
            assert encoding["x"]["field"] == name and encoding["x"]["scale"]["type"] == scale
            assert encoding["y"]["field"] == "score" and not encoding["y"]["scale"]["zero"]
            expected = set(zip(trials[name], trials["ASL@20"]))
            assert set(zip(points[name], points["score"])) == expected
            assert points["best"].tolist() == [False] * (len(trials) - 1) + [True]
            assert points["score"].iloc[-1] == trials["ASL@20"].min()
            scales = encoding["color"]["scale"], encoding["size"]["scale"]
            color, size = (dict(zip(scale["domain"], scale["range"])) for scale in scales)
            assert color.keys() == size.keys() == {False, True}
            assert color[True] == "crimson" and size[True] > size[False]
