"""Random search against GridSearch, and after interruptions or with several processes.
Tests of objective.py, space.py, study.py."""

import itertools
import os
import re
import signal
import time
import warnings
from contextlib import nullcontext

import ir_measures
import numpy as np
import optuna
import pandas as pd
import pyterrier as pt
import pytest
import scipy.stats
from ir_measures import AP, NumRet
from scipy.stats import loguniform, randint, uniform

from pyterrier_asl import ASL, KFoldRandomSearch, Qrels, RandomSearch
from pyterrier_asl.common.notices import DoubtfulInput
from pyterrier_asl.tuning import Stage, StagedSearch, truncated
from pyterrier_asl.tuning.space import Space

DOCS = [f"d{i:02}" for i in range(30)]
TOPICS = pd.DataFrame({"qid": [f"q{i}" for i in range(6)], "query": "a b"})


def _qrels() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = [(qid, docno, 1) for qid in TOPICS["qid"] for docno in rng.choice(DOCS, 4, False)]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


QRELS = _qrels()
#: After the trials a search runs the pipeline with the best setting, for its notes.
LAST = 1


class Mixture(pt.Transformer):
    """Ranks the documents by a mixture of fixed random scores; ``calls`` counts its runs."""

    def __init__(self, x=0.5, power=1, kind="up", pause=0.0):
        self.x, self.power, self.kind, self.pause = x, power, kind, pause
        self.calls = 0

    def transform(self, topics):
        self.calls += 1
        time.sleep(self.pause)
        seeds = [int(qid[1:]) for qid in topics["qid"]]
        draws = [np.random.default_rng(seed).random((2, len(DOCS))) for seed in seeds]
        one, other = np.hstack(draws)
        score = self.x * one**self.power + (1 - self.x) * other
        rows = {
            "qid": np.repeat(topics["qid"].to_numpy(), len(DOCS)),
            "docno": DOCS * len(topics),
            "score": -score if self.kind == "down" else score,
        }
        return pt.model.add_ranks(pd.DataFrame(rows))


class Changed(Mixture):
    """Has other results, by a function of it and of the results."""

    def __init__(self, change, **options):
        super().__init__(**options)
        self.change = change

    def transform(self, topics):
        return self.change(self, super().transform(topics))


def search(pipe=None, params=None, metric="map", **options):
    pipe = pipe or Mixture()
    params = params or {pipe: {"x": uniform(0, 1), "power": truncated(loguniform(1, 9))}}
    options = {"n_trials": 12, "seed": 3, "return_type": "trials"} | options
    return RandomSearch(pipe, params, TOPICS, QRELS, metric, **options)


# -- settings -------------------------------------------------------------------------------------


def test_the_ends_of_a_distribution_are_values_of_it_and_a_parameter_is_given_once():
    pair = Mixture(), {"power": randint(1, 4), "x": scipy.stats.norm(0, 1)}
    for point in (0.0, 1.0):
        power, x = Space([pair]).setting([point, point])
        assert 1 <= power <= 3 and np.isfinite(x)
    with pytest.raises(ValueError, match="'power' of .* is given twice"):
        Space([pair, pair])


def test_a_trial_is_drawn_by_the_generator_of_the_seed_and_its_number():
    for seed, trials in ((3, 6), (3, 4), (4, 2)):
        found = search(seed=seed, n_trials=trials)
        drawn = [np.random.default_rng([seed, trial]).random(2) for trial in range(trials)]
        assert found["x"].tolist() == [x for x, _ in drawn]
        assert found["power"].tolist() == [int(9**quantile) for _, quantile in drawn]
    one, other = (search(seed=None, n_trials=1)["x"] for _ in range(2))
    assert not np.array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 2**40])
def test_jobs_change_nothing(seed):
    pd.testing.assert_frame_equal(search(jobs=2, seed=seed), search(seed=seed))


# -- against GridSearch and pt.Evaluate -----------------------------------------------------------


