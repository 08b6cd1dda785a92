"""The options of every function, each with a value that makes a difference.

A value of Python is written on the command line by :func:`words_of`.
"""

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import _small
import click
import pandas as pd
import pyterrier as pt
import pytest
from _files import write_qrels, write_run
from _small import judged_by
from _sweeps import Collection
from scipy.stats import uniform

import pyterrier_asl as asl
from pyterrier_asl.cli import main


class Setting(NamedTuple):
    """The input of a function: ``frames``, ``several`` collections or ``scores``, and a measure."""

    source: str
    measure: str = "AP@10"


SETTINGS = [Setting("frames"), Setting("several", "ASL@10"), Setting("scores", "ASL@10")]


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
            :func:`_small.circular` and :func:`_small.uncommon`.
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

    def about(self, setting: Setting) -> dict[str, str | None]:
        """Whether the option is refused, and where nothing changes, in a setting."""
        named = {"refused": self.refused, "same": self.same}
        return {name: of.get("always", of.get(setting.source)) for name, of in named.items()}


def of(value: Any, setting: Setting) -> Any:
    """A value, or the value that a function returns for a setting."""
    return value(setting) if callable(value) else value


#: Collections and the seeds of their grades and runs.
TRACKS = (("one", 1), ("two", 2))


@cache
def frames(data: str = "plain", seed: int = 1) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    if data in ("circular", "uncommon"):
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
    return runs, qrels


@cache
def files(data: str = "plain", seed: int = 1) -> tuple[dict[str, Path], Path]:
    runs, qrels = frames(data, seed)
    folder = _small.folder() / f"{data}-{seed}"
    (folder / "runs").mkdir(exist_ok=True, parents=True)
    paths = {name: write_run(run, folder / "runs" / name) for name, run in runs.items()}
    return paths, write_qrels(qrels, folder / "qrels")


def several(data: str = "plain") -> dict[str, tuple[dict[str, pd.DataFrame], pd.DataFrame]]:
    return {track: frames(data, seed) for track, seed in TRACKS}


@cache
def long_scores(data: str, measure: str) -> pd.DataFrame:
    """The values of one collection, or of two if the second lacks a system."""
    if data in ("repeated", "unusable"):
        data = "plain"
    tracks = several("plain" if data == "unanswered" else data)
    if data == "lacking":
        tables = {t: asl.evaluate(*pair, [measure], long=True) for t, pair in tracks.items()}
        return pd.concat(tables, names=["track"]).reset_index("track")
    scores = asl.evaluate(*tracks["one"], [measure], long=True)
    if data == "unanswered":
        scores = scores[(scores["name"] != "charlie") | ~scores["qid"].isin(["q1", "q2"])]
    return scores.sample(frac=1, random_state=2)


#: Keys of rows.
QUERIES, PAIRS = ("qid",), ("qid", "docno")


def shuffled(rows: pd.DataFrame, keep: tuple[str, ...] = ()) -> pd.DataFrame:
    """The rows in another order, in which the values of these keys first occur as before."""
    keys = [name for name in ("track", *keep) if name in rows]
    other = rows.sample(frac=1, random_state=3)
    return rows[keys].drop_duplicates().merge(other, on=keys)[[*rows]] if keep else other


#: The settings of :class:`~pyterrier_asl.Qrels`.
OF_QRELS = ("duplicates", "drop_self", "collapse", "labels")


def inputs(
    setting: Setting, data: str, options: dict[str, Any], *, names: bool, keep: tuple[str, ...]
) -> tuple[Any, Any]:
    """Runs and qrels in another order than in the files.

    Args:
        setting: the setting.
        data: see :class:`Row`.
        options: the options of the function; those of the qrels are taken out.
        names: whether also the runs are in another order.
        keep: the keys of the judgements that are in the same order.
    """
    if setting.source == "scores":
        table = shuffled(long_scores(data, setting.measure), QUERIES)
        return asl.read_scores(table, missing=0 if data == "unanswered" else None), None
    of_qrels = {name: options.pop(name) for name in OF_QRELS if name in options}

    def one(seed: int) -> tuple[Any, Any]:
        runs, qrels = _in_another_order(data, seed, keep)
        runs = {name: runs[name] for name in [*runs][:: -1 if names else 1]}
        return runs, asl.Qrels(qrels, **of_qrels) if of_qrels else qrels

    if setting.source == "several":
        return {track: one(seed) for track, seed in TRACKS}, None
    return one(1)


