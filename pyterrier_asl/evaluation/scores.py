"""Scores that other programs computed: tables of values per system, topic and measure.

These forms can be read (tables with tabs, commas, semicolons or blanks, JSON, Parquet; perhaps
compressed), with the names of columns of :data:`~pyterrier_asl.io.synonyms.SYNONYMS`:

* long tables ``name, qid, measure, value``, with ``track`` for several collections;
* tables with ``name``, ``qid`` and a column per measure; without ``name`` the name of the file is
  the system, so that two files are two systems;
* the output of ``trec_eval -q``, ``ir_measures -q`` and ``evaluate -q``;
* tables of one measure with ``qid`` and a column per system (``wide_systems``), or with ``name``, a
  column per topic and a column of their means;
* the folder of an experiment (``save_dir``): its ``perquery.csv``.

Columns of text, means of topics (``all``, ``average``, ``avg``, ``mean``) and lines of trec_eval
without a number are left out.

The measure of a table without a measure is the name of the file, if it is a measure
(``nDCG@10.csv``), otherwise the name of the column of values, or ``score`` in a wide table.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..common.choices import check_names
from ..common.lazy import pd
from ..common.notices import counted, excerpt, names_of, warn
from ..common.types import Floats
from ..io.columns import as_frame, is_table
from ..io.runs import run_name
from ..io.synonyms import SYNONYMS, column_named, plain
from ..measures.directions import higher_is_better
from ..measures.parsing import canonical_name, is_measure, measure_named, words
from ..printing.tables import ALL
from .score_files import files_at, frame_of_file

_KEYS = ("track", "name", "qid", "measure")
#: Names of means in the place of a topic.
_MEANS = frozenset({ALL, "average", "avg", "mean"})
#: Names of columns of means and ranks, beside columns of topics.
_MEAN = re.compile(r"(average|avg|mean|overall|rank)\.?( ?\(.*\))?", re.IGNORECASE)
#: Names of columns that are no measures.
_OTHERS = frozenset((*SYNONYMS["text"][0], *SYNONYMS["repetition"][0]))
#: The measure of a wide table without a measure.
_SCORE = "score"
#: What to do if the columns of a table are not measures.
_IF_SYSTEMS = "if the columns are systems, pass wide_systems=True (--wide-systems)"


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Values of systems for topics, by measure and collection.

    Attributes:
        rows: ``track`` ('' for a single collection), ``name``, ``qid``, ``measure``, all text, and
            ``value``, which stood as ``text`` in the table; each key once.
        lower_is_better: unknown measures for which lower values are better.
        higher_is_better: unknown measures for which higher values are better.
        fill: value used for missing scores; None: missing scores are an error.
    """

    rows: pd.DataFrame
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    fill: float | None = None

    @property
    def measures(self) -> list[str]:
        """The measures of the table."""
        return list(pd.unique(self.rows["measure"]))

    @property
    def tracks(self) -> list[str]:
        """The collections; [''] for a single one without a name."""
        return list(pd.unique(self.rows["track"]))

    def systems(self, names: Sequence[str]) -> ScoreTable:
        """The table of some of the systems, in this order.

        Raises:
            ValueError: for a system that the table lacks, or that is named twice.
        """
        systems = [*pd.unique(self.rows["name"])]
        if measures := [name for name in names if name not in systems and name in self.measures]:
            raise ValueError(
                f"{measures[0]!r} is a measure of the scores, of the system {systems[0]!r}: "
                f"{_IF_SYSTEMS}"
            )
        check_names("scores", names, systems, "systems")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"the system {twice[0]!r} is named twice: name different systems")
        parts = [self.rows[self.rows["name"] == name] for name in names]
        return replace(self, rows=pd.concat(parts, ignore_index=True))

    def measure_or(self, default: str) -> str:
        """The only measure of the table; a default if it has several."""
        return self.measures[0] if len(self.measures) == 1 else default

    def names_in(self, measures: Any) -> list[str]:
        """The names of one or several measures; a text can name several that the table has.

        >>> frame = pd.DataFrame({"name": ["a"], "qid": ["q"], "AP": [0.5], "my score": [1.0]})
        >>> read_scores(frame).names_in(["my score", "map RR"])
        ['my score', 'map', 'RR']
        """
        several = not isinstance(measures, str) and isinstance(measures, Iterable)
        known, names = {canonical_name(name) for name in self.measures}, []
        for text in map(str, measures if several else [measures]):
            names += [text] if canonical_name(text) in known else words(text)
        return names

    def direction(self, measure: str) -> bool:
        """Whether higher values of a measure are better.

        Raises:
            ValueError: for an unknown measure without a given direction.
        """
        lower = dict.fromkeys(self.lower_is_better, False)
        given = dict.fromkeys(self.higher_is_better, True) | lower
        named = measure_named(measure)
        up = given.get(measure, None if named is None else higher_is_better(named))
        if up is None:
            raise ValueError(
                f"the direction of {measure!r} is not known: use lower_is_better=[{measure!r}] "
                "(--lower-is-better) or higher_is_better (--higher-is-better)"
            )
        return up

    def matrix(self, measure: str, track: str = "") -> pd.DataFrame:
        """The values of systems (rows) and topics (columns) of a collection.

        Raises:
            ValueError: for a measure or a collection that the table lacks, or missing values.

        >>> table = read_scores(pd.DataFrame({"qid": [1, 2], "a": [0.5, 1.0], "b": [0.0, 0.25]}),
        ...     wide_systems=True)
        >>> table.matrix("score").loc["b"].tolist()
        [0.0, 0.25]
        """
        if track not in self.tracks:
            raise ValueError(f"the scores have no collection {track!r}; they have {self.tracks}")
        named = {canonical_name(name): name for name in reversed(self.measures)}
        rows = self.rows[
            (self.rows["track"] == track)
            & (self.rows["measure"] == named.get(canonical_name(measure)))
        ]
        if rows.empty:
            is_single = self.rows["name"].nunique() == 1 and len(self.measures) > 1
            raise ValueError(
                f"the scores have no measure {measure!r}{f' in {track}' if track else ''}; they "
                f"have {', '.join(self.measures)}: choose one of them, or rename it in the table"
                f"{f'; {_IF_SYSTEMS}' if is_single else ''}"
            )
        names, qids = (list(pd.unique(rows[key])) for key in ("name", "qid"))
        wide = rows.pivot(index="name", columns="qid", values="value").loc[names, qids]
        missing = np.argwhere(wide.isna().to_numpy())
        if len(missing) and self.fill is None:
            system, topic = missing[0].tolist()
            raise ValueError(
                f"{counted(len(missing), 'value')} of {measure} missing, the first of system "
                f"{names[system]!r} for topic {qids[topic]!r}: add the missing values, or pass a "
                "value to use instead (fill=0, --fill 0)"
            )
        return wide if self.fill is None else wide.fillna(self.fill)

    def values(self, measure: str, track: str = "") -> Floats:
        """The values of :meth:`matrix` as an array, shape (S, Q)."""
        return self.matrix(measure, track).to_numpy(dtype=np.float64)


