"""Scores that other programs computed: tables of values per system, query and measure.

A table is read by what its columns declare, with the names of
:data:`~pyterrier_asl.io.declared.SYNONYMS` or those that the caller gives:

* a row per value: columns of systems, queries, measures and values;
* a row per system and query, and a column per measure;
* a row per query and a column per system (``wide="systems"``), or a row per system and a column per
  query (``wide="queries"``);
* the output of ``trec_eval -q``, ``ir_measures -q`` and ``evaluate -q``, and pytrec_eval's as JSON;
* the folder of an experiment (``save_dir``): its ``perquery.csv``.

Without a column of systems the file is the system. Further columns are collections, repetitions and
groups of queries. Tables are separated by tabs, commas, semicolons, bars or blanks, or are JSON,
Parquet or Arrow, perhaps compressed.

The measure of a wide table is the name of its file, if it is a measure (``nDCG@10.csv``), else
``score``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ..common.lazy import pd
from ..common.notices import counted, grouped, names_of
from ..common.parameters import check_name, check_names, one_or_more
from ..common.types import Bools, Floats
from ..io.columns import as_frame, is_table
from ..io.declared import NamesOfColumns, column_names
from ..io.runs import run_name
from ..judging.id_forms import other_form
from ..measures.directions import higher_is_better
from ..measures.parsing import canonical_name, measure_named, words
from .score_files import files_at, frame_of_file
from .score_rows import KEYS, WIDE, check_rows, groups_of, rows_of

#: The value of ``missing`` for the queries with all values.
COMMON = "common"


@dataclass(frozen=True)
class ScoreMatrices:
    """The values of S systems for Q queries of a collection by some measures.

    Attributes:
        frames: measure -> values, systems in rows and queries in columns. With repetitions the rows
            have two levels, ``name`` and ``repetition``.
        filled: measure -> whether each value was missing and is filled, shape (S, Q).
        note: a sentence on missing values; '' without.
    """

    frames: dict[str, pd.DataFrame]
    filled: dict[str, Bools]
    note: str


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Values of systems for queries, by measure and collection.

    Attributes:
        rows: ``track`` ('' for a single collection), ``name``, ``repetition`` ('' without), ``qid``
            and ``measure``, all text; ``value``, NaN where it is missing, and its ``text`` in the
            table; each key once.
        lower_is_better: unknown measures for which lower values are better.
        higher_is_better: unknown measures for which higher values are better.
        missing: what to do about missing values; see :func:`read_scores`.
        groups: (track, qid) -> the group of the query, if the table has a column of groups.
        notes: sentences on how the table was read.
    """

    rows: pd.DataFrame
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    missing: str | float | None = None
    groups: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def measures(self) -> list[str]:
        """The measures of the table."""
        return list(pd.unique(self.rows["measure"]))

    @property
    def tracks(self) -> list[str]:
        """The collections; [''] for a single one without a name."""
        return list(pd.unique(self.rows["track"]))

    @property
    def names(self) -> list[str]:
        """The systems."""
        return list(pd.unique(self.rows["name"]))

    @cached_property
    def repeated(self) -> list[str]:
        """The systems with several repetitions."""
        keys = [key for key in KEYS if key != "repetition"]
        return list(pd.unique(self.rows.loc[self.rows.duplicated(keys), "name"]))

    def systems(self, names: Sequence[str]) -> ScoreTable:
        """The table of some of the systems, in this order.

        Raises:
            ValueError: for a system that the table lacks, or that is named twice.
        """
        if measures := [name for name in names if name not in self.names and name in self.measures]:
            raise ValueError(
                f"{measures[0]!r} is a measure of the scores, of the system {self.names[0]!r}: if "
                "the columns are systems, write --wide systems (wide='systems')"
            )
        check_names("scores", names, self.names, "systems")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"the system {twice[0]!r} is named twice: name different systems")
        parts = [self.rows[self.rows["name"] == name] for name in names]
        return replace(self, rows=pd.concat(parts, ignore_index=True))

    def default_measures(self) -> tuple[list[str], list[str]]:
        """The measures that every system has, and a sentence on others.

        Raises:
            ValueError: if there is no such measure.
        """
        of_tracks = [of for _, of in self.rows.groupby("track", sort=False)]
        by_measure = {
            measure: dict.fromkeys(name for of in of_tracks for name in _lacking(of, measure))
            for measure in self.measures
        }
        shared = [measure for measure, names in by_measure.items() if not names]
        lists = [f"{name} ({names_of([*names])})" for name, names in by_measure.items() if names]
        lacks = names_of(lists) if lists else ""
        if not shared:
            raise ValueError(f"every measure is missing for some systems, {lacks}: leave them out")
        return shared, [f"measures that some systems lack are left out: {lacks}"] * bool(lists)

    def names_in(self, measures: Any) -> list[str]:
        """The names of one or several measures; a text can name several that the table has.

        >>> frame = pd.DataFrame({"name": ["a"], "qid": ["q"], "AP": [0.5], "my score": [1.0]})
        >>> read_scores(frame).names_in(["my score", "map RR"])
        ['my score', 'map', 'RR']
        """
        return [
            name
            for text in map(str, one_or_more(measures))
            for name in ([text] if canonical_name(text) in self.measures else words(text))
        ]

    def direction(self, measure: str) -> bool:
        """Whether higher values of a measure are better.

        Raises:
            ValueError: for an unknown measure without a given direction.
        """
        lower = dict.fromkeys(self.lower_is_better, False)
        directions = dict.fromkeys(self.higher_is_better, True) | lower
        named = measure_named(measure)
        up = directions.get(measure, None if named is None else higher_is_better(named))
        if up is None:
            raise ValueError(
                f"the direction of {measure!r} is not known: use lower_is_better=[{measure!r}] "
                "(--lower-is-better) or higher_is_better (--higher-is-better)"
            )
        return up

    def matrix(self, measure: str, track: str = "") -> pd.DataFrame:
        """The values of systems (rows) and queries (columns) of a collection.

        Raises:
            ValueError: see :meth:`matrices`.

        >>> table = read_scores(pd.DataFrame({"qid": [1, 2], "a": [0.5, 1.0], "b": [0.0, 0.25]}),
        ...     wide="systems")
        >>> table.matrix("score").loc["b"].tolist()
        [0.0, 0.25]
        """
        return self.matrices([measure], track).frames[measure]

    def matrices(
        self, measures: Sequence[str], track: str = "", *, repetitions: bool = False
    ) -> ScoreMatrices:
        """The values of systems for the queries that have a value of any of the measures.

        Args:
            measures: the names of the measures, as the caller writes them.
            track: the collection.
            repetitions: whether systems may have several repetitions, a row for each.

        Raises:
            ValueError: for a measure or a collection that the table lacks, a system without any
                value of a measure, ids of queries in another form than those of other systems, and
                missing values without ``missing``; without ``repetitions`` for a system of several.
        """
        if track not in self.tracks:
            raise ValueError(f"the scores have no collection {track!r}; they have {self.tracks}")
        if self.repeated and not repetitions:
            raise ValueError(
                f"{names_of(self.repeated)} {'has' if len(self.repeated) == 1 else 'have'} several "
                "repetitions: only compare tests them (pyterrier-asl compare --scores)"
            )
        rows = self.rows[self.rows["track"] == track]
        for measure in measures:
            self._check_measure(measure, rows)
        rows = rows.assign(
            repetition=rows["repetition"].where(rows["name"].isin(self.repeated), "")
        )
        keys = ["name", "repetition"]
        systems = pd.MultiIndex.from_frame(rows[keys].drop_duplicates())
        labels = pd.Index([*map(canonical_name, measures)])
        asked = rows[rows["measure"].isin(labels)]
        columns = pd.Index(asked["qid"].unique(), name="qid")
        values = np.full((len(labels), len(systems), len(columns)), np.nan)
        values[
            labels.get_indexer(pd.Index(asked["measure"])),
            systems.get_indexer(pd.MultiIndex.from_frame(asked[keys])),
            columns.get_indexer(pd.Index(asked["qid"])),
        ] = asked["value"]
        names, qids = [*systems.get_level_values(0)], [*columns]
        _check_ids(names, ~np.isnan(values).all(axis=0), qids)
        values, filled, is_kept, note = self._without_missing(values, measures, names, qids)
        index = systems if repetitions else systems.get_level_values(0)
        frames = [pd.DataFrame(of_measure, index, columns[is_kept]) for of_measure in values]
        return ScoreMatrices(dict(zip(measures, frames)), dict(zip(measures, filled)), note)

    def _check_measure(self, measure: str, rows: pd.DataFrame) -> None:
        """Raises ValueError for a measure that the rows of a collection lack, or a system there."""
        name = canonical_name(measure)
        if name not in self.measures:
            raise ValueError(
                f"the scores have no measure {measure!r}; they have {', '.join(self.measures)}: "
                "choose one of them, or rename it in the table"
                + "; if the columns are systems, write --wide systems (wide='systems')"
                * (len(self.names) == 1 and len(self.measures) > 1)
            )
        if lacking := _lacking(rows, name):
            raise ValueError(
                f"{names_of(lacking)} {'has' if len(lacking) == 1 else 'have'} no value of "
                f"{measure}: add the values, leave the system out, or choose another measure"
            )

    def _without_missing(
        self, values: Floats, measures: Sequence[str], names: Sequence[str], qids: Sequence[str]
    ) -> tuple[Floats, Bools, Bools, str]:
        """Values without missing ones, which of them were filled, the queries, and a sentence."""
        lacks = np.isnan(values)
        is_complete = np.asarray(~lacks.any(axis=(0, 1)))
        number, complete = int(lacks.sum()), int(is_complete.sum())
        queries = f"{complete:,} of {counted(len(qids), 'query', 'queries')}"
        if not number:
            return values, lacks, is_complete, ""
        if self.missing is None:
            measure, system, query = np.argwhere(lacks)[0].tolist()
            raise ValueError(
                f"{counted(number, 'value')} of {lacks.size:,} {'is' if number == 1 else 'are'} "
                f"missing, the first {measures[measure]} of {names[system]} for query "
                f"{qids[query]!r}: compare {queries}, those with all values, with --missing common "
                "(missing='common'), or give a value for the missing ones with --missing VALUE "
                "(missing=VALUE)"
            )
        if self.missing == COMMON:
            if not complete:
                raise ValueError("no query has a value of every system and measure: leave some out")
            note = f"over {queries}, those with a value of every system and measure"
            return values[..., is_complete], lacks[..., is_complete], is_complete, note
        of_systems = zip(names, lacks.sum(axis=(0, 2)).tolist())
        lists = [f"{name}: {count:,}" for name, count in of_systems if count]
        verb = "counts" if number == 1 else "count"
        note = f"{counted(number, 'missing value')} ({names_of(lists)}) {verb} as {self.missing:g}"
        return np.where(lacks, self.missing, values), lacks, np.ones_like(is_complete), note