@cache
def _in_another_order(data: str, seed: int, keep: tuple[str, ...]) -> tuple[Any, pd.DataFrame]:
    runs, qrels = frames(data, seed)
    return {name: shuffled(run) for name, run in runs.items()}, shuffled(qrels, keep)


def judges_of(*agrees: float) -> Callable[[Setting], Any]:
    """Judges x, y, ... with these rates of agreement with the qrels, for each collection."""

    def made(setting: Setting) -> Any:
        judges = {name: judged_by(share) for name, share in zip("xyz", agrees)}
        return {"one": judges, "two": judges} if setting.source == "several" else judges

    return made


def people() -> pd.DataFrame:
    """The judgements of the nine queries that people judged."""
    qrels = frames()[1]
    return qrels[~qrels["qid"].isin(["q9", "q10", "q11"])]


TEXTS = {qid: f"text of {qid}" for qid in [*_small.QUERIES, *_small.DOCS]}
GROUPS = {"bravo": "g", "delta": "g", "alpha": "h", "charlie": "i"}


@cache
def pool() -> asl.RarenessPool:
    runs = {f"other{seed}": _small.collection(seed)[0]["delta"] for seed in range(3, 12)}
    return asl.RarenessPool.from_runs(runs, name="others")


@cache
def lengths() -> asl.DocLengths:
    words = {doc: 10 + 37 * number for number, doc in enumerate([*_small.DOCS, *_small.QUERIES])}
    return asl.DocLengths.from_dict(words)


TOPICS = pd.DataFrame({"qid": _small.QUERIES[1:], "query": _small.QUERIES[1:]})


def transformers(runs: dict[str, pd.DataFrame]) -> dict[str, pt.Transformer]:
    return {name: pt.Transformer.from_df(pt.model.add_ranks(run)) for name, run in runs.items()}


def _saved(value: Any) -> str:
    """The file of a value."""
    path = _small.folder() / f"{type(value).__name__}-{id(value)}"
    if isinstance(value, pd.DataFrame):
        write_qrels(value, path)
    elif isinstance(value, dict):  # run -> group, query -> text
        path.write_text("".join(f"{key}\t{text}\n" for key, text in value.items()))
    elif not path.exists():
        value.save(path)
    return str(path)


def _texts(option: click.Option, value: Any) -> Iterator[str]:
    """The texts of a value; several where the option is given several times."""
    if option.name == "pools":
        yield _saved({run: kind for kind, runs in value.items() for run in runs})
    elif option.name in ("judges", "machine") and isinstance(next(iter(value.values())), dict):
        for track, judges in value.items():
            yield from (f"{track}={name}={_saved(judge)}" for name, judge in judges.items())
    elif option.name in ("judges", "machine"):
        yield from (f"{name}={_saved(judge)}" for name, judge in value.items())
    elif option.name == "judge_rel" and isinstance(value, dict):
        yield from (f"{name}={grade}" for name, grade in value.items())
    elif isinstance(value, pd.DataFrame | dict | asl.RarenessPool | asl.DocLengths):
        yield _saved(value)
    elif isinstance(value, list | tuple):
        texts = [str(part) for part in value]
        yield from texts if option.multiple else [",".join(texts)]
    elif option.name == "machine_rel":
        yield f"m={value}"
    else:
        yield str(value)


def words_of(command: click.Command, options: Mapping[str, Any]) -> list[str]:
    """Options of Python as words of a command."""
    by_name: dict[str, Any] = {}
    for option in command.params:
        by_name.setdefault(str(option.name), option)
    words = []
    for given, value in options.items():
        option = by_name[given]
        name = next(text for text in option.opts if text.startswith("--"))
        texts = [None] if option.is_flag else _texts(option, value)
        words += [word for text in texts for word in (name, text) if word is not None]
    return words


def words_of_inputs(setting: Setting, data: str = "plain") -> list[str]:
    """Qrels and runs, tracks or scores as words of a command."""
    if setting.source == "scores":
        path = _small.folder() / f"{data}-{setting.measure}.csv"
        long_scores(data, setting.measure).to_csv(path, index=False)
        return ["--scores", str(path), *(["--missing", "0"] if data == "unanswered" else [])]
    if setting.source == "several":
        words = []
        for track, seed in TRACKS:
            runs, qrels = files(data, seed)
            words += ["--track", track, str(qrels), str(next(iter(runs.values())).parent)]
        return words
    runs, qrels = files(data)
    return [str(qrels), *map(str, runs.values())]


