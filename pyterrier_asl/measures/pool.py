"""RarenessPool: the runs among which a document is rare, each ranked to a depth."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from ..common.lazy import pc
from ..common.notices import counted, progress_bar, warn
from ..common.parameters import check_names, check_whole
from ..common.types import Bools, Ints
from ..io.columns import cut_ids
from ..io.runs import iter_runs
from ..io.saved_tables import load_table, naming_damage, save_table
from ..io.values import arrow_numbers, arrow_text, numpy_numbers, take
from ..judging.id_forms import other_form
from ..judging.judged_run import JudgedRun, Relevant
from ..judging.matching import rank
from ..judging.pair_index import Hashes, PairIndex, codes, hashes_of, of_groups, positions
from ..judging.ranking import equal_rows
from ..judging.remembered import copy_of, remembered
from ..scoring.arrays import (
    cumulate,
    distinct,
    queries_of,
    ranges_from,
    reduce_by_query,
    within_query,
)
from ..scoring.rareness import FEW, count_finders
from .named import Named

if TYPE_CHECKING:
    from typing import Self

_VERSION = 1


class RarenessPool(Named):
    """A pool of runs: the documents of each run in the top k of each query.

    Build it with :meth:`from_runs`, :meth:`from_systems` or :meth:`load`. ``pool=`` of a measure
    takes a pool, its name, a file, or the runs of :meth:`from_runs`, such as a folder.

    A run counts a document once. With ``groups``, groups are counted instead of runs, so that two
    submissions of one group do not make each other's documents common. Rerankers of the same
    candidates all have rareness 0 if k is the number of candidates or more.

    Attributes:
        name: the name.
        id: name and digest of the content, as a measure prints it.
        runs: the names of the runs, in alphabetical order.
        groups: the group of each run, by default its name.
        systems: S, the number of groups; without groups, the number of runs.
        depth: the depth of the rankings; None: whole rankings.
    """

    KIND: ClassVar[str] = "rareness pool"
    MADE_BY: ClassVar[str] = "from_runs"
    FILE: ClassVar[str] = "'pyterrier-asl pool' makes one"
    #: Whether its documents have been matched with qrels, as those of an Evaluation.
    is_matched = False

    def __init__(self, table: pa.Table, *, name: str, depth: int | None, groups: Mapping[str, str]):
        """Takes a table (run, qid, docno, rank) in this order of rows; see :meth:`from_runs`."""
        run, qid, docno = (table.column(name).combine_chunks() for name in ("run", "qid", "docno"))
        self._run, names = codes(pc.cast(run, pa.large_string()))
        self.runs: list[str] = names.to_pylist()
        self.groups: list[str] = [groups.get(run_name, run_name) for run_name in self.runs]
        self.systems, self.depth = len(set(self.groups)), depth
        self._table = table
        self._set_rows(self._run, qid, docno, numpy_numbers(table.column("rank").combine_chunks()))
        self._group = np.unique(self.groups, return_inverse=True)[1].astype(np.int64)
        settings = json.dumps([self.runs, self.groups, depth]).encode()
        self._register(name, [settings, self._run, qid, docno, self._rank])
        if self.systems < FEW:
            warn(
                f"{self!r} has {counted(self.systems, 'group' if groups else 'run')}: fewer than "
                f"{FEW} say little about rareness",
            )

    def _set_rows(self, run: Ints, qid: pa.Array, docno: pa.Array, rank: Ints) -> None:
        """Sets the rows, by run, query and rank, and what follows from them."""
        self._run, self._rank = run, rank
        self._query, self._qids = codes(qid)
        doc, different = codes(docno)
        _, first, self._pair = np.unique(
            self._query * len(different) + doc, return_index=True, return_inverse=True
        )
        self._index = PairIndex(
            np.searchsorted(self._query[first], np.arange(len(self._qids) + 1)), take(docno, first)
        )

    @remembered
    def matched(self, collapse: str | None, drop_self: bool) -> Self:
        """The same pool, its documents matched as those of runs: see :class:`~.qrels.Qrels`.

        Rows that are left out move the later ones up, so that a pool of a depth has the least
        depth to which a ranking of this depth is still known.
        """
        if self.is_matched or not (collapse or drop_self):
            return self
        qid, docno = (self._table.column(name).combine_chunks() for name in ("qid", "docno"))
        docno = docno if collapse is None else cut_ids(docno, collapse)
        pairs, numbers = codes(docno)[0], len(docno) + 1
        rankings = self._run * len(self._qids) + self._query
        keep = np.zeros(len(docno), dtype=bool)
        keep[np.unique(rankings * numbers + pairs, return_index=True)[1]] = True
        if drop_self:
            keep[equal_rows(docno, qid)] = False
        rows, other = np.flatnonzero(keep), copy_of(self)
        sizes = np.bincount(rankings[rows], minlength=len(self.runs) * len(self._qids))
        if self.depth is not None:
            other.depth = int(sizes[rankings[self._rank == self.depth]].min(initial=self.depth))
        other.is_matched = True
        other._set_rows(
            self._run[rows], take(qid, rows), take(docno, rows), within_query(cumulate(sizes)) + 1
        )
        return other

    @classmethod
    def from_runs(
        cls,
        runs: Any,
        *,
        depth: int | None = None,
        groups: Mapping[str, str] | None = None,
        name: str = "pool",
    ) -> Self:
        """A pool of runs.

        Args:
            runs: dict of name -> run (data frames with ``qid``, ``docno``, ``score``, files, runs
                matched with qrels, or another form that ir_measures takes), list of run files, or
                a folder of them.
            depth: keep only the first ``depth`` documents of each query; None: all.
            groups: run -> group; every other run is a group of one run.
            name: the name of the pool.

        Raises:
            ValueError: for no runs, and for the group of an unknown run.

        Warns:
            UserWarning: for a pool of fewer than 8 runs or groups, and for runs without a group if
                others have one.

        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # two runs are few
        ...     pool = RarenessPool.from_runs({"a": {"q": {"d": 1}}, "b": {"q": {"e": 1}}})
        >>> pool.runs, pool.depth
        (['a', 'b'], None)
        """
        if depth is not None:
            check_whole("depth", depth)
        tables, is_matched = {}, False
        for run_name, run in iter_runs(runs):
            tables[run_name] = ranking_table(run_name, run, depth)
            is_matched |= isinstance(run, JudgedRun)
        if empty := sorted(run for run, table in tables.items() if not len(table)):
            raise ValueError(f"runs of the pool are empty, they have no rows: {empty}")
        check_names("groups", groups or {}, tables, "runs of the pool")
        if groups and len(groups) < len(tables):
            warn(
                f"groups has {counted(len(groups), 'run')} of {len(tables)}: each other run of the "
                f"pool {name!r} counts as a group, so give all runs a group"
            )
        table = pa.concat_tables([tables[run] for run in sorted(tables)])
        pool = cls(table, name=name, depth=depth, groups=groups or {})
        pool.is_matched = is_matched
        return pool

    @classmethod
    def resolve(cls, value: object) -> Self:
        """The pool of a parameter: see :meth:`Named.resolve`; also the runs of a pool.

        A folder is read, also where a pool in this process has its name.
        """
        is_folder = isinstance(value, (str, os.PathLike)) and Path(value).is_dir()
        is_runs = is_folder or isinstance(value, (Mapping, list, tuple))
        return cls.from_runs(value) if is_runs else super().resolve(value)

    @classmethod
    def from_systems(
        cls,
        systems: Mapping[str, Any] | Sequence[Any],
        topics: Any,
        *,
        depth: int | None = None,
        groups: Mapping[str, str] | None = None,
        names: Sequence[str] | None = None,
        name: str = "pool",
    ) -> Self:
        """A pool of PyTerrier systems; each is run once.

        Args:
            systems: dict of name -> transformer (or its results), or a list of them.
            topics: frame of topics with ``qid`` and ``query``.
            depth: keep only the first ``depth`` documents of each query; None: all.
            groups: system -> group; see :meth:`from_runs`.
            names: names of the systems in a list; by default their printed forms.
            name: the name of the pool.
        """
        if not isinstance(systems, Mapping):
            labels = [str(system) for system in systems] if names is None else list(names)
            if len(set(labels)) < len(labels) or len(labels) != len(systems):
                raise ValueError(f"{len(systems)} systems need as many different names: {labels}")
            systems = dict(zip(labels, systems))
        runs = {
            label: system if hasattr(system, "itertuples") else system.transform(topics)
            for label, system in progress_bar(
                systems.items(),
                desc="pool",
                total=len(systems),
                shown=None if len(systems) >= FEW else False,
            )
        }
        return cls.from_runs(runs, depth=depth, groups=groups, name=name)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Saves the pool as Parquet; an existing pool is replaced when the new one is complete.

        Args:
            path: the file.
            force: whether a file with other content is overwritten.
        """
        settings = {
            "name": self.name,
            "depth": self.depth,
            "groups": {run: group for run, group in zip(self.runs, self.groups) if run != group},
        }
        table = self._table.replace_schema_metadata({"pool": json.dumps(settings)})
        save_table(table, path, kind=self.KIND, version=_VERSION, force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, name: str | None = None) -> Self:
        """Loads a saved pool; measures then find it by its name.

        Args:
            path: a file that :meth:`save` wrote.
            name: another name; None: the saved name.
        """
        table = load_table(path, kind=cls.KIND, version=_VERSION)
        with naming_damage(path):
            settings = json.loads(table.schema.metadata[b"pool"])
            return cls(table, **{**settings, "name": name or settings["name"]})

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        depth = f", depth={self.depth}" * (self.depth is not None)
        return f"RarenessPool({self.id!r}, runs={len(self)}{depth})"

    def documents(self, qids: pa.Array | None = None, depth: int | None = None) -> frozenset[str]:
        """The documents of some queries down to a depth."""
        keep = np.ones(len(self._rank), dtype=bool) if depth is None else self._rank <= depth
        if qids is not None:
            keep &= np.isin(self._query, positions(qids, self._qids))
        return frozenset(take(self._index.ids, np.unique(self._pair[keep])).to_pylist())

    @remembered
    def counts(self, depth: int | None) -> Ints:
        """S_d of every (query, document) pair of the pool, in the order of the pairs."""
        top = self._top(depth)
        groups = self._group[self._run[top]] if self.systems < len(self) else None
        return count_finders(self._pair[top], len(self._index), groups)

    def _top(self, depth: int | None) -> slice | Bools:
        """The rows of the pool down to a depth."""
        return slice(None) if depth in (None, self.depth) else self._rank <= depth

    def finders(
        self,
        judged: JudgedRun,
        documents: Relevant | JudgedRun,
        *,
        depth: int | None = None,
        member: bool | None = None,
    ) -> tuple[Ints, Ints]:
        """S_d and S of documents that a run retrieved.

        A run outside the pool is scored as if it joined: S + 1, and S_d + 1 for each document in
        its top k.

        Args:
            judged: the run.
            documents: E of its documents.
            depth: k; None: the whole depth of the pool.
            member: whether the run is in the pool; None: decided per query, by whether a member
                has the same set of documents in its top k.

        Returns:
            Two arrays of shape (E,).

        Raises:
            ValueError: for a depth beyond the depth of the pool, and a query without a pool.
        """
        judgements = judged.judgements
        pool = self.matched(judgements.collapse, judgements.drop_self)
        if pool is not self:
            return pool.finders(judged, documents, depth=depth, member=member)
        if depth is None:
            depth = self.depth
        elif self.depth is not None and depth > self.depth:
            raise ValueError(
                f"{self!r} has depth {self.depth}, but depth {depth} is needed: build a deeper "
                f"pool, or give the measure a cutoff or depth= of {self.depth} at most"
            )
        query_of = positions(judgements.qid_text, self._qids)
        queries = query_of[documents.queries]
        if len(queries) and queries.min() < 0:
            unknown = documents.queries[int(queries.argmin())]
            form = other_form("query", self._qids, judgements.qid_text)
            raise ValueError(
                f"{self!r} does not know query {judgements.qids[unknown]!r}, for which a relevant "
                "document was retrieved: make the pool from runs that answer every query"
                + (f"; it {form}" if form else "")
            )
        docnos = take(judgements.docnos, documents.pairs)
        # Documents outside the pool have place -1: the last count, 0.
        finders = np.append(self.counts(depth), 0)[self._index.find(queries, docnos)]
        joins = (
            ~self._is_member(judged, query_of, depth)[documents.queries]
            if member is None
            else np.full(len(queries), not member)
        )
        own = joins if depth is None else joins & (documents.ranks <= depth)
        return finders + own, self.systems + joins.astype(np.int64)

    def _is_member(self, judged: JudgedRun, query_of: Ints, depth: int | None) -> Bools:
        """Whether a member has the same set of documents in its top k, per query."""
        ranking = judged.whole_ranking.cut(depth)
        hashes = hashes_of(judged.table.docno, self._index.seed, ranking.rows)
        marks = _mix(of_groups(hashes, query_of[ranking.queries]))
        return np.isin(reduce_by_query(np.add, marks, ranking.offsets, 0), self._members(depth))

    @remembered
    def _members(self, depth: int | None) -> Hashes:
        """A number for the set of documents in the top k of each run and query.

        It is the sum of a random number for each (query, document): other sets have the same sum
        with chance 2^-64.
        """
        top = self._top(depth)
        ranking = self._run[top] * len(self._qids) + self._query[top]
        starts = np.flatnonzero(np.diff(ranking, prepend=-1))
        hashes = hashes_of(self._index.ids, self._index.seed)
        marks = _mix(of_groups(hashes, queries_of(self._index.offsets)))
        return distinct(np.add.reduceat(marks[self._pair[top]], starts))


def _mix(x: Hashes) -> Hashes:
    """Mixes hashes, so that their sums look random, too (SplitMix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def ranking_table(name: str, run: Any, depth: int | None) -> pa.Table:
    """A run as a table (run, qid, docno, rank), by query (as text) and rank; see :func:`rank`."""
    ranked = run if isinstance(run, JudgedRun) else rank(run)
    table, ranking = ranked.table, ranked.whole_ranking.cut(depth)
    qids = np.array(ranked.judgements.qid_text.to_pylist(), dtype=object)
    order = np.argsort(qids, kind="stable")
    offsets = cumulate(np.diff(ranking.offsets)[order])
    rows = ranking.rows[ranges_from(ranking.offsets[:-1][order], offsets)]
    return pa.table(
        {
            "run": pa.repeat(arrow_text([name])[0], len(rows)),
            "qid": take(table.qid, rows),
            "docno": take(table.docno, rows),
            "rank": arrow_numbers(within_query(offsets) + 1),
        }
    )
