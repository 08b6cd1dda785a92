"""The options of every public function, each with a value that makes a difference."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import _small
import pandas as pd
import pyterrier as pt
import pytest
from _files import write_qrels, write_run
from _sweeps import Collection
from scipy.stats import uniform

import pyterrier_asl as asl


class Setting(NamedTuple):
    """The input of a function; with ``turned``, runs after the first are in reverse order."""

    source: str
    measure: str = "AP@10"
    turned: bool = False

    def __str__(self) -> str:
        return f"{self.source}, {self.measure}{', turned' * self.turned}"


#: Each source, with a measure of each direction, and with runs in two orders.
SETTINGS = [
    Setting("frames"),
    Setting("several", "ASL@10", turned=True),
    Setting("scores", "ASL@10"),
    Setting("files", "ASL@10", turned=True),
    Setting("frames", "ASL@10", turned=True),
    Setting("files"),
]


@dataclass
class Row:
    """A value of an option that changes the result or is refused.

    Attributes:
        value: the value, or a function that returns it for a setting.
        given: arguments with and without the option, or a function that returns them.
        refused: source, or ``always`` -> a part of the sentence that refuses the option.
        measure: a measure for which the option matters, in all settings.
        data: ``repeated``, ``lacking`` or ``unusable`` (by ``given``) are refused without the
            option; in ``unanswered`` the first run lacks two queries; in ``close`` all runs have
            the same quality, and in ``narrow`` scores that are equal in 32 bits; see
            :func:`_small.circular`, :func:`_small.uncommon` and :func:`_small.swapped`.
        same: source, or ``always`` -> the reason why the result does not change.
        alone: a part of the sentence that refuses the option without those that are given with it.
    """

    value: Any
    given: Any = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    measure: str = ""
    data: str = "plain"
    same: Mapping[str, str] = field(default_factory=dict)
    alone: str = ""

    @property
    def is_needed(self) -> bool:
        """Whether the data are refused without the option."""
        return self.data in ("repeated", "lacking", "unusable")

    def is_same(self, setting: Setting) -> bool:
        """Whether the result does not change."""
        return "always" in self.same or setting.source in self.same

    def refusal(self, setting: Setting) -> str:
        """A part of the sentence that refuses the option; '' if it is not refused."""
        return self.refused.get("always", self.refused.get(setting.source, ""))


def of(value: Any, setting: Setting) -> Any:
    """A value, or the value that a function returns for a setting."""
    return value(setting) if callable(value) else value


# Inputs


@cache
def frames(data: str = "plain", turned: bool = False, seed: int = 1) -> tuple[dict, pd.DataFrame]:
    if data in ("circular", "uncommon", "swapped"):
        runs, qrels = getattr(_small, data)()
    elif data == "repeated":
        runs, qrels = _small.repeated(seed)
    else:
        runs, qrels = _small.collection(seed, close=data == "close")
    if data == "lacking" and seed == 2:
        runs = {name: run for name, run in runs.items() if name != "alpha"}
    if data == "unanswered":
        run = runs["charlie"]
        runs = {**runs, "charlie": run[~run["qid"].isin(["q1", "q2"])]}
    if data == "narrow":
        runs = {name: run.assign(score=1 + run["score"] / 1e9) for name, run in runs.items()}
    first, *others = runs
    order = [first, *(reversed(others) if turned else others)]
    return {name: runs[name] for name in order}, qrels


@cache
def files(data: str = "plain", turned: bool = False, seed: int = 1) -> tuple[dict, Path]:
    runs, qrels = frames(data, turned, seed)
    folder = _small.folder() / f"{data}-{seed}"
    (folder / "runs").mkdir(exist_ok=True, parents=True)
    paths = {name: write_run(run, folder / "runs" / name) for name, run in runs.items()}
    return paths, write_qrels(qrels, folder / "qrels")


@cache
def several(data: str = "plain", turned: bool = False) -> dict[str, tuple[dict, pd.DataFrame]]:
    return {track: frames(data, turned, seed) for track, seed in (("one", 1), ("two", 2))}


@cache
def long_scores(data: str, measure: str, turned: bool) -> pd.DataFrame:
    """The values of one collection, or of two if the second lacks a system."""
    tracks = several(data, turned)
    if data == "unanswered":
        scores = long_scores("plain", measure, turned)
        return scores[(scores["name"] != "charlie") | ~scores["qid"].isin(["q1", "q2"])]
    if data in ("repeated", "unusable"):
        return long_scores("plain", measure, turned)
    if data != "lacking":
        return asl.evaluate(*tracks["one"], [measure], long=True)
    tables = {track: asl.evaluate(*pair, [measure], long=True) for track, pair in tracks.items()}
    return pd.concat(tables, names=["track"]).reset_index("track")


def inputs(setting: Setting, data: str = "plain") -> tuple[Any, Any]:
    """Runs and qrels."""
    if setting.source == "scores":
        fill = 0 if data == "unanswered" else None
        scores = long_scores(data, setting.measure, setting.turned)
        return asl.read_scores(scores, fill=fill), None
    if setting.source == "several":
        tracks = several(data, setting.turned)
        of_one = {track: settings(track == "one") for track in tracks}
        return {
            track: (runs, asl.Qrels(qrels, **of_one[track]) if of_one[track] else qrels)
            for track, (runs, qrels) in tracks.items()
        }, None
    runs, qrels = (files if setting.source == "files" else frames)(data, setting.turned)
    return runs, as_set(qrels)


#: The settings of ``Qrels`` that are tried now.
OF_QRELS: dict[str, Any] = {}


def settings(with_labels: bool = True) -> dict[str, Any]:
    """The settings; the labels are of the first collection."""
    return {name: value for name, value in OF_QRELS.items() if with_labels or name != "labels"}


def as_set(qrels: Any) -> Any:
    """Qrels with the settings that are tried now, if any."""
    return asl.Qrels(qrels, **OF_QRELS) if OF_QRELS else qrels


def written(setting: Setting, qrels: pd.DataFrame, name: str) -> Any:
    """Qrels, as a file if the setting is about files."""
    if setting.source != "files":
        return qrels
    return write_qrels(qrels, _small.folder() / name)


def other_judge(setting: Setting, agrees: float = 0.7) -> Any:
    return written(setting, _small.judged_by_other(agrees), f"other-{agrees}")


def judges_of(*agrees: float) -> Callable[[Setting], Any]:
    """Judges x, y, ... with these rates of agreement with the qrels, for each collection."""

    def made(setting: Setting) -> Any:
        judges = {name: other_judge(setting, share) for name, share in zip("xyz", agrees)}
        return {"one": judges, "two": judges} if setting.source == "several" else judges

    return made


def labels(setting: Setting) -> Any:
    return written(setting, _small.labels(), "labels")


def people(setting: Setting) -> Any:
    """The judgements of the nine queries that people judged."""
    qrels = frames()[1]
    return written(setting, qrels[~qrels["qid"].isin(["q9", "q10", "q11"])], "people")


TEXTS = {qid: f"text of {qid}" for qid in [*_small.QUERIES, *_small.DOCS]}
GROUPS = {"bravo": "g", "delta": "g", "alpha": "h", "charlie": "i"}


@cache
def pool() -> asl.RarenessPool:
    runs = {f"other{seed}": _small.collection(seed)[0]["delta"] for seed in range(3, 12)}
    return asl.RarenessPool.from_runs(runs)


@cache
def lengths() -> asl.DocLengths:
    words = {doc: 10 + 37 * number for number, doc in enumerate([*_small.DOCS, *_small.QUERIES])}
    return asl.DocLengths.from_dict(words)


def transformers(setting: Setting, data: str) -> dict[str, pt.Transformer]:
    runs = frames(data, setting.turned)[0]
    ranked = {name: pt.model.add_ranks(run) for name, run in runs.items()}
    return {name: pt.Transformer.from_df(run) for name, run in ranked.items()}


# The functions


def call_experiment(setting: Setting, data: str, options: dict) -> Any:
    qrels = frames(data, setting.turned)[1]
    topics = pd.DataFrame({"qid": _small.QUERIES[1:], "query": _small.QUERIES[1:]})
    systems = transformers(setting, data)
    return asl.Experiment(systems, topics, as_set(qrels), [setting.measure], **options)


def call_trace(setting: Setting, data: str, options: dict) -> Any:
    qrels = frames(data, setting.turned)[1]
    topics = pd.DataFrame({"qid": _small.QUERIES[1:], "query": _small.QUERIES[1:]})
    traced = asl.trace(
        transformers(setting, data)["alpha"] % 5, topics, qrels, [setting.measure], **options
    )
    return traced.table, traced.by_document, traced.sentences()


def call_audit(function: Callable[..., Any]) -> Callable[[Setting, str, dict], Any]:
    def call(setting: Setting, data: str, options: dict) -> Any:
        runs, judged = inputs(setting, data)[0], as_set(people(setting))
        if function is asl.plan_audit:
            options = {"queries": 11} | options
        found = function(runs, judged, setting.measure, other_judge(setting), **options)
        return found if function is asl.audit else (found.order, found.pairs, found.widths)

    return call


def with_runs(function: Callable[..., Any]) -> Callable[[Setting, str, dict], Any]:
    """A call of a function of runs, qrels and measures."""

    def call(setting: Setting, data: str, options: dict) -> Any:
        return function(*inputs(setting, data), setting.measure, **options)

    return call


def call_preferences(setting: Setting, data: str, options: dict) -> Any:
    runs, qrels = inputs(setting, data)
    return asl.preferences(runs["bravo"], runs["alpha"], qrels, **options)


def with_judges(setting: Setting, data: str, options: dict) -> Any:
    runs, qrels = inputs(setting, data)
    options = {"draws": 30, **options}
    return asl.judges(qrels, judges_of(0.7, 0.5)(setting), runs, setting.measure, **options)


def judges_alone(setting: Setting, data: str, options: dict) -> Any:
    _, qrels = inputs(setting, data)
    return asl.judges(qrels, judges_of(0.7, 0.5)(setting), **{"draws": 30, **options})


def holes_of_two(setting: Setting, data: str, options: dict) -> Any:
    runs, qrels = inputs(setting, data)
    two = {name: runs[name] for name in ("bravo", "alpha")}
    return asl.holes(two, qrels, setting.measure, **options)


def of_all_pairs(setting: Setting, data: str, options: dict) -> Any:
    runs, qrels = inputs(setting, data)
    return asl.holes(runs, qrels, setting.measure, **options)


def call_scores(setting: Setting, data: str, options: dict) -> Any:
    scores = long_scores(data, setting.measure, setting.turned)
    table = options.pop("table", lambda scores: scores)(scores)
    if setting.source == "files":
        path = _small.folder() / "scores.csv"
        table.to_csv(path, index=False)
        table = path
    read = asl.read_scores(table, **options)
    tables = [read.matrix(measure) for measure in read.measures]
    return tables, [read.direction(measure) for measure in read.measures], read.fill


def call_lengths(setting: Setting, data: str, options: dict) -> Any:
    runs, qrels = inputs(setting, data)
    return asl.search_lengths(runs["bravo"], qrels, **options)


def call_matrix(setting: Setting, data: str, options: dict) -> Any:
    return asl.preference_matrix(*inputs(setting, data), **options)


def call_merge(setting: Setting, data: str, options: dict) -> Any:
    qrels = inputs(setting, data)[1]
    added = options.pop("added", labels(setting))
    return asl.merge_labels(qrels, added, **options)


@cache
def tuned() -> Collection:
    """A collection of short documents, in which settings of BM25 differ."""
    pytest.importorskip("optuna", reason="searches need pyterrier-asl[tune]")
    return Collection()


def topics_and_qrels(setting: Setting) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Topics and qrels of the collection that is tuned."""
    topics = tuned().topics
    return (topics[::-1] if setting.turned else topics), tuned().qrels