@pytest.mark.parametrize("metric", ["map", "P_5", "recip_rank"])
def test_finds_what_grid_search_finds(metric, capsys):
    grid, mixture = {"x": [0.0, 0.5, 1.0], "power": [1, 3]}, Mixture()
    options = {"return_type": "best_setting"}
    value, setting = pt.GridSearch(mixture, {mixture: grid}, TOPICS, QRELS, metric, **options)
    found = search(mixture, {mixture: grid}, metric, **options)
    assert found == (pytest.approx(value, abs=1e-12), setting)


def test_knows_which_way_is_better():
    options = {"return_type": "best_setting", "n_trials": 5}
    value, setting = search(metric="ASL@10", **options)
    trials = search(metric="ASL@10", n_trials=5)
    assert value == trials["ASL@10"].min() < trials["ASL@10"].max()
    assert setting[0][2] == trials.loc[trials["ASL@10"].idxmin(), "x"]
    assert search(metric="nASL@10", **options)[1][0][2] == setting[0][2]


def test_batches_are_the_same():
    mixture = Mixture()
    found = search(mixture, batch_size=4, n_trials=3)
    pd.testing.assert_frame_equal(found, search(n_trials=3))
    assert mixture.calls == 6 + 2 * LAST


def damaged(_, run):
    """The last topic has no documents, and the first document is there twice."""
    run = run[run["qid"] != "q5"]
    return pd.concat([run, run[run["docno"] == DOCS[0]]])


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_search_says_what_must_be_known_of_the_run_and_of_the_qrels(jobs):
    pipe = Changed(damaged)
    params = {pipe: {"x": uniform(0, 1)}}
    with pytest.warns(DoubtfulInput) as caught:
        trials = search(pipe, params, n_trials=2, jobs=jobs)
    grave = [
        "the tuned pipeline does not answer 1 of 6 queries (e.g. 'q5'); each counts with the worst "
        "value",
        "the tuned pipeline has a document twice in a ranking: it counts once, at its best rank",
    ]
    assert [str(w.message) for w in caught if w.category is DoubtfulInput] == grave
    *notes, last = trials.attrs["notes"]
    assert notes == grave and last.startswith("the qrels list relevant documents only")
    judged = QRELS.assign(label=[0, *QRELS["label"][1:]])
    with pytest.warns(DoubtfulInput):
        result = StagedSearch([Stage("one", pipe, params)], TOPICS, judged, n_trials=2, seed=0)
    assert result.notes == grave
    with pytest.warns(DoubtfulInput, match="twice"):
        KFoldRandomSearch(pipe, params, [TOPICS.head(3), TOPICS.tail(3)], judged, n_trials=1)


# -- what is returned, and what is left behind ----------------------------------------------------


