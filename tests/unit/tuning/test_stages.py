"""Tuning in stages, against loops that try all settings of each stage in the pipeline."""

import itertools

import numpy as np
import optuna
import pyterrier as pt
import pytest
from _sweeps import Collection
from ir_measures import AP, RR
from scipy.stats import uniform
from test_search import QRELS, TOPICS, Mixture

from pyterrier_asl import ASL, RobertsonPRF, StagedSearch
from pyterrier_asl.tuning import Stage, bm25_stages, use_settings
from pyterrier_asl.tuning.space import Space
from pyterrier_asl.tuning.stages import fixed_objective

B, K1 = [0.1, 0.5, 0.9], [0.5, 5.0]
FB_DOCS, GAMMA = [2, 10], [0.1, 0.6]


@pytest.fixture(scope="module")
def small():
    return Collection(3)


def stages_of(index):
    """The stages of the paper over finite sets, so that enough trials try all settings."""
    first, final = index.bm25(num_results=30), index.bm25(num_results=30)
    prf = RobertsonPRF(index, fb_terms=5)
    whole = first >> prf >> final
    return [
        Stage("initial", first, [(first, {"b": B, "k1": K1})], handed_to=[final]),
        Stage("feedback", whole, [(prf, {"fb_docs": FB_DOCS, "gamma": GAMMA})]),
        Stage("final", whole, [(final, {"b": B, "k1": K1})]),
    ]


def mean(run, collection, measure):
    judged = collection.qrels[collection.qrels["qid"].isin(collection.topics["qid"])]
    return pt.Evaluate(run, judged, [measure])[str(measure)]


def by_hand(collection, measure, better):
    """Best and worst of each stage by trying all settings: {stage: (settings, values)}."""
    index = collection.index
    found = {}

    def tried(name, settings, run):
        runs = (run(setting)(collection.topics) for setting in settings)
        values = [mean(each, collection, measure) for each in runs]
        found[name] = settings, values
        return settings[int((np.argmax if better > 0 else np.argmin)(values))]

    def bm25(setting):
        return index.bm25(b=setting[0], k1=setting[1], num_results=30)

    def prf(setting):
        return RobertsonPRF(index, fb_terms=5, fb_docs=setting[0], gamma=setting[1])

    retrieval = list(itertools.product(B, K1))
    one = tried("initial", [(0.75, 1.2), *retrieval], bm25)  # earlier settings come first
    feedback = [(10, 0.2), *itertools.product(FB_DOCS, GAMMA)]
    two = tried("feedback", feedback, lambda s: bm25(one) >> prf(s) >> bm25(one))
    final = list(dict.fromkeys([(0.75, 1.2), one, *retrieval]))
    tried("final", final, lambda s: bm25(one) >> prf(two) >> bm25(s))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("measure, better", [(AP, 1), (ASL @ 100, -1)])
@pytest.mark.parametrize("sweep", [None, False])
def test_against_trying_everything(small, measure, better, sweep):
    expected = by_hand(small, measure, better)
    options = {"measures": [RR], "n_trials": 40, "seed": 1, "sweep": sweep}
    result = StagedSearch(stages_of(small.index), small.topics, small.qrels, measure, **options)
    assert list(result.trials) == list(expected)
    for stage, (settings, values) in expected.items():
        trials = result.trials[stage]
        labels = list(result.settings[stage])
        at = {setting: value for setting, value in zip(settings, values)}
        drawn = list(trials[labels].itertuples(index=False, name=None))
        assert set(drawn) == set(settings)  # this seed tries all settings
        assert trials[str(measure)].tolist() == pytest.approx([at[s] for s in drawn], abs=1e-9)
        best, worst = (max, min) if better > 0 else (min, max)
        table = result.table[result.table["stage"] == stage]
        for which, extreme in (("best", best(values)), ("worst", worst(values))):
            rows = table[table["which"] == which].set_index("name")
            assert rows.loc[str(measure), "value"] == pytest.approx(extreme, abs=1e-9)
            setting = tuple(rows.loc[labels, "value"])
            assert at[setting] == pytest.approx(extreme, abs=1e-9)
            trial = trials[trials["trial"] == rows["trial"].iloc[0]]
            assert trial[labels].iloc[0].tolist() == list(setting)
            assert rows.loc["RR", "value"] == trial["RR"].iloc[0]
    best = result.table.query("stage == 'final' and which == 'best'").set_index("name")["value"]
    tuned = mean(result.pipeline(small.topics), small, measure)
    assert tuned == pytest.approx(best[str(measure)], abs=1e-9)


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_quantiles_of_the_papers_parameters(small, share):
    """Clarke's Table 1: b and gamma uniform; k1, m and n log-uniform, the last two cut."""
    table = {
        "b": share,
        "k1": 0.01 * (1000 / 0.01) ** share,
        "fb_docs": int(8 * (32 / 8) ** share),
        "fb_terms": int(4 * (32 / 4) ** share),
        "gamma": share,
    }
    names = []
    for stage in bm25_stages(small.index):
        space = Space(stage.params)
        for name, value in zip(space.labels, space.setting([share] * len(space.labels))):
            assert value == pytest.approx(table[name]) and type(value) is type(table[name])
            names.append(name)
    assert names == ["b", "k1", "fb_docs", "fb_terms", "gamma", "b", "k1"]