def bm25_with_space() -> tuple[pt.Transformer, Any]:
    bm25 = tuned().index.bm25(b=0.5, num_results=30)
    return bm25, {bm25: {"b": uniform(0, 1), "k1": uniform(0, 9)}}


def call_search(setting: Setting, data: str, options: dict) -> Any:
    settings = {"n_trials": 4, "seed": 1, "return_type": "trials", **options}
    return asl.RandomSearch(
        *bm25_with_space(), *topics_and_qrels(setting), setting.measure, **settings
    )


def call_folds(setting: Setting, data: str, options: dict) -> Any:
    topics, qrels = topics_and_qrels(setting)
    folds, settings = [topics.iloc[::2], topics.iloc[1::2]], {"n_trials": 3, "seed": 1, **options}
    results, best = asl.KFoldRandomSearch(
        *bm25_with_space(), folds, qrels, setting.measure, **settings
    )
    return results, [[triple[1:] for triple in fold] for fold in best]


def call_stages(setting: Setting, data: str, options: dict) -> Any:
    from pyterrier_asl.tuning import bm25_stages

    stages, settings = bm25_stages(tuned().index), {"n_trials": 3, "seed": 1, **options}
    found = asl.StagedSearch(stages, *topics_and_qrels(setting), setting.measure, **settings)
    return found.table, list(found.trials.values()), str(found.settings)