def read_scores(
    scores: Any,
    *,
    lower_is_better: Iterable[str] = (),
    higher_is_better: Iterable[str] = (),
    fill: float | None = None,
    wide_systems: bool = False,
) -> ScoreTable:
    """Reads scores per topic that another program computed.

    Args:
        scores: a file, several, or a folder of them, in a form that is listed in
            :mod:`pyterrier_asl.evaluation.scores`; or a frame.
        lower_is_better: unknown measures for which lower values are better.
        higher_is_better: unknown measures for which higher values are better.
        fill: value used for missing scores; None: missing scores are an error.
        wide_systems: whether the columns beside ``qid`` are systems, not measures of one system.

    Raises:
        ValueError: for a file that is not a table of scores, a row with more or fewer fields than
            the header, a value that is not a number or occurs twice, with the file and the lines;
            for a table that can be read in two ways, with both.
        OSError: for a file that cannot be read.

    >>> rows = {"name": ["a", "a"], "qid": ["1", "2"], "measure": ["AP", "AP"], "value": [0.5, 1.0]}
    >>> table = read_scores(pd.DataFrame(rows))
    >>> table.measures, table.direction("AP"), table.values("map").tolist()
    (['AP'], True, [[0.5, 1.0]])
    """
    if is_table(scores):
        scores = as_frame(scores)
        source, frame = "the frame of scores", scores.reset_index(drop=True).rename_axis("row")
        parts = [(source, _long(frame, "", source, wide_systems))]
    else:
        paths = [scores] if isinstance(scores, (str, os.PathLike)) else scores
        parts = [
            (str(file), _long(frame_of_file(file), run_name(file), str(file), wide_systems))
            for file in files_at(paths)
        ]
    rows = pd.concat([part for _, part in parts], keys=[source for source, _ in parts])
    repeated = rows.duplicated([*_KEYS])
    if repeated.any():
        key = rows.loc[repeated, [*_KEYS]].iloc[0]
        track, name, qid, measure = key
        (first, line), (second, other) = rows.index[(rows[[*_KEYS]] == key).all(axis=1)][:2]
        what = rows.index.names[1]
        raise ValueError(
            f"the scores have two values of {measure} of {name!r} for topic {qid!r}"
            f"{f' in {track}' if track else ''}: {what} {line} of {first} and {what} {other} of "
            f"{second}; of repetitions, such as epochs or seeds, give the mean, with pandas "
            "frame.groupby(['name', 'qid'], as_index=False).mean(numeric_only=True)"
        )
    table = ScoreTable(
        rows.reset_index(drop=True), tuple(lower_is_better), tuple(higher_is_better), fill
    )
    for names in (table.lower_is_better, table.higher_is_better):
        check_names("the direction", names, table.measures, "measures of the scores")
    return table


