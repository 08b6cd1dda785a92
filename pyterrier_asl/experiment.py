"""pt.Experiment that knows which way is better, makes the pool of its own systems, and compares
rankings by lexicographic precision.

``pt.Experiment`` runs the systems, saves them and scores them. What it cannot know is made here
from what it returns: the per-query values, and, where a measure needs all systems at once, the
results themselves, noted as they pass through the end of each pipeline.
"""

from __future__ import annotations

import builtins
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pcsv
import pyterrier as pt
from ir_measures import Measure

from ._atomic import replacing
from ._table import Column, Floats, compare, corrected, highlighted, suffix
from ._watching import Saving, Seen, check, telling, text_ids, watched
from .judging import Judgements, NothingJudged
from .measures import LexiP
from .pools import RarenessPool
from .preference import RecallLevels
from .scoring.lexicographic import first_difference

#: System number -> query -> measure -> value: what pt.Experiment returns for every query.
Scores = dict[int, dict[Any, dict[str, float]]]

_RAREST = ("P_Rareness", "AP_Rareness")
_SUMMARIES = ("aggregated.csv", "perquery.csv")
_RUN = {"query_id": "qid", "doc_id": "docno"}


class Results(NamedTuple):
    """What an experiment with ``perquery='both'`` returns."""

    averages: Any
    perquery: Any

    def _repr_html_(self) -> str:
        return "".join(str(part._repr_html_()) for part in self if hasattr(part, "_repr_html_"))