#: Name, or name and variant -> a call of the function in a setting.
CALLS: dict[str, Callable[[Setting, str, dict], Any]] = {
    "evaluate": with_runs(asl.evaluate),
    "bounds": with_runs(asl.bounds),
    "ties": with_runs(asl.ties),
    "compare": with_runs(asl.compare),
    "ranks": with_runs(lambda *given, **options: asl.ranks(*given, **{"draws": 300, **options})),
    "report": with_runs(asl.report),
    "holes": holes_of_two,
    "holes of all pairs": of_all_pairs,
    "judges": with_judges,
    "judges without runs": judges_alone,
    "audit": call_audit(asl.audit),
    "plan_audit": call_audit(asl.plan_audit),
    "search_lengths": call_lengths,
    "preferences": call_preferences,
    "preference_matrix": call_matrix,
    "read_scores": call_scores,
    "merge_labels": call_merge,
    "Experiment": call_experiment,
    "trace": call_trace,
    "RandomSearch": call_search,
    "KFoldRandomSearch": call_folds,
    "StagedSearch": call_stages,
}
#: The sources that a function takes; functions not listed take frames and files.
SOURCES = {
    "evaluate": ("frames", "files", "several"),
    "bounds": ("frames", "files", "several"),
    "ties": ("frames", "files", "several"),
    "compare": ("frames", "files", "several", "scores"),
    "ranks": ("frames", "files", "several", "scores"),
    "report": ("frames", "several", "scores"),
    "Experiment": ("frames",),
    "trace": ("frames",),
    "RandomSearch": ("frames",),
    "KFoldRandomSearch": ("frames",),
    "StagedSearch": ("frames",),
}
#: Functions of one or two arguments, or whose options have tests of their own.
ELSEWHERE = {
    "accelerate": "tests/unit/evaluation/test_providers.py",
    "bm25_stages": "tests/unit/tuning/test_stages.py",
    "read_labels": "a file",
    "read_qrels": "a file",
    "read_run": "a file",
    "read_runs": "tests/unit/io",
}