def test_graded_judgements_without_a_minimum_grade_are_warned_of():
    graded = QRELS.assign(label=[1, 2] * (len(QRELS) // 2) + [1] * (len(QRELS) % 2))
    mixture = Mixture()
    for metric, warns in (("map", True), ("AP(rel=2)", False), ("nDCG@10", False)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            RandomSearch(mixture, {mixture: {"x": [0.5]}}, TOPICS, graded, metric, n_trials=1)
            folds = [TOPICS.head(3), TOPICS.tail(3)]
            KFoldRandomSearch(mixture, {mixture: {"x": [0.5]}}, folds, graded, metric, n_trials=1)
            stages = [Stage("one", mixture, {mixture: {"x": [0.5]}})]
            held_out = {"other": (TOPICS, graded)}
            result = StagedSearch(
                stages, TOPICS, graded, metric, held_out=held_out, n_trials=1, seed=0
            )
        warned = [str(note.message) for note in caught if "grades go up to 2" in str(note.message)]
        of = f"of {len(graded)} judged documents have a grade"
        assert [of in text and "TREC DL" not in text for text in warned] == [True] * 2 * warns
        assert sum(of in note for note in result.notes) == warns, metric


def test_return_types():
    mixture = Mixture(x=0.123)
    trials = search(mixture, n_trials=5)
    assert mixture.x == 0.123
    value, setting = search(mixture, return_type="best_setting", n_trials=5)
    assert mixture.x == 0.123
    assert [(t is mixture, name) for t, name, _ in setting] == [(True, "x"), (True, "power")]
    row = trials.loc[trials["map"].idxmax()]
    assert (value, setting[0][2], setting[1][2]) == (row["map"], row["x"], row["power"])
    pipe, again, _ = search(mixture, return_type="both", n_trials=5)
    assert pipe is mixture and again == value
    assert (mixture.x, mixture.power) == (row["x"], row["power"])
    mixture.x = 0.123
    assert search(mixture, return_type="opt_pipeline", n_trials=5) is mixture
    assert mixture.x == row["x"]


def test_a_failure_leaves_the_pipeline_alone():
    # No index has the results of a great x.
    failing = Changed(lambda self, run: run.iloc[[0] if self.x < 0.6 else [-(10**6)]], x=0.123)
    with pytest.raises(IndexError, match="out-of-bounds"):
        search(failing, {failing: {"x": uniform(0, 1)}})
    assert failing.x == 0.123


def test_equal_names_are_distinguished():
    one, other = Mixture(), Mixture(kind="down")
    pipe = one + other
    params = [(one, {"x": uniform(0, 1)}), (other, {"x": uniform(0, 1), "power": [1, 2]})]
    trials = search(pipe, params, n_trials=3)
    assert trials.columns.tolist() == ["trial", "tran_0_x", "tran_1_x", "power", "map"]
    assert not np.array_equal(trials["tran_0_x"], trials["tran_1_x"])


# -- errors ---------------------------------------------------------------------------------------


def test_a_transformer_that_is_not_in_the_pipeline_is_refused_before_a_trial():
    """Where it equals one in the pipeline, too; parts of parts are in the pipeline."""
    inner, other = Mixture(), Mixture()
    pipe = ((inner + Mixture(kind="down")) % 9) >> pt.RankCutoff(5)
    message = "'x' of .*Mixture.* not in the pipeline .*RankCutoff"
    with pytest.raises(ValueError, match=message):
        StagedSearch([Stage("one", pipe, {other: {"x": [0.1]}})], TOPICS, QRELS, n_trials=1)
    with pytest.raises(ValueError, match=message):
        search(pipe, {other: {"x": [0.1]}})
    assert inner.calls == other.calls == 0
    assert len(search(pipe, {inner: {"x": [0.1]}, pipe[1]: {"k": [3]}}, n_trials=1)) == 1


@pytest.mark.parametrize("storage", ["foo", "sqlite:////nowhere/a.db", "redis://here", 3])
def test_a_storage_that_cannot_be_opened_is_named(storage):
    mixture = Mixture(x=0.123)
    with pytest.raises(ValueError, match=f"the storage {storage!r} cannot be opened: .*sqlite:///"):
        search(mixture, storage=storage)
    assert mixture.x == 0.123


def test_topics_and_qrels_that_do_not_fit():
    mixture = Mixture()
    params = {mixture: {"x": uniform(0, 1)}}
    no_topic = r"none of the 6 topics is judged: .* like \['q0'\], .* of the 6 .* like \['xq0'\]"
    for message, *arguments in (
        (no_topic, TOPICS, QRELS.assign(qid="x" + QRELS["qid"])),
        ("2 queries have the id 'q0'", pd.concat([TOPICS, TOPICS.head(1)]), QRELS),
        ("AP_Rareness@9 needs a pool of runs", TOPICS, QRELS, "AP_Rareness@9"),
        ("qrels: there is no column label or relevance", TOPICS, QRELS[["qid", "docno"]]),
    ):
        with pytest.raises(ValueError, match=message):
            RandomSearch(mixture, params, *arguments)
    how = {"n_trials": 2, "seed": 1, "return_type": "trials"}
    one, other = (RandomSearch(mixture, params, TOPICS, q, **how) for q in (QRELS, Qrels(QRELS)))
    assert one.equals(other)


NAN = ir_measures.define_byquery(lambda qrels, run: float("nan"), name="none")


@pytest.mark.parametrize(
    ("change", "metric", "message"),
    [
        (lambda run: run, NAN, r"none is NaN at x=0\.\d+, and NaN cannot"),
        (
            lambda run: run.assign(score=run["score"].mask(run.index == 3)),
            "AP",
            r"of the 180 scores are NaN at x=0\.\d+, the first for document",
        ),
        *(
            (lambda run, name=name: run.drop(columns=name), "AP", f"returns no column '{name}', on")
            for name in ("qid", "docno", "score")
        ),
    ],
)
def test_results_that_cannot_be_measured_are_errors(change, metric, message):
    faulty = Changed(lambda _, run: change(run))
    with pytest.raises(ValueError, match=message):
        search(faulty, {faulty: {"x": uniform(0, 1)}}, metric=metric)


def test_whole_numbers_are_ids_as_their_text_is():
    numbers = Changed(lambda _, run: run.assign(docno=run["docno"].str[1:].astype(int)))
    qrels = QRELS.assign(docno=[str(int(docno[1:])) for docno in QRELS["docno"]])
    how = {"n_trials": 2, "return_type": "trials"}
    one, other = (
        RandomSearch(each, {each: {"x": [0.2, 0.9]}}, TOPICS, of, **how)
        for each, of in ((numbers, qrels), (Mixture(), QRELS))
    )
    pd.testing.assert_frame_equal(one, other)
    assert one["map"].min() > 0


@pytest.mark.slow
def test_a_storage_on_a_full_disk_is_named_and_continued(tmp_path):
    from pyterrier_asl.tuning.study import open_storage

    resource = pytest.importorskip("resource", reason="Windows has no limits of this kind")
    path = tmp_path / "trials.db"
    url = f"sqlite:///{path}"
    storage = open_storage(url)  # the command opens it before documents are read
    search(storage=storage, n_trials=1, seed=1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 4096, limits[1]))
    try:
        with pytest.raises(OSError, match=f"the storage '{url}' cannot be written: .*disk"):
            search(storage=storage, n_trials=200, seed=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    found = search(storage=storage, n_trials=8, seed=1, return_type="trials")
    pd.testing.assert_frame_equal(found, search(n_trials=8, seed=1, return_type="trials"))


# -- resumption -----------------------------------------------------------------------------------


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/search.db"


def test_resumes_and_repeats_nothing(storage):
    mixture = Mixture()
    first = search(mixture, storage=storage, n_trials=2)
    assert mixture.calls == 2 + LAST
    # Without a seed the study has one.
    again = search(mixture, storage=storage, seed=None, n_trials=2)
    assert mixture.calls == 2 + 2 * LAST
    pd.testing.assert_frame_equal(first, again)
    whole = search(mixture, storage=storage, n_trials=3)
    assert mixture.calls == 3 + 3 * LAST
    pd.testing.assert_frame_equal(whole, search(n_trials=3))


def test_optuna_shows_the_parameters_values_and_durations_of_each_trial():
    storage = optuna.storages.InMemoryStorage()
    mixture = Mixture(pause=0.002)
    params = {"x": uniform(0, 1), "power": loguniform(0.5, 9)}
    params |= {"pause": truncated(loguniform(1, 9)), "kind": [("up",), "down", None, 2]}
    mixture.transform = lambda of: Mixture(mixture.x, mixture.power, mixture.kind, 0.002)(of)
    trials = search(mixture, {mixture: params}, storage=storage, n_trials=9)
    study = optuna.load_study(study_name="RandomSearch", storage=storage)
    table = study.trials_dataframe()
    assert table["value"].tolist() == trials["map"].tolist()
    for name in ("x", "power", "pause"):
        assert table[f"params_{name}"].tolist() == trials[name].tolist()
    shown = ["('up',)" if kind == ("up",) else kind for kind in trials["kind"]]
    assert [trial.params["kind"] for trial in study.trials] == shown
    assert (table["duration"].dt.total_seconds() > 0.002).all()
    kinds = study.trials[0].distributions
    assert kinds["kind"].choices == ("('up',)", "down", None, 2)
    assert kinds["power"].log and not kinds["x"].log and kinds["pause"].high == 8
    measures = [trial.user_attrs["measures"] for trial in study.trials]
    assert measures == [{"map": value} for value in trials["map"]]
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    importances = optuna.importance.get_param_importances(study, evaluator=evaluator)
    assert set(importances) == set(params) and max(importances.values()) > 0


# -- lists, and settings that are drawn twice -----------------------------------------------------

GRID = {"x": [0.9, 0.1, 0.4], "kind": ["down", "up"]}


def test_a_grid_is_searched_once_and_in_order():
    storage = optuna.storages.InMemoryStorage()
    mixture = Mixture()
    options = {"storage": storage, "n_trials": 4}
    some = search(mixture, {mixture: GRID}, **options)
    assert mixture.calls == 4 + LAST and some["trial"].is_monotonic_increasing
    pd.testing.assert_frame_equal(some, search(mixture, {mixture: GRID}, **options))
    assert set(some["trial"]) != set(search(mixture, {mixture: GRID}, n_trials=4, seed=5)["trial"])
    mixture.calls = 0
    whole = search(mixture, {mixture: GRID}, storage=storage, n_trials=1000)
    assert mixture.calls == 2 + LAST  # the rest
    assert whole["trial"].tolist() == list(range(6))
    assert whole[["x", "kind"]].values.tolist() == [*map(list, itertools.product(*GRID.values()))]
    again = whole[whole["trial"].isin(some["trial"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, again)
    best = pt.GridScan(mixture, {mixture: GRID}, TOPICS, QRELS, ["map"], dataframe=False)
    assert whole["map"].tolist() == pytest.approx([measures["map"] for _, measures in best])


def test_a_setting_that_is_drawn_twice_is_measured_once():
    storage = optuna.storages.InMemoryStorage()
    mixture = Mixture()
    params = {"power": randint(1, 3), "kind": ["up", True, 1, 1.0]}
    search(mixture, {mixture: params}, n_trials=9, storage=storage)
    trials = search(mixture, {mixture: params}, n_trials=25, storage=storage)
    of_setting = trials.astype(str).groupby(["power", "kind"])["map"]
    different = of_setting.first().reset_index()
    assert (of_setting.nunique() == 1).all()
    assert mixture.calls - 2 * LAST == len(different) == 8
    assert trials["trial"].tolist() == list(range(25))
    for row in different.to_dict("records"):
        run = Mixture(power=int(row["power"]), kind=row["kind"])(TOPICS)
        assert float(row["map"]) == pytest.approx(pt.Evaluate(run, QRELS, ["map"])["map"])


@pytest.mark.filterwarnings("ignore:.*shared pipeline components")
def test_pyterriers_searches_take_names_only_and_its_scan_our_measures(capsys):
    """As measures.rst says."""
    mixture = Mixture()
    grid, folds = {mixture: {"x": [0.2, 0.9]}}, [TOPICS.head(3), TOPICS.tail(3)]
    scan = pt.GridScan(mixture, grid, TOPICS, QRELS, [ASL @ 10])
    assert scan["ASL@10"].tolist() == search(mixture, grid, ASL @ 10)["ASL@10"].tolist()
    for measure, works in (("map", True), (AP, False), (ASL @ 10, False)):
        for call, topics in ((pt.GridSearch, TOPICS), (pt.KFoldGridSearch, folds)):
            with nullcontext() if works else pytest.raises(KeyError):
                call(mixture, grid, topics, QRELS, measure)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"pause": [0, 1e-9]}, "on pause in any of the 2 trials: .* uses this parameter$"),
        ({"pause": uniform(0, 1e-9), "kind": ["a", "b"]}, "pause and kind in any of the 5 .*these"),
        ({"x": [0.1, 0.9], "kind": ["a", "b"]}, "map does not depend on kind in any of the 4 "),
        ({"x": [0.1, 0.9], "kind": ["down", "b"]}, None),
        ({"x": uniform(0, 1), "pause": [0, 1e-9]}, None),
        ({"x": [0.4]}, None),
    ],
)
def test_parameters_without_an_effect_are_noted(params, expected):
    mixture = Mixture()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search(mixture, {mixture: params}, n_trials=5)
    messages = [str(each.message) for each in caught if "not depend" in str(each.message)]
    assert len(messages) == (expected is not None)
    assert not expected or re.search(expected, messages[0])


def test_a_trial_that_failed_is_made_again():
    storage = optuna.storages.InMemoryStorage()
    failing = Changed(lambda self, run: run if self.calls != 2 else run.iloc[[-(10**6)]])
    with pytest.raises(IndexError):
        search(failing, storage=storage, n_trials=3)
    again = search(failing, storage=storage, n_trials=3)
    pd.testing.assert_frame_equal(again, search(n_trials=3))
    assert failing.calls == 3 + 1 + LAST


def test_another_search_is_refused():
    storage = optuna.storages.InMemoryStorage()
    mixture = Mixture()
    params = {mixture: {"x": uniform(0, 1), "power": truncated(loguniform(1, 9))}}
    options = {"n_trials": 1, "seed": 3, "storage": storage}
    RandomSearch(mixture, params, TOPICS, QRELS, "map", **options)
    more = QRELS.assign(label=QRELS["label"] + (QRELS.index == 0))
    for message, pipe, of, topics, qrels, metric, seed in (
        ("seed is 3, now 4", mixture, params, TOPICS, QRELS, "map", 4),
        ("parameters are", mixture, {mixture: {"x": uniform(0, 1)}}, TOPICS, QRELS, "map", 3),
        ("measures are", mixture, params, TOPICS, QRELS, "AP@5", 3),
        ("pipeline is .*Mixture.*now .*RankC", mixture % 5, params, TOPICS, QRELS, "map", 3),
        ("topics and qrels are", mixture, params, TOPICS.iloc[1:], QRELS, "map", 3),
        ("topics and qrels are", mixture, params, TOPICS, more, "map", 3),
    ):
        with pytest.raises(ValueError, match=f"its {message}"):
            RandomSearch(pipe, of, topics, qrels, metric, **options | {"seed": seed})
    other = options | {"seed": 4, "study_name": "other", "return_type": "trials"}
    assert len(RandomSearch(mixture, params, TOPICS, QRELS, **other)) == 1


def _finished(storage: str) -> list:
    try:
        study = optuna.load_study(study_name="RandomSearch", storage=storage)
        return [t for t in study.get_trials() if t.state == optuna.trial.TrialState.COMPLETE]
    except Exception:  # the child has not created it yet
        return []


class Deadly(Mixture):
    """Ends its process, as a lack of memory does, in a trial that a child makes."""

    parent = os.getpid()

    def transform(self, topics):
        if os.getpid() != self.parent and self.x > 0.9:
            time.sleep(1)  # so that the trials before it are finished
            os.kill(os.getpid(), signal.SIGKILL)
        return super().transform(topics)


@pytest.mark.slow
def test_a_killed_worker_is_an_error_and_finished_trials_are_kept(storage):
    deadly = Deadly(x=0.123)
    deadly.parent = os.getpid()
    options = {"storage": storage, "n_trials": 30}
    params = {deadly: {"x": uniform(0, 1)}}
    with pytest.raises(ChildProcessError, match="worker process was killed.*: search again with"):
        search(deadly, params, jobs=2, **options)
    assert deadly.x == 0.123 and 0 < len(_finished(storage)) < 30
    mixture = Mixture()
    expected = search(mixture, {mixture: {"x": uniform(0, 1)}}, n_trials=30)
    pd.testing.assert_frame_equal(search(deadly, params, **options), expected)


@pytest.mark.slow
def test_workers_take_functions_without_a_name():
    pipe = Mixture() >> pt.apply.doc_score(lambda row: -row["score"])
    params = {pipe[0]: {"x": uniform(0, 1)}}
    trials = [search(pipe, params, n_trials=3, jobs=jobs) for jobs in (1, 2)]
    pd.testing.assert_frame_equal(*trials)


# -- folds ----------------------------------------------------------------------------------------


def test_folds():
    folds = [TOPICS.iloc[:2], TOPICS.iloc[2:3], TOPICS.iloc[3:]]
    mixture = Mixture(x=0.123)
    params = {mixture: {"x": uniform(0, 1)}}
    results, settings = KFoldRandomSearch(mixture, params, folds, QRELS, n_trials=4, seed=2)
    assert mixture.x == 0.123
    assert sorted(results["qid"].unique()) == TOPICS["qid"].tolist()
    assert results.index.tolist() == list(range(len(results)))
    xs = [np.random.default_rng([2, trial]).random() for trial in range(4)]
    for fold, setting in enumerate(settings):
        train = pd.concat(f for i, f in enumerate(folds) if i != fold)
        judged = QRELS[QRELS["qid"].isin(train["qid"])]
        maps = [pt.Evaluate(Mixture(x)(train), judged, ["map"])["map"] for x in xs]
        best = xs[int(np.argmax(maps))]
        assert setting[0][1:] == ("x", best)
        expected = Mixture(best)(folds[fold])
        found = results[results["qid"].isin(folds[fold]["qid"])]
        assert found["score"].tolist() == expected["score"].tolist()


def test_folds_with_their_own_qrels_and_errors():
    folds = [TOPICS.iloc[:3], TOPICS.iloc[3:]]
    each = [QRELS[QRELS["qid"].isin(fold["qid"])] for fold in folds]
    mixture = Mixture()
    params = {mixture: {"x": uniform(0, 1)}}
    one = KFoldRandomSearch(mixture, params, folds, each, n_trials=3, seed=2)
    other = KFoldRandomSearch(mixture, params, folds, QRELS, n_trials=3, seed=2)
    assert one[1] == other[1]
    frames = "a list of frames, each .* column 'qid'; fold"
    for message, wrong, qrels in (
        ("two folds", folds[:1], QRELS),
        ("2 folds and 1", folds, each[:1]),
        ("topic 'q2' is in fold 1 and in fold 2", [TOPICS.iloc[:3], TOPICS.iloc[2:]], QRELS),
        (f"{frames} 2 is .'query'.", [folds[0], folds[1][["query"]]], QRELS),
        (f"{frames} 1 is 'qid'", TOPICS, QRELS),
    ):
        with pytest.raises(ValueError, match=message):
            KFoldRandomSearch(mixture, params, wrong, qrels)


def test_a_count_is_added_up_over_topics():
    """As pt.Evaluate does it; other measures are means."""
    mixture = Mixture()
    trials = search(mixture, {mixture: {"x": [0.3]}}, metric=AP, measures=[NumRet], n_trials=1)
    expected = pt.Evaluate(Mixture(x=0.3)(TOPICS), QRELS, [NumRet, AP])
    assert trials[["NumRet", "AP"]].iloc[0].to_dict() == pytest.approx(expected)
    assert expected["NumRet"] == len(TOPICS) * len(DOCS)