def _long(table: pd.DataFrame, name: str, source: str, wide_systems: bool) -> pd.DataFrame:
    """A table of scores with one row per value, in the index its line."""
    if (first := table.columns[:1].tolist()) and first[0] in ("", "Unnamed: 0"):
        if column_named(table.columns, "qid", source) is None:
            table = table.rename(columns={first[0]: "qid"})
        else:
            table = table.drop(columns=first)  # the index of a frame
    named = {key: column_named(table.columns, key, source) for key in (*_KEYS, "value")}
    others = _numeric(table.drop(columns=[c for c in named.values() if c is not None]), source)
    header = named["value"]
    if header is not None and named["measure"] is None and any(map(is_measure, others)):
        others, named["value"] = [column for column in table if column in {*others, header}], None
    keys = {column: key for key, column in named.items() if column is not None}
    own = name if is_measure(name) else _SCORE if named["value"] is None else str(header)
    table = table[[*keys, *others]].rename(columns=keys)
    if "value" in table and others:
        warn(f"{source}: left out {names_of([*map(str, others)])}, beside a column of values")
    if "value" not in table or "qid" not in table:
        kind = _kind_of(others, table, name, source, wide_systems)
        others = [column for column in others if kind != "qid" or not _MEAN.fullmatch(str(column))]
        table = table.melt([*keys.values()], others, kind, "value", ignore_index=False)
    table = table.assign(
        **{
            key: text
            for key, text in (("track", ""), ("name", name), ("measure", own))
            if key not in table
        }
    )
    for key in _KEYS:
        if missing := int(table[key].isna().sum()):
            raise ValueError(f"{source} has {counted(missing, 'row')} without {key}")
    table = table.astype({key: str for key in _KEYS})
    for line, field in table[[*_KEYS]].agg(",".join, axis=1).items():
        if "\n" in field or "\r" in field:
            raise ValueError(
                f"{source}, {table.index.name} {line}: a field has a line break "
                f"({excerpt(field.strip(','))}): remove it, or a quotation mark that does not "
                "belong there"
            )
    table = table.loc[~table["qid"].str.lower().isin(_MEANS), [*_KEYS, "value"]]
    values = pd.to_numeric(table["value"], errors="coerce").astype(float)
    wrong = values.isna() & table["value"].notna()
    if wrong.any():
        row = table[wrong].iloc[0]
        raise ValueError(
            f"{source}, {table.index.name} {row.name}: the {row['measure']} of "
            f"{row['name'] or 'the system'} for topic {row['qid']!r} is {row['value']!r}, which is "
            "not a number"
        )
    if not len(table):
        raise ValueError(f"{source} has no value of a topic: print values per topic (-q)")
    return table.assign(text=table["value"], value=values)


def _numeric(table: pd.DataFrame, source: str) -> list[Any]:
    """The columns with numbers; columns of text are left out, with a warning."""
    texts = []
    for column in table:
        cells = table[column].dropna()
        is_text = bool(len(cells)) and pd.to_numeric(cells, errors="coerce").isna().all()
        if (is_text and not is_measure(column)) or plain(column) in _OTHERS:
            texts.append(str(column))
    if texts:
        warn(f"{source}: left out {names_of(texts)}, which {_hold(texts)} no values of a measure")
    return [column for column in table if str(column) not in texts]


def _hold(columns: Sequence[Any]) -> str:
    return "holds" if len(columns) == 1 else "hold"


def _kind_of(
    columns: Sequence[Any], table: pd.DataFrame, name: str, source: str, wide_systems: bool
) -> str:
    """What the columns of values are: measures, systems ('name') or topics ('qid').

    Args:
        columns: the columns of values.
        table: the table, with the columns of :data:`_KEYS` that it has.
        name: the name of the file; '' of a frame.
        source: the name of the source in errors.
        wide_systems: whether the caller says that they are systems.

    Raises:
        ValueError: for a table without topics, and for columns that could be one or the other.
    """
    has = names_of([*map(str, table.columns)], 12)
    known = [*map(is_measure, columns)]
    if "qid" not in table:
        if "value" in table or "name" not in table or "measure" in table or any(known):
            raise ValueError(
                f"{source} has no column qid; it has {has}: give the values of each topic"
            )
        means = [column for column in columns if _MEAN.fullmatch(str(column))]
        numbers = table[[*columns]].apply(pd.to_numeric, errors="coerce").astype(float)
        of_topics = numbers.drop(columns=means).mean(axis=1)
        if not any(np.allclose(of_topics, numbers[mean], rtol=0.01) for mean in means):
            raise ValueError(
                f"{source} has a row per system and no column qid: its columns ({has}) could be "
                "topics, but no column has their mean, or measures; give one row per topic, with "
                "a column qid"
            )
        warn(f"{source}: left out {names_of([*map(str, means)])}, which {_hold(means)} no topic")
        return "qid"
    if "measure" in table and ("name" in table or len(columns) < 2):
        raise ValueError(f"{source} has a column measure, but no column value; it has {has}")
    if "name" in table and wide_systems:
        raise ValueError(f"{source} has a column of names: leave out wide_systems (--wide-systems)")
    if "measure" in table or wide_systems or (is_measure(name) and not any(known)):
        return "name"
    if not name and "name" not in table and not all(known):
        raise ValueError(
            f"{source} has no column of names: its columns ({has}) could be measures of one system "
            "(then add a column name) or systems (then pass wide_systems=True)"
        )
    return "measure"