# A row for every option

SEVERAL = {"frames": "several collections", "files": "several collections"}
#: Labels of queries that people have not judged.
NOT_PEOPLE = {
    "labels": Row(
        lambda s: _small.labels(), refused={"always": "the query has no official judgements"}
    )
}
SETTINGS_OF_QRELS = {
    "duplicates": Row("best", data="repeated"),
    "drop_self": Row(True),
    "collapse": Row("d", refused={"always": "none of the documents"}),
    "labels": Row(labels),
}
REL = Row(2, refused={"scores": "rel"})
POOL = Row(lambda s: pool(), measure="AP_Rareness@10", refused={"scores": "pool"})
POOL_OF_ONE = replace(POOL, refused={"several": "pool", "scores": "pool"})
LENGTHS = Row(lambda s: lengths(), measure="TBG(missing_length=99)", refused={"scores": "lengths"})
LENGTHS_OF_ONE = replace(LENGTHS, refused={"several": "lengths", "scores": "lengths"})
ACROSS = Row(True, data="lacking", refused=SEVERAL)
UNJUDGED = {"unjudged": True}


def with_judges_given(setting: Setting) -> dict[str, Any]:
    return {"judges": judges_of(0.7, 0.5)(setting)}


def guarded(setting: Setting) -> dict[str, Any]:
    return {"conditions": f"{setting.measure} worse"}


def with_table(change: Callable[[pd.DataFrame], pd.DataFrame]) -> dict[str, Any]:
    """Scores in another form, without and with the option."""
    return {"table": change}


def with_added(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Setting], Any]:
    """Labels made from the qrels, without and with the option."""
    return lambda s: {"added": change(frames("plain", s.turned)[1])}


def saved_in(setting: Setting) -> str:
    folder = _small.folder() / f"saved {setting}"
    folder.mkdir(exist_ok=True)
    return str(folder)


def storage(setting: Setting) -> str:
    return f"sqlite:///{_small.folder() / str(setting)}.db"


def with_storage(setting: Setting) -> dict[str, Any]:
    return {"storage": storage(setting)}


def held_out(setting: Setting) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    return {"other": topics_and_qrels(setting)}