def command_of(name: str) -> click.Command:
    return main.get_command(click.Context(main), name)


@dataclass(frozen=True)
class Call:
    """A function and the command that prints its table.

    Attributes:
        python: returns the result for runs, qrels, the measure and options.
        sources: of :class:`Setting`.
        command: the words of the command, the options that it is always given, and what it prints
            of the result; '' for a function without one.
        names: whether the result does not depend on the order of runs.
        drawn: whether it depends on the order of queries.
    """

    python: Callable[..., Any]
    sources: tuple[str, ...] = ("frames",)
    command: str = ""
    always: tuple[str, ...] = ("-o", "jsonl")
    printed: Callable[[Any], Any] = lambda result: result.table
    names: bool = True
    drawn: bool = False

    def result(self, setting: Setting, data: str, options: dict[str, Any]) -> Any:
        """The result of the function, with the inputs in another order than in the files."""
        options = dict(options)
        # Signs of queries are drawn, of several collections always.
        keep = QUERIES if self.drawn or setting.source != "frames" else ()
        runs, qrels = inputs(setting, data, options, names=self.names, keep=keep)
        return self.python(runs, qrels, setting.measure, **options)


def _with(function: Callable[..., Any], **usual: Any) -> Callable[..., Any]:
    """A function with other defaults."""
    return lambda *given, **options: function(*given, **usual | options)