def Experiment(
    retr_systems: Sequence[Any] | Mapping[str, Any],
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[str | Measure],
    names: Sequence[str] | None = None,
    perquery: bool | str = False,
    dataframe: bool = True,
    batch_size: int | None = None,
    filter_by_qrels: bool = False,
    filter_by_topics: bool = True,
    baseline: int | str | Sequence[int | str] | None = None,
    test: Any = "t",
    correction: str | None = None,
    correction_alpha: float = 0.05,
    highlight: str | None = None,
    round: int | Mapping[str, int] | None = None,
    verbose: Any = "auto",
    validate: str = "warn",
    save_dir: str | os.PathLike[str] | None = None,
    save_mode: str = "warn",
    save_format: Any = "trec",
    **options: Any,
) -> Any:
    """``pt.Experiment``, called alike and returning alike, that gets right what it cannot know.

    * ``+``, ``-`` and ``highlight`` follow the direction of each measure: less ASL is better.
    * A rareness measure without a pool gets the pool of the experiment's own systems, each of which
      runs once.
    * With a baseline, ``'sgnLP'`` and ``'rrLP'`` (also ``'rrLP(rel=2)@100'``) can be asked for as
      measures: the mean preference over it, the queries won and lost, and the p-value of a sign
      test and of a t-test.
    * ``baseline`` may be a list; its columns then say ``vs`` whom. Per-query values can be had
      together with a baseline.
    * A measure may be any text that PyTerrier (``'map'``) or ir_measures (``'ASL@1000'``)
      understands; columns are called, and stand, as they were asked for.
    * A system none of whose documents is judged is an error, as are scores that are no numbers.
    * With ``perquery='both'`` topics without judgements do not make the averages NaN.

    Args:
        retr_systems: list of transformers or results, or dict of them by name.
        topics: frame with ``qid`` and ``query``, or a file.
        qrels: frame with ``qid``, ``docno``, ``label``, or a file.
        eval_metrics: measures, or names of measures.
        names: names of the systems in a list.
        perquery: False: means; True: a value for every query; ``'both'``.
        dataframe: whether to return frames, else dicts.
        batch_size: how many topics are run at a time.
        filter_by_qrels: drop topics that are not in the qrels.
        filter_by_topics: drop qrels that are not in the topics.
        baseline: number of a system, or its name, or a list of them.
        test: ``'t'``, ``'wilcoxon'``, or a function as ``scipy.stats.ttest_rel``.
        correction: how p-values are corrected, by its name in statsmodels.
        correction_alpha: the family-wise error rate.
        highlight: ``'bold'`` or ``'color'`` marks the best value of each column.
        round: decimal places, of all means or by measure.
        verbose: whether progress is shown.
        validate: ``'warn'``, ``'error'`` or ``'ignore'``: pipelines that cannot work.
        save_dir: a folder for the results, and for two summaries of the values as CSV.
        save_mode: ``'reuse'``, ``'overwrite'``, ``'error'`` or ``'warn'``.
        save_format: ``'trec'``, a module such as pickle, or a pair of functions.
        **options: whatever else ``pt.Experiment`` takes, such as ``plan='tree'``.

    Returns:
        A frame; a dict (``dataframe=False``); a Styler (``highlight``); or, with
        ``perquery='both'``, averages and per-query values as a tuple.

    Raises:
        ValueError: for a measure, baseline or option that does not exist, and for results that
            cannot be scored, naming the system.

    Warns:
        UserWarning: of a pool of fewer than 8 systems; of ``ASL(missing='after')`` or ``'eq3'``
            over systems that retrieve different numbers of documents.

    >>> topics = pd.DataFrame({"qid": ["1", "2"], "query": ["chess", "go"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "a"], "label": [1, 1]})
    >>> def results(*docnos):
    ...     return pd.DataFrame({"qid": ["1", "1", "2", "2"], "docno": docnos, "score": [2, 1] * 2})
    >>> systems = {"first": results("a", "b", "b", "a"), "second": results("a", "b", "a", "b")}
    >>> table = Experiment(systems, topics, qrels, ["ASL@10", "rrLP"], baseline="first")
    >>> print(table.drop(columns=["ASL@10 p-value", "rrLP p-value"]).to_string(index=False))
      name  ASL@10  rrLP  ASL@10 +  ASL@10 -  rrLP +  rrLP -
     first     1.5  0.00       NaN       NaN     NaN     NaN
    second     1.0  0.25       1.0       0.0     1.0     0.0
    """
    names, systems = _named(retr_systems, names)
    baselines = _baselines(baseline, names)
    columns, mrt = _columns(eval_metrics, baselines, names)
    _check(perquery, correction, baselines, highlight, round, options)
    trial = _Trial(
        names=names,
        topics=_read(topics, pt.io.read_topics),
        qrels=_read(qrels, pt.io.read_qrels),
        filters={"filter_by_qrels": filter_by_qrels, "filter_by_topics": filter_by_topics},
        saving=Saving(save_dir, save_mode, save_format),
        running={
            "batch_size": batch_size, "test": test, "validate": validate, **options,
            **({} if verbose == "auto" else {"verbose": verbose}),  # PyTerrier 1.0 has no 'auto'
        },
        quiet=perquery is False,
    )  # fmt: skip
    before = _summaries(save_dir)
    scored = _score(trial, systems, columns, mrt=mrt and perquery is False)

    def averages() -> pd.DataFrame:
        return _averages(
            scored, names, baselines, _test(test), correction, correction_alpha, round
        )

    if save_dir is not None:
        _summarise(Path(save_dir), before, averages(), _per_query(scored, names, round))
    if perquery is True:
        return _per_query(scored, names, round) if dataframe else scored.scores
    if not dataframe:
        means = _as_dict(scored, names)
        return (means, scored.scores) if perquery else means
    table: Any = averages()
    if highlight is not None:
        table = highlighted(table, highlight, _directions(scored, names, baselines))
    return Results(table, _per_query(scored, names, round)) if perquery else table


# What was asked


def _named(systems: Any, names: Sequence[str] | None) -> tuple[list[str], list[Any]]:
    """Names and systems; a dict's names go before others."""
    if isinstance(systems, Mapping):
        return [str(name) for name in systems], list(systems.values())
    if not isinstance(systems, list):
        raise TypeError(
            f"retr_systems must be a list or dict of transformers or results, not {type(systems)}"
        )
    names = [str(system) for system in systems] if names is None else [str(n) for n in names]
    if not systems:
        raise ValueError("retr_systems is empty: there is no system to try")
    if len(names) != len(systems):
        raise ValueError(f"there are {len(systems)} systems, but {len(names)} names: {names}")
    return names, systems


def _baselines(baseline: Any, names: list[str]) -> list[int]:
    """The numbers of the baselines."""
    if baseline is None:
        return []
    several = isinstance(baseline, Iterable) and not isinstance(baseline, str)
    numbers = [_baseline(one, names) for one in (baseline if several else [baseline])]
    return list(dict.fromkeys(numbers))