JUDGE_REL = Row(2, with_judges_given, alone="judge_rel", refused={"scores": "judge"})
PEOPLE = Row(["x"], with_judges_given, alone="people", refused={"scores": "judges|people"})
DEPTH = Row(12, UNJUDGED, {"scores": "unjudged|depth"}, measure="ASL@2", alone="depth")
HIGHEST = Row(5, UNJUDGED, {"scores": "unjudged|highest"}, measure="nDCG@10", alone="highest")
SEARCH = {
    "measures": Row(["RR"]),
    "n_trials": Row(5),
    "seed": Row(7),
    "jobs": Row(2, same={"always": "the same trials, sooner"}),
    "verbose": Row(True, same={"always": "a progress bar"}),
    "storage": Row(storage, same={"always": "the same trials"}),
    "study_name": Row("mine", with_storage, same={"always": "the same trials"}),
    "sweep": Row(False, same={"always": "the same values, later"}),
}


def wide(scores: pd.DataFrame) -> pd.DataFrame:
    """A column per system."""
    return scores.pivot(index="qid", columns="name", values="value").reset_index()


MINE = with_table(lambda scores: scores.assign(measure="mine"))
CONFLICTING = with_added(lambda qrels: qrels.assign(label=0).iloc[:40])
TOO_HIGH = with_added(lambda qrels: _small.labels().assign(label=9))