def _experiment(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
    return asl.Experiment(transformers(runs), TOPICS, qrels, [measure], **options)


def _trace(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
    traced = asl.trace(transformers(runs)["alpha"] % 5, TOPICS, qrels, [measure], **options)
    return traced.table, traced.by_document, traced.sentences()


def _audit(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
        judged = people()
        if isinstance(qrels, asl.Qrels):
            judged = replace(qrels, source=judged)
        options = {"name": "m"} | options if function is asl.audit else options
        return function(runs, judged, measure, judged_by(0.7), **options)

    return call


def _judges(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
    options = {"draws": 30, "test": "t", "judges": judges_of(0.7, 0.5)(SETTINGS[0]), **options}
    judges = options.pop("judges")
    return asl.judges(qrels, judges, runs, measure, **{"reference": "qrels", **options})


def _judges_alone(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
    return asl.judges(qrels, judges_of(0.7, 0.5)(SETTINGS[0]), **{"draws": 30, **options})


def _scores(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
    table = options.pop("table", lambda scores: scores)(long_scores("plain", measure))
    read = asl.read_scores(table, **options)
    tables = [read.matrix(measure) for measure in read.measures]
    return tables, [read.direction(measure) for measure in read.measures], read.missing


def _merge(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
    return asl.merge_labels(qrels, options.pop("added", _small.labels()), **options)


@cache
def tuned() -> Collection:
    """A collection of short documents, in which settings of BM25 differ."""
    pytest.importorskip("optuna", reason="searches need pyterrier-asl[tune]")
    return Collection(num_docs=60)


def _bm25_with_space() -> tuple[pt.Transformer, Any]:
    bm25 = tuned().index.bm25(b=0.5, num_results=30)
    return bm25, {bm25: {"b": uniform(0, 1), "k1": uniform(0, 9)}}


def _stored(options: dict[str, Any]) -> list[str]:
    """The names of the searches in a storage, without numbers in names that Optuna gives."""
    studies = options["storage"].get_all_studies() if "storage" in options else []
    return [study.study_name.split("-0")[0] for study in studies]


def _search(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
    options = {"n_trials": 4, "seed": 1, "return_type": "trials", **options}
    found = asl.RandomSearch(
        *_bm25_with_space(), tuned().topics[::-1], tuned().qrels, measure, **options
    )
    return [found, *_stored(options)]


def _folds(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
    folds = [tuned().topics.iloc[::2], tuned().topics.iloc[1::2]]
    options = {"n_trials": 3, "seed": 1, **options}
    results, best = asl.KFoldRandomSearch(
        *_bm25_with_space(), folds, tuned().qrels, measure, **options
    )
    return results, [[triple[1:] for triple in fold] for fold in best], _stored(options)


def _stages(runs: Any, qrels: Any, measure: str, **options: Any) -> Any:
    stages, options = asl.bm25_stages(tuned().index), {"n_trials": 2, "seed": 1, **options}
    found = asl.StagedSearch(stages, tuned().topics, tuned().qrels, measure, **options)
    return found.table, list(found.trials.values()), str(found.settings), _stored(options)


def _values(table: pd.DataFrame) -> pd.DataFrame:
    """The values by query as ``evaluate`` prints them."""
    return table.rename(columns={"name": "run", "qid": "query_id"})


_BOTH = ("frames", "several")
_ALL = ("frames", "several", "scores")
_PAIR = {name: None for name in ("bravo", "alpha")}
#: Name of the function, or name and variant -> its calls.
CALLS: dict[str, Call] = {
    "evaluate": Call(
        _with(asl.evaluate, long=True), _BOTH, "evaluate", ("-o", "jsonl", "-q", "-n"), _values
    ),
    "bounds": Call(asl.bounds, _BOTH),
    "ties": Call(asl.ties, _BOTH, "evaluate", ("-o", "jsonl", "--ties"), lambda table: table),
    "compare": Call(_with(asl.compare, baseline="charlie"), ("frames", "scores"), "compare"),
    "ranks": Call(_with(asl.ranks, draws=300), _ALL, "ranks", drawn=True),
    "report": Call(asl.report, _ALL[:2]),
    "holes of two": Call(
        lambda runs, *given, **options: asl.holes(
            {name: runs[name] for name in _PAIR}, *given, **options
        ),
        command="holes",
    ),
    "holes": Call(asl.holes, command="holes", names=False),
    "judges": Call(
        _judges, command="judges", always=("-o", "jsonl", "--show", "agreement"), drawn=True
    ),
    "judges without runs": Call(_judges_alone),
    "audit": Call(_audit(asl.audit), command="audit", names=False),
    "plan_audit": Call(
        _audit(asl.plan_audit), command="plan-audit", always=(), printed=str, names=False
    ),
    "search_lengths": Call(
        lambda runs, qrels, measure, **options: asl.search_lengths(runs["bravo"], qrels, **options)
    ),
    "preferences": Call(
        lambda runs, qrels, measure, **options: asl.preferences(
            runs["bravo"], runs["alpha"], qrels, **options
        )
    ),
    "preference_matrix": Call(
        lambda runs, qrels, measure, **options: asl.preference_matrix(runs, qrels, **options)
    ),
    "read_scores": Call(_scores),
    "merge_labels": Call(
        _merge, command="labels", printed=lambda t: t.replace({"source": {"label": "added"}})
    ),
    "Experiment": Call(_experiment),
    "trace": Call(_trace),
    "RandomSearch": Call(_search),
    "KFoldRandomSearch": Call(_folds),
    "StagedSearch": Call(_stages),
}
#: Functions of one or two arguments, or whose options have tests of their own.
ELSEWHERE = {
    "bm25_stages": "tests/unit/tuning/test_stages.py",
    "explain": "tests/unit/evaluation/test_conventions.py",
    "read_labels": "a file",
    "read_qrels": "a file",
    "read_run": "a file",
    "read_runs": "tests/unit/io",
}


SEVERAL = {"frames": "several collections"}
SETTINGS_OF_QRELS = {
    "duplicates": Row("best", data="repeated"),
    "drop_self": Row(True),
    "collapse": Row("d", refused={"always": "none of the documents"}),
    "labels": Row(
        lambda s: _small.labels(),
        refused={"several": "labels|belong to QRELS"},
    ),
}
#: Labels of queries that people have not judged.
NOT_PEOPLE = {
    "labels": replace(
        SETTINGS_OF_QRELS["labels"], refused={"always": "the query has no official judgements"}
    )
}
REL = Row(2, refused={"scores": "rel"})
POOL = Row(lambda s: pool(), measure="AP_Rareness@10", refused={"scores": "pool"})
POOL_OF_ONE = replace(POOL, refused={"several": "pool", "scores": "pool"})
LENGTHS = Row(lambda s: lengths(), measure="TBG(missing_length=99)", refused={"scores": "lengths"})
LENGTHS_OF_ONE = replace(LENGTHS, refused={"several": "lengths", "scores": "lengths"})
ACROSS = Row(True, data="lacking", refused=SEVERAL)
UNJUDGED = {"unjudged": True}


def _with_judges(setting: Setting) -> dict[str, Any]:
    return {"judges": judges_of(0.7, 0.5)(setting)}


def _guarded(setting: Setting) -> dict[str, Any]:
    return {"conditions": [f"{setting.measure} worse"]}


def _table(value: Any, change: Callable[[pd.DataFrame], pd.DataFrame], **given: Any) -> Row:
    """An option for scores in another form, which are refused without it."""
    return Row(value, {"table": change} | given, data="unusable")


def _added(value: Any, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Row:
    """An option for labels made from the qrels, which are refused without it."""
    return Row(value, lambda s: {"added": change(frames()[1])}, data="unusable")


def _wide(scores: pd.DataFrame) -> pd.DataFrame:
    """A column per system."""
    return scores.pivot(index="qid", columns="name", values="value").reset_index()


def saved_in(setting: Setting) -> str:
    folder = _small.folder() / f"saved {setting}"
    folder.mkdir(exist_ok=True)
    return str(folder)


def _storage(setting: Setting) -> Any:
    return pytest.importorskip("optuna").storages.InMemoryStorage()


def _held_out(setting: Setting) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    return {"other": (tuned().topics, tuned().qrels)}


OF_MEASURES = {"rel": REL, "pool": POOL, "lengths": LENGTHS, **SETTINGS_OF_QRELS}
BOUNDED = {"depth": Row(12, measure="ASL@2"), "highest": Row(5, measure="nDCG@10")}
JUDGE_REL = Row({"x": 3}, _with_judges, alone="judge_rel", refused={"scores": "judge"})
PEOPLE = Row(["x"], _with_judges, alone="people", refused={"scores": "judge|people"})
JUDGES = Row(judges_of(0.7, 0.5), refused={"scores": "judge"})
SAME_TRIALS = {"always": "the same trials"}
SEARCH = {
    "measures": Row(["RR"]),
    "n_trials": Row(5),
    "seed": Row(7),
    "jobs": Row(2, same=SAME_TRIALS),
    "verbose": Row(True, same=SAME_TRIALS),
    "storage": Row(_storage),
    "study_name": Row("mine", lambda s: {"storage": _storage(s)}),
    "sweep": Row(False, same=SAME_TRIALS),
}
SAME_VALUES = {"always": "the same values"}
HOLES = {"rel": REL, **BOUNDED, "alpha": Row(1e-9), **SETTINGS_OF_QRELS}
OF_JUDGES = {
    "people": Row(["x"]),
    "reference": Row("nist"),
    "rel": REL,
    "judge_rel": Row({"x": 3}),
    "test": Row("sign", {"alpha": 0.5}),
    "alpha": Row(0.3),
    "draws": Row(20),
    "seed": Row(3),
    **SETTINGS_OF_QRELS,
}
OF_AUDIT = {
    "target": Row("these-queries"),
    "rel": REL,
    "machine_rel": Row(3),
    "alpha": Row(0.3),
    **SETTINGS_OF_QRELS,
    **NOT_PEOPLE,
}
SAVED = {"save_dir": saved_in(SETTINGS[0])}
NO_SEED = dict.fromkeys(("frames", "scores"), "all sign vectors of 12 queries")
ROWS: dict[str, dict[str, Row]] = {
    "evaluate": {
        **OF_MEASURES,
        "common": ACROSS,
        "long": Row(False),
        "jobs": Row(2, {"backend": "threading"}, same=SAME_VALUES),
        "backend": Row("threading", same=SAME_VALUES),
        "progress": Row(False, same=SAME_VALUES),
    },
    "bounds": {**OF_MEASURES, **BOUNDED, "by_query": Row(True)},
    "ties": {**OF_MEASURES, "common": ACROSS, "by_query": Row(True)},
    "trace": {"rel": REL},
    "compare": {
        "baseline": Row("delta"),
        "conditions": Row(lambda s: [f"{s.measure} worse"]),
        "allow_missing": Row(True, _guarded, data="unanswered", alone="allow.missing"),
        "test": Row("sign"),
        "correction": Row("none"),
        "alpha": Row(0.9),
        "seed": Row(5, {"test": "randomization"}, same=NO_SEED),
        **OF_MEASURES,
        "pool": POOL_OF_ONE,
        "lengths": LENGTHS_OF_ONE,
        "groups": Row(lambda s: {f"q{n}": "ab"[n % 2] for n in range(99)}),
        "detect": Row(0.1),
    },
    "ranks": {
        "unjudged": Row(True, {"alpha": 0.4}, refused={"scores": "unjudged"}),
        "judges": replace(JUDGES, given={"alpha": 0.4}),
        "judge_rel": JUDGE_REL,
        "rel": REL,
        "people": PEOPLE,
        "depth": Row(12, UNJUDGED, {"scores": "unjudged|depth"}, measure="ASL@2", alone="depth"),
        "highest": Row(
            5, UNJUDGED, {"scores": "unjudged|highest"}, measure="nDCG@10", alone="highest"
        ),
        "variance": Row("common", {"alpha": 0.4}, measure="AP@10"),
        "alpha": Row(0.4),
        "draws": Row(20),
        "seed": Row(4, {"draws": 20}),
        "simultaneous": Row(True, refused=SEVERAL | {"scores": "simultaneous"}),
        "common": ACROSS,
        **SETTINGS_OF_QRELS,
    },
    "report": {
        "dataset": Row("no-such-id", refused={"always": "no-such-id"}),
        "topics": Row(TEXTS),
        "docs": Row(TEXTS, refused={"scores": "docs"}),
        "judges": JUDGES,
        "judge_rel": JUDGE_REL,
        "people": PEOPLE,
        "unjudged": Row(True, measure="AP@10", refused={"scores": "unjudged"}),
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
    "holes of two": HOLES,
    "holes": HOLES | {"alpha": Row(1e-9, same={"always": "all pairs are not tested"})},
    "judges": OF_JUDGES,
    "judges without runs": OF_JUDGES
    | {
        "test": Row("t", refused={"always": "test"}),
        "duplicates": Row("best", refused={"always": "duplicates"}),
        "drop_self": Row(True, refused={"always": "drop_self"}),
        "collapse": Row("d", refused={"always": "collapse"}),
    },
    "audit": {**OF_AUDIT, "baseline": Row("delta"), "all_pairs": Row(True), "name": Row("llm")},
    "plan_audit": {
        **OF_AUDIT,
        "seed": Row(5, {"queries": 11}),
        "depth": Row(3),
        "queries": Row(11),
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
        "lower_is_better": _table(["mine"], lambda s: s.assign(measure="mine")),
        "higher_is_better": _table(["mine"], lambda s: s.assign(measure="mine")),
        "missing": _table(0.5, lambda s: s.iloc[1:]),
        "columns": _table("value=other", lambda s: s.rename(columns={"value": "other"})),
        "wide": _table("systems", _wide, higher_is_better=["score"]),
    },
    "merge_labels": {
        "conflicts": _added("official", lambda qrels: qrels.assign(label=0)[:40]),
        "add_queries": _added(True, lambda qrels: _small.labels().assign(qid="new")),
        "highest": _added(9, lambda qrels: _small.labels().assign(label=9)),
    },
    "RandomSearch": SEARCH
    | {
        "batch_size": Row(2, {"sweep": False}, same=SAME_VALUES),
        "return_type": Row("best_setting"),
    },
    "KFoldRandomSearch": SEARCH
    | {
        "measures": Row(["RR"], same={"always": "results and settings"}),
        "batch_size": Row(2, {"sweep": False}, same=SAME_VALUES),
    },
    "StagedSearch": SEARCH | {"held_out": Row(_held_out), "trials_only": Row(True)},
    "Experiment": {
        **SETTINGS_OF_QRELS,
        "duplicates": Row("error", data="repeated", refused={"always": "occurs 2 times"}),
        "names": Row(list("abcd"), refused={"always": "names is for a list of systems"}),
        "perquery": Row(True),
        "dataframe": Row(False),
        "batch_size": Row(2, same=SAME_VALUES),
        "filter_by_qrels": Row(True, same={"always": "all topics are judged"}),
        "filter_by_topics": Row(False),
        "baseline": Row("delta"),
        "test": Row("wilcoxon", {"baseline": 0}, alone="test='wilcoxon' is for"),
        "correction": Row("holm", {"baseline": 0}, alone="correction"),
        "correction_alpha": Row(
            0.9, {"baseline": 0, "correction": "holm"}, alone="correction_alpha=0.9 is for"
        ),
        "highlight": Row("bold"),
        "round": Row(1, {"perquery": "both"}),
        "verbose": Row(False, same=SAME_VALUES),
        "validate": Row("ignore", same={"always": "nothing is invalid"}),
        "save_dir": Row(SAVED["save_dir"], same=SAME_VALUES),
        "save_mode": Row(
            "reuse", SAVED, same=SAME_VALUES, alone="save_mode='reuse' is for save_dir"
        ),
        "save_format": Row(pickle, SAVED, same=SAME_VALUES, alone="save_format is for save_dir"),
        "ranks": Row(True),
    },
}