def _baseline(baseline: Any, names: list[str]) -> int:
    if isinstance(baseline, str) and names.count(baseline) == 1:
        return names.index(baseline)
    if isinstance(baseline, (int, np.integer)) and not isinstance(baseline, bool):
        if 0 <= baseline < len(names):
            return int(baseline)
    raise ValueError(
        f"baseline must be the number of a system, from 0 to {len(names) - 1}, or the name of one, "
        f"{', '.join(map(repr, names))}; not {baseline!r}"
    )


def _columns(
    eval_metrics: Any, baselines: list[int], names: list[str]
) -> tuple[list[Column], bool]:
    """The columns that were asked for, each once, and whether ``mrt`` was."""
    if isinstance(eval_metrics, (str, Measure)):
        eval_metrics = [eval_metrics]
    columns: dict[str, Column] = {}
    for asked in eval_metrics:
        for column in [] if isinstance(asked, str) and asked == "mrt" else _meaning(asked):
            if column.preference is None:
                columns.setdefault(column.label, column)
            elif not baselines:
                raise ValueError(
                    f"{column.label} compares systems with a baseline: say baseline="
                )
            else:
                for baseline in baselines:
                    made = column.against(baseline, suffix(baseline, baselines, names))
                    columns.setdefault(made.label, made)
    mrt = any(isinstance(asked, str) and asked == "mrt" for asked in eval_metrics)
    if not columns:
        raise ValueError("eval_metrics names no measure" + (" besides mrt" if mrt else ""))
    return list(columns.values()), mrt


def _meaning(asked: Any) -> list[Column]:
    """What a measure, or text, means: PyTerrier's meaning before ir_measures'."""
    if isinstance(asked, Measure):
        return [Column(str(asked), asked)]
    if not isinstance(asked, str):
        raise ValueError(f"a measure is text or an ir_measures Measure, not {asked!r}")
    preference = re.match(r"(sgnLP|rrLP)(?=$|[(@])", asked)
    if preference:
        parameters = asked[preference.end() :]
        return [Column(asked, _parsed(f"{LexiP.NAME}{parameters}"), preference.group())]
    try:
        measures = ir_measures.parse_trec_measure(asked)
    except ValueError:
        return [Column(asked, _parsed(asked))]
    if len(measures) == 1:
        return [Column(asked, measures[0])]
    return [Column(str(measure), measure) for measure in measures]


def _parsed(text: str) -> Measure:
    try:
        return ir_measures.parse_measure(text)
    except NameError:
        raise ValueError(
            f"there is no measure {text!r}, neither for PyTerrier (such as 'map', 'ndcg_cut_10', "
            "'mrt') nor for ir_measures (such as 'AP', 'nDCG@10', 'ASL@1000')"
        ) from None
    except ValueError as error:
        raise ValueError(f"measure {text!r}: {error}") from None


def _check(
    perquery: Any, correction: Any, baselines: list[int], highlight: Any, round: Any, options: Any
) -> None:
    """Raises ValueError for an option that does not fit the others."""
    if perquery not in (False, True, "both"):
        raise ValueError(f"perquery must be False, True or 'both', not {perquery!r}")
    if correction is not None and not baselines:
        raise ValueError("correction needs something to correct: say baseline=")
    if highlight not in (None, "bold", "color", "colour"):
        raise ValueError(f"highlight must be 'bold' or 'color', not {highlight!r}")
    places = round.values() if isinstance(round, Mapping) else [] if round is None else [round]
    if any(not isinstance(n, (int, np.integer)) or n < 0 for n in places):
        raise ValueError(f"round must be decimal places from 0 on, or a dict of them, not {round}")


def _read(source: Any, reader: Any) -> pd.DataFrame:
    """Topics or qrels, whose query ids are text, as the results' will be."""
    if isinstance(source, (str, os.PathLike)) and os.path.isfile(source):
        source = reader(str(source))
    if not isinstance(source, pd.DataFrame) or "qid" not in source.columns:
        raise ValueError(
            "topics and qrels must be a frame with a column 'qid', or a file, not "
            f"{list(source.columns) if isinstance(source, pd.DataFrame) else repr(source)}"
        )
    return text_ids(source)


def _test(test: Any) -> Any:
    from scipy import stats

    return {"t": stats.ttest_rel, "wilcoxon": stats.wilcoxon}.get(test, test)