HOLES = {
    "rel": REL,
    "depth": Row(12, measure="ASL@2"),
    "highest": Row(5, measure="nDCG@10"),
    "alpha": Row(1e-9),
    **SETTINGS_OF_QRELS,
}
JUDGES = {
    "people": Row(["x"]),
    "reference": Row("nist"),
    "rel": REL,
    "judge_rel": Row(2),
    "test": Row("t", {"alpha": 0.5}),
    "alpha": Row(0.3),
    "draws": Row(20),
    "seed": Row(3),
    **SETTINGS_OF_QRELS,
}
ROWS: dict[str, dict[str, Row]] = {
    "evaluate": {
        "rel": REL,
        "pool": POOL,
        "lengths": LENGTHS,
        **SETTINGS_OF_QRELS,
        "common": ACROSS,
        "long": Row(True),
        "jobs": Row(2, {"backend": "threading"}, same={"always": "the same values, sooner"}),
        "backend": Row("threading", {"jobs": 2}, same={"always": "the same values"}),
        "progress": Row(False, same={"always": "the same values"}),
    },
    "bounds": {
        "rel": REL,
        "pool": POOL,
        "lengths": LENGTHS,
        **SETTINGS_OF_QRELS,
        "depth": Row(12, measure="ASL@2"),
        "highest": Row(5, measure="nDCG@10"),
        "by_query": Row(True),
    },
    "ties": {
        "rel": REL,
        "pool": POOL,
        "lengths": LENGTHS,
        **SETTINGS_OF_QRELS,
        "common": ACROSS,
        "by_query": Row(True),
    },
    "trace": {"rel": REL},
    "compare": {
        "baseline": Row("delta"),
        "conditions": Row(lambda s: f"{s.measure} worse"),
        "allow_missing": Row(True, guarded, data="unanswered", alone="allow_missing is for"),
        "test": Row("sign", refused={"several": "test"}),
        "correction": Row("none"),
        "alpha": Row(0.002),
        "seed": Row(
            5,
            lambda s: {} if s.source == "several" else {"test": "randomization"},
            same=dict.fromkeys(("frames", "files", "scores"), "all sign vectors of 12 queries"),
        ),
        "rel": REL,
        "pool": POOL_OF_ONE,
        "lengths": LENGTHS_OF_ONE,
        **SETTINGS_OF_QRELS,
        "common": ACROSS,
    },
    "ranks": {
        "unjudged": Row(True, refused={"scores": "unjudged"}),
        "judges": Row(judges_of(0.7, 0.5), refused={"scores": "judges"}),
        "judge_rel": JUDGE_REL,
        "rel": REL,
        "people": PEOPLE,
        "depth": DEPTH,
        "highest": HIGHEST,
        "variance": Row("common"),
        "alpha": Row(0.4),
        "draws": Row(20),
        "seed": Row(4),
        "simultaneous": Row(True, refused=SEVERAL | {"scores": "simultaneous"}),
        "common": ACROSS,
        **SETTINGS_OF_QRELS,
    },
    "report": {
        "dataset": Row("no-such-id", refused={"always": "no-such-id"}),
        "topics": Row(TEXTS),
        "docs": Row(TEXTS, refused={"scores": "docs"}),
        "judges": Row(judges_of(0.7, 0.5), refused={"scores": "judges"}),
        "judge_rel": JUDGE_REL,
        "people": PEOPLE,
        "title": Row("A title"),
        "note": Row("A note"),
        "rel": REL,
        "cutoff": Row(5, refused={"scores": "cutoff"}),
        "alpha": Row(0.3),
        "lengths": LENGTHS,
        "groups": Row(GROUPS, measure="AP_Rareness@10", refused={"scores": "groups"}),
        **SETTINGS_OF_QRELS,
        "command": Row("a command"),
    },
    "holes": HOLES,
    "holes of all pairs": HOLES | {"alpha": Row(1e-9, same={"always": "all pairs are not tested"})},
    "judges": JUDGES,
    "judges without runs": JUDGES
    | {
        "test": Row("t", refused={"always": "test"}),
        "labels": Row(labels, same={"always": "of documents that the judges have not judged"}),
        "duplicates": Row("best", refused={"always": "duplicates"}),
        "drop_self": Row(True, refused={"always": "drop_self"}),
        "collapse": Row("d", refused={"always": "collapse"}),
    },
    "audit": {
        "target": Row("these queries"),
        "baseline": Row("delta"),
        "all_pairs": Row(True),
        "rel": REL,
        "machine_rel": Row(2),
        "name": Row("llm"),
        "alpha": Row(0.3),
        **SETTINGS_OF_QRELS,
        **NOT_PEOPLE,
    },
    "plan_audit": {
        "target": Row("these queries"),
        "rel": REL,
        "machine_rel": Row(2),
        "alpha": Row(0.3),
        "seed": Row(5),
        **SETTINGS_OF_QRELS,
        **NOT_PEOPLE,
        "depth": Row(3),
        "queries": Row(12),
    },
    "search_lengths": {
        "rel": Row(2),
        "cutoff": Row(5),
        "missing": Row("after"),
        "judged_only": Row(True),
        **SETTINGS_OF_QRELS,
    },
    "preferences": {"rel": Row(2), "cutoff": Row(5), **SETTINGS_OF_QRELS},
    "preference_matrix": {"rel": Row(2), "cutoff": Row(5), **SETTINGS_OF_QRELS},
    "read_scores": {
        "lower_is_better": Row(["mine"], MINE, data="unusable"),
        "higher_is_better": Row(["mine"], MINE, data="unusable"),
        "fill": Row(0.5, with_table(lambda s: s.iloc[1:]), data="unusable"),
        "wide_systems": Row(
            True, with_table(wide) | {"higher_is_better": ["score"]}, data="unusable"
        ),
    },
    "merge_labels": {
        "conflicts": Row("official", CONFLICTING, data="unusable"),
        "highest": Row(9, TOO_HIGH, data="unusable"),
    },
    "RandomSearch": SEARCH
    | {
        "batch_size": Row(2, {"sweep": False}, same={"always": "the same values"}),
        "return_type": Row("best_setting"),
    },
    "KFoldRandomSearch": {"study_name": SEARCH["study_name"]},
    "StagedSearch": SEARCH | {"held_out": Row(held_out), "trials_only": Row(True)},
    "Experiment": {
        **SETTINGS_OF_QRELS,
        "duplicates": Row("error", data="repeated", refused={"always": "occurs 2 times"}),
        "names": Row(list("abcd"), refused={"always": "names is for a list of systems"}),
        "perquery": Row(True),
        "dataframe": Row(False),
        "batch_size": Row(2, same={"always": "the same values"}),
        "filter_by_qrels": Row(True, same={"always": "all topics are judged"}),
        "filter_by_topics": Row(False),
        "baseline": Row("delta"),
        "test": Row("wilcoxon", {"baseline": 0}, alone="test='wilcoxon' is for"),
        "correction": Row("holm", {"baseline": 0}, alone="correction"),
        "correction_alpha": Row(
            0.9, {"baseline": 0, "correction": "holm"}, alone="correction_alpha=0.9 is for"
        ),
        "highlight": Row("bold"),
        "round": Row(1),
        "verbose": Row(False, same={"always": "a progress bar"}),
        "validate": Row("ignore", same={"always": "nothing is invalid"}),
        "save_dir": Row(lambda s: saved_in(s), same={"always": "the same values"}),
        "save_mode": Row(
            "reuse",
            lambda s: {"save_dir": saved_in(s)},
            same={"always": "the same values"},
            alone="save_mode='reuse' is for save_dir",
        ),
        "save_format": Row(
            pickle,
            lambda s: {"save_dir": saved_in(s)},
            same={"always": "the same values"},
            alone="save_format is for save_dir",
        ),
        "ranks": Row(True),
    },
}