def test_held_out_topics_and_another_collection(small):
    some, rest = small.topics.iloc[:7], small.topics.iloc[7:]
    other = Collection(4)
    options = {"measures": [RR], "n_trials": 3, "seed": 0}
    options["held_out"] = {"rest": (rest, small.qrels)}
    result = StagedSearch(stages_of(small.index), some, small.qrels, AP, **options)
    rows = result.table[result.table["stage"] == "rest"]
    assert rows["name"].tolist() == ["AP", "RR"] and rows["trial"].isna().all()
    judged = small.qrels[small.qrels["qid"].isin(rest["qid"])]
    expected = pt.Evaluate(result.pipeline(rest), judged, [AP, RR])
    assert rows["value"].tolist() == pytest.approx([expected["AP"], expected["RR"]], abs=1e-9)

    stages = stages_of(other.index)
    use_settings(stages, result.settings)
    pipeline = stages[-1].pipeline
    for tuned, new, names in zip(
        result.pipeline, pipeline, (("b", "k1"), ("fb_docs", "gamma"), ("b", "k1"))
    ):
        assert [getattr(tuned, n) for n in names] == [getattr(new, n) for n in names]
    found = fixed_objective(pipeline, other.topics, other.qrels, [AP])(())
    assert found == {"AP": pytest.approx(mean(pipeline(other.topics), other, AP), abs=1e-9)}


def test_held_out_topics_that_are_tuned_on_are_pointed_out():
    mixture = Mixture()
    stages = [Stage("one", mixture, {mixture: {"x": [0.1, 0.9]}})]
    renamed = TOPICS.assign(query="something else")  # qids of other queries
    held_out = {"some": (TOPICS.tail(2), QRELS), "others": (renamed, QRELS)}
    with pytest.warns(UserWarning) as caught:
        StagedSearch(stages, TOPICS, QRELS, "map", n_trials=2, seed=0, held_out=held_out)
    (warning,) = [each for each in caught if "of the tuning" in str(each.message)]
    said = str(warning.message)
    assert said.startswith("2 of the 2 topics of 'some' are among the 6 topics of the tuning")
    assert warning.filename == __file__  # the warning names the line that called the search


def test_stages_draw_settings_of_their_own():
    stages = [
        Stage(name, mixture, {mixture: {"x": uniform(0, 1)}})
        for name, mixture in (("one", Mixture()), ("other", Mixture()))
    ]
    trials = StagedSearch(stages, TOPICS, QRELS, "map", n_trials=2, seed=0).trials
    drawn = [frame[frame["trial"] >= 0]["x"].tolist() for frame in trials.values()]
    assert len(drawn[0]) == 2 and not set(drawn[0]) & set(drawn[1])