# Running and scoring


@dataclass(frozen=True)
class _Trial:
    """What the systems are tried on, and how."""

    names: list[str]
    topics: pd.DataFrame
    qrels: pd.DataFrame
    filters: dict[str, bool]
    saving: Saving
    running: dict[str, Any]
    quiet: bool

    def judgements(self) -> Judgements:
        """Those that the systems are scored by."""
        qrels = self.qrels
        if self.filters["filter_by_topics"]:
            qrels = qrels[qrels["qid"].isin(self.topics["qid"])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scoring says the same
            return Judgements(qrels)

    def run(self, systems: list[Any], measures: Sequence[Measure], perquery: Any) -> Any:
        """pt.Experiment as the user asked for it."""
        return self._call(
            systems, measures, perquery, **self.running, **self.saving.arguments()
        )

    def score(self, results: list[pd.DataFrame], measures: Sequence[Measure]) -> Scores:
        """pt.Experiment over results that are there."""
        scores: Scores = self._call(
            results, measures, "both", validate="ignore", verbose=False
        )[1]
        return scores

    def _call(
        self, systems: list[Any], measures: Sequence[Any], perquery: Any, **further: Any
    ) -> Any:
        with _without(self.quiet):
            return pt.Experiment(
                systems, self.topics, self.qrels, list(measures), names=self.names,
                perquery=perquery, dataframe=perquery is False, **self.filters, **further,
            )  # fmt: skip


@contextmanager
def _without(quiet: bool) -> Iterator[None]:
    """Without the warnings of pt.Experiment that are not so here."""
    with warnings.catch_warnings():
        # Of a batch; whole runs are checked.
        warnings.filterwarnings("ignore", category=NothingJudged)
        # Its summaries are replaced.
        warnings.filterwarnings("ignore", message="Evaluation measures differ")
        if quiet:
            warnings.filterwarnings("ignore", message=r"\d+ topic\(s\) not found in qrels")
        yield


@dataclass(frozen=True)
class _Scored:
    """Every value of an experiment.

    Attributes:
        columns: the measures, in the order asked for.
        scores: the values, by the columns' labels.
        queries: the judged queries, over which means are taken.
        mrt: mean response times, where asked for.
    """

    columns: list[Column]
    scores: Scores
    queries: list[Any]
    mrt: list[float] | None

    def values(self, column: Column) -> Floats:
        """Those of one column, shape (systems, queries)."""
        label = column.label
        return np.array(
            [[queries[qid][label] for qid in self.queries] for queries in self.scores.values()],
            dtype=np.float64,
        ).reshape(len(self.scores), len(self.queries))


def _score(trial: _Trial, systems: list[Any], columns: list[Column], mrt: bool) -> _Scored:
    """Runs every system once and scores it, in one call of pt.Experiment where that will do.

    A pool of all systems is known only when all have run, and pt.Experiment gives away either
    response times or per-query values; then the results are kept, and scored by a second call.
    """
    poolless = [c.measure for c in columns if _lacks_pool(c.measure)]
    measures = _unique(columns)
    twice = bool(mrt or poolless or not measures)
    keep = _needed(measures) if twice or _preferences(columns) else []
    judgements = trial.judgements()
    seen = [Seen(name, judgements, keep) for name in trial.names]
    pipelines = watched(systems, seen, trial.saving)
    scores: Scores = {}
    times = None
    with telling(seen, trial.saving):
        if twice:
            table = trial.run(pipelines, ["mrt", *_probe(measures)], False)
            times = table["mrt"].tolist() if mrt else None
        else:
            scores = trial.run(pipelines, measures, "both")[1]
    check(seen, trial.saving)
    _warn_of_depths(columns, seen)
    if poolless:
        columns = _with_pool(columns, _pool(poolless, seen))
    if twice:
        scores = trial.score([one.frame for one in seen], _unique(columns) or [LexiP])
    labelled = _labelled(scores, columns, judgements, seen)
    known = set(judgements.qid_text.to_pylist())
    queries = [qid for qid in labelled[0] if str(qid) in known]
    return _Scored(columns, labelled, queries, times)


def _unique(columns: list[Column]) -> list[Measure]:
    """The measures, each once."""
    return list(dict.fromkeys(c.measure for c in columns if c.preference is None))


def _preferences(columns: list[Column]) -> list[Column]:
    return [c for c in columns if c.preference is not None]


def _lacks_pool(measure: Measure) -> bool:
    return measure.NAME in _RAREST and measure.params.get("pool") is None


def _needed(measures: list[Measure]) -> list[str]:
    """The columns of results that scoring needs."""
    ready = [m for m in measures if not _lacks_pool(m)]
    further = ir_measures.run_inputs(ready) if ready else []
    return list(dict.fromkeys(["qid", "docno", "score", *(_RUN.get(c, c) for c in further)]))


def _probe(measures: list[Measure]) -> list[Measure]:
    """As few measures as ask of the systems what all of them do."""
    ready = [m for m in measures if not _lacks_pool(m)]
    wanting = [m for m in ready if set(_needed([m])) > set(_needed([]))]
    return wanting or ready[:1] or [LexiP]


def _pool(measures: list[Measure], seen: list[Seen]) -> RarenessPool:
    """The pool of the experiment's own systems, as deep as the measures need."""
    names = [one.name for one in seen]
    if len(set(names)) < len(names):
        raise ValueError(f"rareness counts systems by name: give each its own, not {names}")
    depths = [m.params.get("depth") or m.params.get("cutoff") for m in measures]
    depth = None if None in depths else max(depths)
    print(
        f"pt.asl.Experiment: rareness is counted over the {len(names)} systems of the experiment: "
        + ", ".join(names),
        file=sys.stderr,
    )
    return RarenessPool.from_runs(
        {one.name: one.frame for one in seen}, depth=depth, name="experiment"
    )


def _with_pool(columns: list[Column], pool: RarenessPool) -> list[Column]:
    """The columns, their names as asked for, with the pool where a measure lacks one."""
    return [
        Column(c.label, c.measure(pool=pool)) if _lacks_pool(c.measure) else c for c in columns
    ]


def _warn_of_depths(columns: list[Column], seen: list[Seen]) -> None:
    """ASL that fills nothing up rewards a system for returning less."""
    for column in columns:
        if column.measure.NAME != "ASL" or column.measure["missing"] == "pad":
            continue
        cutoff = column.measure["cutoff"] or np.inf
        depths = [float(np.minimum(one.retrieved, cutoff).mean()) for one in seen]
        low, high = int(np.argmin(depths)), int(np.argmax(depths))
        if depths[high] > 1.1 * depths[low]:
            warnings.warn(
                f"{column.label} compares rankings as long as they are, and shorter ones do better "
                f"by that: {seen[low].name!r} retrieved {depths[low]:.1f} documents a query, "
                f"{seen[high].name!r} {depths[high]:.1f}; missing='pad' measures all at one depth",
                stacklevel=4,
            )


def _labelled(
    scores: Scores, columns: list[Column], judgements: Judgements, seen: list[Seen]
) -> Scores:
    """The values by the columns' labels, preferences among them."""
    preferred = {c.label: _preference(c, judgements, seen) for c in _preferences(columns)}

    def value(system: int, qid: Any, column: Column) -> float:
        if column.preference is None:
            return scores[system][qid][str(column.measure)]
        return preferred[column.label][system].get(str(qid), np.nan)

    return {
        system: {
            qid: {column.label: value(system, qid, column) for column in columns}
            for qid in queries
        }
        for system, queries in sorted(scores.items())
    }


def _preference(
    column: Column, judgements: Judgements, seen: list[Seen]
) -> list[dict[str, float]]:
    """Every system against the baseline: query -> rrLP or sgnLP."""
    measure = column.measure
    levels = RecallLevels(
        judgements, rel=measure["rel"], cutoff=measure["cutoff"], judged_only=measure["judged_only"]
    )
    assert column.baseline is not None
    reciprocal = [levels.of_judged(one.met) for one in seen if one.met is not None]
    _, values = first_difference(np.stack(reciprocal), reciprocal[column.baseline], levels.total)
    if column.preference == "sgnLP":
        values = np.sign(values)
    qids = judgements.qid_text.to_pylist()
    return [dict(zip(qids, row)) for row in values.tolist()]


# What is returned


def _averages(
    scored: _Scored, names: list[str], baselines: list[int], test: Any, correction: str | None,
    alpha: float, round: Any,
) -> pd.DataFrame:  # fmt: skip
    """One row a system: means, then how they compare with each baseline."""
    values = {column.label: scored.values(column) for column in scored.columns}
    means = {"name": names} | {
        column.label: [
            _rounded(column.mean(row), column.label, round) for row in values[column.label]
        ]
        for column in scored.columns
    }
    if scored.mrt is not None:
        means["mrt"] = [_rounded(time, "mrt", round) for time in scored.mrt]
    parts = [pd.DataFrame(means)]
    for baseline in baselines:
        for column, label in _compared(scored.columns, baseline, baselines, names):
            part = compare(column, values[column.label], baseline, label, test)
            parts.append(part)
            if correction is not None:
                parts.append(corrected(part.iloc[:, -1], baseline, correction, alpha))
    return pd.concat(parts, axis=1)


def _compared(
    columns: list[Column], baseline: int, baselines: list[int], names: list[str]
) -> Iterator[tuple[Column, str]]:
    """What is compared with a baseline, and what the columns' names begin with."""
    for column in columns:
        if column.preference is None:
            yield column, column.label + suffix(baseline, baselines, names)
        elif column.baseline == baseline:
            yield column, column.label


def _directions(scored: _Scored, names: list[str], baselines: list[int]) -> dict[str, bool]:
    """Whether lower is better, for each column that has a best value."""
    lower = {column.label: column.lower_is_better for column in scored.columns}
    if scored.mrt is not None:
        lower["mrt"] = True
    for baseline in baselines:
        for _, label in _compared(scored.columns, baseline, baselines, names):
            lower |= {f"{label} +": False, f"{label} -": True}
    return lower


def _per_query(scored: _Scored, names: list[str], round: Any) -> pd.DataFrame:
    """One row for each system, query and measure."""
    places = None if isinstance(round, Mapping) else round  # a dict is about means
    rows = [
        (names[system], qid, label, _rounded(value, label, places))
        for system, queries in scored.scores.items()
        for qid, values in queries.items()
        for label, value in values.items()
    ]
    frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    return frame.sort_values(["name", "qid"], kind="stable")


def _as_dict(scored: _Scored, names: list[str]) -> dict[str, dict[str, float]]:
    """Name -> measure -> mean."""
    means: dict[str, dict[str, float]] = {name: {} for name in names}
    for column in scored.columns:
        for name, row in zip(names, scored.values(column)):
            means[name][column.label] = column.mean(row)
    for name, time in zip(names, scored.mrt or []):
        means[name]["mrt"] = time
    return means


def _rounded(value: float, label: str, places: Any) -> float:
    places = places.get(label) if isinstance(places, Mapping) else places
    return value if places is None else builtins.round(value, int(places))


def _summaries(folder: str | os.PathLike[str] | None) -> list[pd.DataFrame]:
    """The summaries of earlier experiments in the folder."""
    paths = [Path(folder) / name for name in _SUMMARIES] if folder is not None else []
    # To pandas a system called 'NA' would be none.
    parse = pcsv.ParseOptions(newlines_in_values=True)
    convert = pcsv.ConvertOptions(column_types={"name": pa.string(), "qid": pa.string()})
    return [
        pcsv.read_csv(path, parse_options=parse, convert_options=convert).to_pandas()
        if path.exists() else pd.DataFrame()
        for path in paths
    ]  # fmt: skip


def _summarise(
    folder: Path, before: list[pd.DataFrame], table: pd.DataFrame, each: pd.DataFrame
) -> None:
    """Puts summaries in the place of pt.Experiment's, which has not seen all of the experiment.

    As there, systems of earlier experiments stay.
    """
    if len(before[0]) and set(before[0].columns) != set(table.columns):
        warnings.warn(
            f"{folder / _SUMMARIES[0]} has other columns than this experiment "
            f"({', '.join(sorted(set(before[0].columns) ^ set(table.columns)))}): what a system "
            "lacks stays empty",
            stacklevel=3,
        )
    for name, old, new in zip(_SUMMARIES, before, (table, each)):
        if len(old):
            old = old[~old["name"].isin(table["name"])]
        with replacing(folder / name) as beside:
            (pd.concat([new, old], ignore_index=True) if len(old) else new).to_csv(
                beside, index=False
            )
