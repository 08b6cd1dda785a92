"""Ids of documents that a run writes differently from the qrels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..io.values import take
from ..judging.judged_run import JudgedRun
from ..judging.matching import PairIndex
from ..scoring.arrays import Bools, Ints, offsets_of, queries_of

#: The most judged documents that are looked at, and the first documents of a query.
_JUDGED, _DEPTH = 5000, 50
#: The longest prefix or suffix, in characters.
_AFFIX = 16
#: The fewest documents that must match, their number as a multiple of those that match the next
#: query (unless judged documents do, too), and as a share of the rate of other documents.
_FEWEST, _MORE, _RATE = 5, 5, 0.2


@dataclass(frozen=True)
class Writing:
    """The way in which a run writes ids that the qrels write differently.

    Attributes:
        kind: ``'prefix'``, ``'suffix'``, ``'part'`` (a suffix that begins with a separator and
            differs by document) or ``'form'`` (case, separators, leading zeros).
        text: the prefix, the suffix or the separator.
        in_qrels: whether the ids of the qrels have it, and not those of the run.
    """

    kind: str
    text: str = ""
    in_qrels: bool = False

    def without(self, ids: pa.LargeStringArray) -> pa.LargeStringArray:
        """Ids without the prefix, suffix, part or form."""
        if self.kind == "form":
            return _plain(ids)
        is_prefix, size = self.kind == "prefix", len(self.text)
        if self.kind == "part":
            cut = pc.replace_substring_regex(ids, rf"[\{self.text}][^\{self.text}]*$", "")
        else:
            cut = _cut(ids, size, is_prefix)
        has = pc.starts_with(ids, self.text) if is_prefix else pc.ends_with(ids, self.text)
        return cut if self.kind == "part" else pc.if_else(has, cut, ids)

    def pair(self, ours: Any, theirs: Any) -> tuple[Any, Any]:
        """The ids of a run and of the qrels in one spelling."""
        return (
            ours if self.in_qrels else self.without(ours),
            self.without(theirs) if self.in_qrels or self.kind == "form" else theirs,
        )

    @property
    def named(self) -> str:
        """What the ids have."""
        return {
            "form": "another case, other separators or leading zeros",
            "part": f"a part that begins with {self.text!r}",
        }.get(self.kind, f"the {self.kind} {self.text!r}")


@dataclass(frozen=True)
class Docs:
    """Documents of Q queries, query by query."""

    queries: Ints
    ids: pa.LargeStringArray
    size: int

    def take(self, rows: Bools) -> Docs:
        """Some of these documents."""
        chosen = np.flatnonzero(rows)
        return Docs(self.queries[chosen], take(self.ids, chosen), self.size)

    def indexed(self, ids: pa.LargeStringArray) -> PairIndex:
        """An index of the documents, which have these ids."""
        return PairIndex(offsets_of(self.queries, self.size), ids)


def _plain(ids: pa.LargeStringArray) -> pa.LargeStringArray:
    """Ids without case, separators and leading zeros.

    >>> _plain(pa.array(["FT911-01", "ft911_1"], pa.large_string())).to_pylist()
    ['ft911 1', 'ft911 1']
    """
    if pc.all(pc.utf8_is_decimal(ids)).as_py() and not pc.any(pc.starts_with(ids, "0")).as_py():
        return ids
    texts = pc.replace_substring_regex(pc.utf8_lower(ids), r"[^\pL\pN]+", " ")
    texts = pc.replace_substring_regex(texts, "(^|[^0-9])0+([0-9])", r"\1\2")
    return pc.utf8_trim_whitespace(texts)


def _cut(ids: pa.LargeStringArray, size: int, is_prefix: bool) -> pa.LargeStringArray:
    """Ids without so many of the first or last characters."""
    return (
        pc.utf8_slice_codeunits(ids, size) if is_prefix else pc.utf8_slice_codeunits(ids, 0, -size)
    )


def find_writing(run: JudgedRun) -> Writing | None:
    """The way in which ids of a run differ from those of the qrels; None: they do not.

    First documents of a query that are not judged for it are matched with judged documents of the
    query that the run lacks. By chance ids match those of another query as often.
    """
    first, missed, is_judged = _documents(run)
    unknown = first.take(~is_judged)
    if len(unknown.ids) < _FEWEST or not len(missed.ids):
        return None
    votes = Counter(_affixes(unknown, missed, False))
    votes.update(_affixes(missed, unknown, True))
    votes[Writing("form")] = int(_matches(Writing("form"), unknown, missed).sum())
    [(writing, most)] = votes.most_common(1)
    if most < _FEWEST:
        return None
    number = int(_matches(writing, unknown, missed).sum())
    chance = int(_matches(writing, unknown, missed, shift=1).sum())
    judged = first.take(is_judged)
    others = run.judgements.index.find((judged.queries + 1) % judged.size, judged.ids) >= 0
    by_chance = max(1 / _MORE, float(others.mean()) if len(others) else 0.0)
    ours = first.ids if writing.in_qrels or writing.kind == "form" else writing.without(first.ids)
    has = np.ones(len(first.ids), dtype=bool)
    if ours is not first.ids:
        has = ~np.asarray(pc.equal(ours, first.ids).to_numpy(zero_copy_only=False), dtype=bool)
    rate = float(is_judged[~has].mean()) if not has.all() else 0.0
    is_systematic = number >= max(_FEWEST, _RATE * rate * has.sum())
    return writing if is_systematic and chance <= by_chance * number else None


def _documents(run: JudgedRun) -> tuple[Docs, Docs, Bools]:
    """The first documents of evenly chosen queries, the judged ones that the run lacks, and which
    of the first are judged."""
    judgements = run.judgements
    is_missed = np.ones(len(judgements.grades), dtype=bool)
    is_missed[run.pairs] = False
    every = 1 + int(is_missed.sum()) // _JUDGED
    is_missed &= judgements.queries % every == 0
    size = len(judgements)
    missed = Docs(judgements.queries, judgements.docnos, size).take(is_missed)
    ranking = run.whole_ranking.cut(_DEPTH)
    queries = queries_of(ranking.offsets)
    first = Docs(queries, run.docnos(ranking), size).take(queries % every == 0)
    return first, missed, judgements.index.find(first.queries, first.ids) >= 0


def _matches(writing: Writing, unknown: Docs, missed: Docs, *, shift: int = 0) -> Bools:
    """Which unknown documents are documents of the qrels in one spelling.

    Args:
        writing: the way in which ids are written.
        unknown: documents of the run.
        missed: documents of the qrels.
        shift: by how many queries to look further, for matches by chance.
    """
    ours, theirs = writing.pair(unknown.ids, missed.ids)
    queries = (unknown.queries + shift) % unknown.size
    return np.asarray(missed.indexed(theirs).find(queries, ours) >= 0)


def _affixes(long: Docs, short: Docs, in_qrels: bool) -> Iterator[Writing]:
    """A writing for each document whose id is the id of another and a prefix or suffix."""
    ids: dict[int, set[str]] = {}
    for query, docno in zip(short.queries.tolist(), short.ids.to_pylist()):
        ids.setdefault(query, set()).add(docno)
    lengths = {query: sorted(set(map(len, others)), reverse=True) for query, others in ids.items()}
    for query, docno in zip(long.queries.tolist(), long.ids.to_pylist()):
        for length in lengths.get(query, ()):
            size, others = len(docno) - length, ids[query]
            if not 0 < size <= _AFFIX:
                continue
            if docno[size:] in others:
                yield Writing("prefix", docno[:size], in_qrels)
            if docno[:length] in others:
                text = docno[length:]
                yield Writing("suffix", text, in_qrels)
                if not text[0].isalnum() and text[0] not in text[1:]:
                    yield Writing("part", text[0], in_qrels)