def test_what_was_before_is_tried_in_every_stage():
    """No stage ends with a worse value than it began with, even if all draws are worse."""
    xs = (0.02, 0.3, 0.5, 0.7, 0.98)
    maps = {x: pt.Evaluate(Mixture(x)(TOPICS), QRELS, ["map"])["map"] for x in xs}
    top, bottom = max(maps, key=maps.get), min(maps, key=maps.get)
    first, last = Mixture(x=top), Mixture(x=bottom)
    stages = [
        Stage("one", first, {first: {"x": [bottom]}}, handed_to=[last]),
        Stage("two", last, {last: {"x": [bottom]}}),
    ]
    storage = optuna.storages.InMemoryStorage()
    options = {"n_trials": 1, "seed": 0, "storage": storage}
    result = StagedSearch(stages, TOPICS, QRELS, "map", **options)
    for table in (result.table, *result.trials.values()):
        assert table.index.tolist() == [*range(len(table))]
    assert result.trials["one"]["trial"].tolist() == [-1, 0]
    assert result.trials["two"]["trial"].tolist() == [-1, -2, 0]  # its own and the earlier settings
    assert result.settings == {"one": {"x": top}, "two": {"x": top}}
    assert result.trials["two"]["map"].max() == pytest.approx(maps[top])
    StagedSearch(stages, TOPICS, QRELS, "map", trials_only=True, **options)
    names = optuna.study.get_all_study_names(storage)
    assert len(names) == 3  # a second stage after another first setting is another study


def test_of_equal_settings_the_one_from_before_stays():
    """Without relevant documents all settings are equal, so nothing changes."""
    mixture = Mixture()
    nothing = QRELS.assign(label=0)
    stages = [Stage("one", mixture, {mixture: {"x": [0.1, 0.9]}})]
    result = StagedSearch(stages, TOPICS, nothing, "map", n_trials=3, seed=0)
    assert result.settings == {"one": {"x": 0.5}} and mixture.x == 0.5


def test_failure_leaves_everything_as_it_was(small):
    stages = stages_of(small.index)
    first, prf, final = stages[-1].pipeline
    broken = Stage("broken", first, [(first, {"b": [7.0]})])
    with pytest.raises(ValueError, match="b is 7.0"):
        StagedSearch([*stages, broken], small.topics, small.qrels, n_trials=3)
    assert [(t.b, t.k1) for t in (first, final)] == [(0.75, 1.2)] * 2
    assert (prf.fb_docs, prf.gamma) == (10, 0.2)
    for none in ([stages[0], stages[0]], []):
        with pytest.raises(ValueError, match="each with another name"):
            StagedSearch(none, small.topics, small.qrels)


MAPS = {x: pt.Evaluate(Mixture(x)(TOPICS), QRELS, ["map"])["map"] for x in (0.1, 0.5, 0.9)}
LOWEST, MIDDLE, HIGHEST = sorted(MAPS, key=MAPS.get)


@pytest.mark.parametrize(
    ("best", "number", "before", "given", "drawn"),
    [
        ("defaults", -1, HIGHEST, LOWEST, MIDDLE),
        ("carried over", -2, LOWEST, HIGHEST, MIDDLE),
        ("trial 0", 0, LOWEST, MIDDLE, HIGHEST),
    ],
)
def test_the_candidate_that_won_is_named(best, number, before, given, drawn):
    """Mixture's value is that of x; the first stage hands its x on to the second."""
    first, second = Mixture(x=given), Mixture(x=before)
    stages = [
        Stage("first", first, {first: {"x": [given]}}, handed_to=[second]),
        Stage("second", second, {second: {"x": [drawn]}}),
    ]
    result = StagedSearch(stages, TOPICS, QRELS, "map", n_trials=1, seed=0)
    assert result.candidates == {"first": "defaults", "second": best}
    rows = result.table.query("stage == 'second' and which == 'best'")
    assert set(rows["trial"]) == {number} and second.x == HIGHEST
    second.x, first.x = HIGHEST, 0.5
    only = StagedSearch(stages, TOPICS, QRELS, "map", n_trials=1, seed=0, trials_only=True)
    assert set(only.candidates.values()) == {"trial 0"} and second.x == drawn


def test_parameters_carried_over_keep_their_number_where_defaults_have_no_value(small):
    bm25 = small.index.bm25(num_results=30)
    stages = [
        Stage("one", bm25, [(bm25, {"k3": [2.0]})]),
        Stage("two", bm25, [(bm25, {"k3": [8.0]})]),
    ]
    result = StagedSearch(stages, small.topics, small.qrels, AP, n_trials=1, seed=0)
    assert result.trials["two"]["trial"].tolist() == [-2, 0]