def _lacking(rows: pd.DataFrame, measure: str) -> list[str]:
    """The systems without a value of a measure."""
    having = {*rows.loc[(rows["measure"] == measure) & rows["value"].notna(), "name"]}
    return [name for name in pd.unique(rows["name"]) if name not in having]


def _check_ids(names: Sequence[str], has_value: Bools, qids: Sequence[str]) -> None:
    """Raises ValueError for a system that writes ids of queries in another form than the others."""
    systems, ids = np.array(names, dtype=object), np.array(qids, dtype=object)
    for name in (*names[1:], *names[:1]):
        ours, theirs = (has_value[rows].any(axis=0) for rows in (systems == name, systems != name))
        if (ours & ~theirs).any() and (theirs & ~ours).any():
            if form := other_form("query", pa.array(ids[ours]), pa.array(ids[theirs])):
                raise ValueError(f"{name} {form}")


def read_scores(
    scores: Any,
    *,
    columns: NamesOfColumns = None,
    wide: str | None = None,
    missing: str | float | None = None,
    lower_is_better: Iterable[str] = (),
    higher_is_better: Iterable[str] = (),
) -> ScoreTable:
    """Reads scores per query that another program computed.

    Args:
        scores: a file, several, or a folder of them, in a form that is listed in
            :mod:`pyterrier_asl.evaluation.scores`; or a frame.
        columns: the column of each role, where its name does not say it: ``qid``, ``name`` (of
            systems), ``measure``, ``value``, ``repetition``, ``group``, ``track``; ``text``:
            columns that are no values, separated by ``|``. '': the table has no such column.
        wide: what the other columns are: ``'systems'`` or ``'queries'``; None: measures.
        missing: ``'common'``: only queries with a value of every system and measure that is asked
            for; a number: the value of missing scores; None: missing scores are an error.
        lower_is_better: unknown measures for which lower values are better.
        higher_is_better: unknown measures for which higher values are better.

    Raises:
        ValueError: for a file that is not a table of scores, a row with more or fewer fields than
            the header, a cell that is not a number, a value outside the range of its measure or
            that occurs twice, with the file and the lines; for a table whose columns do not declare
            what they are, with the option that does.
        OSError: for a file that cannot be read.

    >>> rows = {"name": ["a", "a"], "qid": ["1", "2"], "measure": ["AP", "AP"], "value": [0.5, 1.0]}
    >>> table = read_scores(pd.DataFrame(rows))
    >>> table.measures, table.direction("AP"), table.matrix("map").to_numpy().tolist()
    (['AP'], True, [[0.5, 1.0]])
    """
    check_name("wide", wide, [None, *WIDE])
    if missing != COMMON and missing is not None:
        if isinstance(missing, (str, bool)) or not math.isfinite(missing):
            raise ValueError(f"missing is {missing!r}: give 'common' or a number")
    columns = column_names(columns)
    sources: dict[str, tuple[pd.DataFrame, str, list[str]]] = {}
    if is_table(scores):
        frame = as_frame(scores).reset_index(drop=True).rename_axis("row")
        sources["the frame of scores"] = frame, "run", []
    else:
        for file in files_at(one_or_more(scores)):
            if str(file) in sources:
                raise ValueError(f"the file {file} is given twice: give it once")
            frame, left_out = frame_of_file(file, columns.values(), wide)
            sources[str(file)] = frame, run_name(file), left_out
    parts, notes = {}, list[tuple[str, str]]()
    for source, (frame, system, of_file) in sources.items():
        parts[source], more = rows_of(frame, system, source, columns, wide)
        notes += [(note, source) for note in [*of_file, *more]]
    rows = pd.concat(parts, names=["source"])
    rows["measure"] = rows["measure"].map(
        {name: canonical_name(name) for name in pd.unique(rows["measure"])}
    )
    check_rows(
        rows,
        {source: system for source, (_, system, _) in sources.items()},
        {source: frame for source, (frame, *_) in sources.items()},
    )
    table = ScoreTable(
        rows[[*KEYS, "value", "text"]].reset_index(drop=True),
        tuple(map(canonical_name, lower_is_better)),
        tuple(map(canonical_name, higher_is_better)),
        missing,
        groups_of(rows),
        tuple(f"{names_of(files)}: {note}" for note, files in grouped(notes).items()),
    )
    for names in (table.lower_is_better, table.higher_is_better):
        check_names("the direction", names, table.measures, "measures of the scores")
    return table
