"""Document ids of one source that the other sources write differently."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
from scipy import stats

from ...io.values import arrow_text, numpy_numbers, take
from ...judging.judged_run import JudgedRun
from ...judging.judgements import Judgements
from ...judging.matching import codes
from ...scoring.arrays import Bools, Ints
from .cause import Cause, Repaired, percent
from .pair import ALPHA, Pair, Top

#: How many documents are compared with others of their query, letter by letter.
_SAMPLE = 200
#: Among so many first documents of a query unknown ones are counted.
_AMONG = 10
#: How much more than a binomial the unknown documents of real runs vary at least (TREC-8, without
#: the labels of documents that only the group of a run retrieved: 2.1 to 5.2), and the level of
#: the test of that.
_DISPERSION, _LEVEL = 2.0, 0.05
#: Fewer equal ids show nothing.
_FEWEST = 4
#: The longest prefix and suffix, in characters.
_AFFIX = 16
#: How many ids of the qrels are looked at.
_QRELS_IDS = 10_000

#: The class of each byte of an id: digits, capitals, small letters, or the byte.
_CLASS = np.arange(256, dtype=np.uint8)
for _letters, _name in (
    (b"0123456789", b"9"),
    (bytes(range(65, 91)), b"A"),
    (bytes(range(97, 123)), b"a"),
):
    _CLASS[list(_letters)] = _name[0]
_CLASS[128:] = ord("a")


def forms_of(ids: pa.LargeStringArray) -> pa.LargeStringArray:
    """The form of each id: its groups of digits (9, or 09 after a zero) and letters (a, A).

    >>> forms_of(arrow_text(["FT911-1", "LA010189-0001", "v2-7", "7"])).to_pylist()
    ['A9-9', 'A09-09', 'a9-9', '9']
    """
    ids = pa.concat_arrays([ids])  # without an offset
    ends = numpy_numbers(pa.Array.from_buffers(pa.int64(), len(ids) + 1, [None, ids.buffers()[1]]))
    data = np.frombuffer(ids.buffers()[2] or b"", np.uint8)[ends[0] : ends[-1]]
    ends = ends - ends[0]
    kinds = _CLASS[data]
    is_first = np.zeros(len(data) + 1, dtype=bool)
    is_first[ends[:-1]] = True
    before = np.concatenate(([0], kinds))[:-1]
    begins = is_first[:-1] | (kinds != before)
    digit = kinds == ord("9")
    follows = np.concatenate((digit, [False]))[1:] & ~is_first[1:]
    zero = begins & (data == ord("0")) & follows
    kinds = np.where(zero, np.uint8(ord("0")), kinds)
    keep = begins | np.concatenate(([False], zero))[:-1]
    new_ends = np.concatenate(([0], np.cumsum(keep)))[ends]
    buffers = [None, pa.py_buffer(new_ends.astype(np.int64)), pa.py_buffer(kinds[keep].tobytes())]
    return pa.Array.from_buffers(pa.large_string(), len(ids), buffers)


def unseen_forms(ids: pa.LargeStringArray, others: pa.LargeStringArray) -> Bools:
    """Which ids have a form that no other id has, where they are more than chance gives.

    The chance that the next id has a form not seen yet is that of Good and Turing: the share of
    the others whose form occurs once. The test is binomial.

    Args:
        ids: the ids of one source, each once, shape (N,).
        others: the ids of the other sources.
    """
    forms, _ = codes(forms_of(pa.concat_arrays([others, ids])))
    known = np.bincount(forms[: len(others)], minlength=forms.max(initial=0) + 1)
    unseen: Bools = known[forms[len(others) :]] == 0
    chance = ((known == 1).sum() + 1) / (len(others) + 2)
    is_chance = stats.binom.sf(unseen.sum() - 1, max(1, len(ids)), min(1.0, chance)) >= ALPHA
    return np.zeros_like(unseen) if is_chance else unseen


# Ids that are equal but for how they are written

#: What is made of an id of one source, and of the id that it should be, to make them equal.
_Keys = tuple[Callable[[str], str], Callable[[str], str]]
#: Documents as query and id.
_Docs = list[tuple[int, str]]


def _same(docno: str) -> str:
    return docno


def _plain(docno: str) -> str:
    """An id without case, separators and leading zeros."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\W_]+", " ", docno.casefold())).strip()


def _slice(first: int, last: int | None, docno: str) -> str:
    return docno[first:last]


_CUTS = range(1, _AFFIX + 1)
#: How ids may be written otherwise, by kind.
_WRITINGS: dict[str, list[_Keys]] = {
    "plain": [(_plain, _plain)],
    "prefix": [(partial(_slice, cut, None), _same) for cut in _CUTS],
    "suffix": [(partial(_slice, 0, -cut), _same) for cut in _CUTS],
    "cut": [
        (_same, partial(_slice, *ends)) for cut in _CUTS[:4] for ends in ((0, -cut), (cut, None))
    ],
}


def same_but_written_otherwise(found: _Docs, wanted: _Docs) -> tuple[str, _Keys, _Docs] | None:
    """How the ids of documents differ from those of others of their query; None: not at all.

    Ids of one query are equal by chance as often as ids of different queries, and in a collection
    whose ids contain each other as often in one direction as in the other.

    Args:
        found: the documents of one source that no other source has.
        wanted: the documents of the others that this source does not have.

    Returns:
        The kind, its keys, and the documents found that are equal to wanted ones.
    """
    best: tuple[str, _Keys, _Docs] | None = None
    same = set(wanted)
    for kind, writings in _WRITINGS.items():
        for ours, theirs in writings:
            keys = same if theirs is _same else {(q, theirs(docno)) for q, docno in wanted}
            equal = [(q, docno) for q, docno in found if (q, ours(docno)) in keys]
            if len(equal) > (len(best[2]) if best else _FEWEST):
                best = kind, (ours, theirs), equal
    if best is None:
        return None
    ours, theirs = best[1]
    others = {theirs(docno) for _, docno in wanted}
    by_query = Counter(query for query, _ in found)
    keys = {(query, ours(docno)) for query, docno in wanted}
    reverse = 0 if ours is theirs else sum((q, theirs(docno)) in keys for q, docno in found)
    elsewhere = sum(ours(docno) in others for _, docno in found) - len(best[2])
    chance = (reverse + elsewhere / max(1, len(by_query) - 1) + 1) / (len(found) + 2)
    p = stats.binom.sf(len(best[2]) - 1, len(found), min(1.0, chance))
    return best if p < ALPHA else None


def _ids(top: Top, pair: Pair, rows: Ints, most: int) -> _Docs:
    """The best-ranked of some documents of a run, as query and id."""
    rows = rows[np.argsort(top.ranks[rows], kind="stable")[:most]]
    return list(zip(top.queries[rows].tolist(), take(pair.ids, top.docs[rows]).to_pylist()))


def _missed(pair: Pair, most: int, also: JudgedRun | None = None) -> _Docs:
    """Relevant documents that B, and another run, did not retrieve, evenly over the qrels."""
    judgements = pair.judgements
    is_missed = judgements.grades > 0
    is_missed[pair.b.run.pairs] = False
    if also is not None:
        is_missed[also.pairs] = False
    rows = np.flatnonzero(is_missed)
    rows = rows[:: max(1, len(rows) // most)]
    return list(zip(judgements.queries[rows].tolist(), take(judgements.docnos, rows).to_pylist()))


def document_ids(pair: Pair) -> list[Cause]:
    """Documents of B whose ids are written in a way that A and the qrels do not have."""
    judgements, top = pair.judgements, pair.b
    step = max(1, len(judgements.docnos) // _QRELS_IDS)
    of_qrels = take(judgements.docnos, np.arange(0, len(judgements.docnos), step))
    numbers = np.unique(top.docs)
    ids = take(pair.ids, numbers)
    unseen = unseen_forms(ids, pa.concat_arrays([take(pair.ids, np.unique(pair.a.docs)), of_qrels]))
    affected = np.zeros(len(pair.ids), dtype=bool)
    affected[numbers] = unseen
    found = _ids(top, pair, np.flatnonzero(pair.unknown), _SAMPLE)
    only_a = np.flatnonzero(~np.isin(pair.keys[0], pair.keys[1]))
    wanted = _ids(pair.a, pair, only_a, 2 * _SAMPLE) + _missed(pair, _SAMPLE)
    match = same_but_written_otherwise(found, wanted)
    rows = affected[top.docs]
    if match is None and not unseen.any():
        return []
    other = wanted[0][1] if wanted else "-"
    if match is None:
        examples = take(ids, np.flatnonzero(unseen)[:3]).to_pylist()
        name, share = "id form", float(rows.mean())
        written = "of a form that no other id has"
        restored = None
    else:
        kind, keys, equal = match
        examples = list(dict.fromkeys(docno for _, docno in equal))[:3]
        ours, theirs = keys
        other = next(d for q, d in wanted if (q, theirs(d)) == (equal[0][0], ours(equal[0][1])))
        name, written = _named(kind, examples[0], other)
        last = max(top.ranks[pair.unknown][:_SAMPLE], default=1)
        share = float(rows.mean()) or len(equal) / max(1, int((top.ranks <= last).sum()))
        restored = partial(_restored, pair, keys)
    return [
        Cause(
            name,
            top.name,
            share,
            f"{percent(share)} of the documents of {top.name} have ids {written}: "
            f"{', '.join(map(repr, examples))}, where the others have ids like {other!r}",
            "write the ids of documents in one form",
            comparable=False,
            repaired=restored,
        )
    ]


def _named(kind: str, docno: str, other: str) -> tuple[str, str]:
    """The name of a way of writing, and what it does."""
    if kind == "prefix":
        return "id prefix", f"with the prefix {docno[: len(docno) - len(other)]!r}"
    if kind == "suffix":
        return "id suffix", f"with a suffix such as {docno[len(other) :]!r}"
    if kind == "cut":
        return "id cut", "that are cut"
    if docno.casefold() == other.casefold():
        return "id case", "in another case"
    letters = (re.sub(r"[\W_]", "", text.casefold()) for text in (docno, other))
    if len(set(letters)) == 1:
        return "id separators", "with other separators"
    return "id zeros", "with other leading zeros"


def _restored(pair: Pair, keys: _Keys) -> list[Repaired]:
    """B with the ids that judged documents should have."""
    judgements, run = pair.judgements, pair.b.run
    ours, theirs = keys
    docnos = judgements.docnos.to_pylist()
    known = dict(zip(zip(judgements.queries.tolist(), map(theirs, docnos)), docnos))
    queries = dict(zip(judgements.qid_text.to_pylist(), range(len(judgements))))
    table = run.table
    new = [
        known.get((queries.get(qid, -1), ours(docno)), docno)
        for qid, docno in zip(table.qid.to_pylist(), table.docno.to_pylist())
    ]
    best = Judgements.of(judgements, "best").judge_part(replace(table, docno=arrow_text(new)))
    return [(pair.a.run, best) if pair.b.name == "B" else (best, pair.a.run)]


def unknown_documents(pair: Pair) -> list[Cause]:
    """First documents of B that neither A nor the qrels know, alike in all queries.

    Documents that are unjudged because a system is new come together: their numbers per query vary
    at least :data:`_DISPERSION` times as much as those of a binomial. Wrong ids hit all queries
    alike. Named where B has more of them than A (Fisher's test) and the variance is smaller than
    that of real runs (chi-squared test of dispersion).
    """
    counts, size = [], len(pair.judgements)
    for top, unknown in ((pair.b, pair.unknown), (pair.a, ~np.isin(*pair.keys) & ~pair.a.judged)):
        first = top.ranks <= _AMONG
        of_query = [
            np.bincount(top.queries[rows], minlength=size) for rows in (first, first & unknown)
        ]
        counts.append([of[pair.answered] for of in of_query])
    (n, k), (n_a, k_a) = counts
    table = [[k.sum(), n.sum() - k.sum()], [k_a.sum(), n_a.sum() - k_a.sum()]]
    share = float(k.sum() / max(1, n.sum()))
    if not 0 < share < 1 or stats.fisher_exact(table, "greater").pvalue >= ALPHA:
        return []
    dispersion = ((k - n * share) ** 2 / (n * share * (1 - share))).sum()
    if stats.chi2.cdf(dispersion / _DISPERSION, len(n) - 1) >= _LEVEL:
        return []
    name = pair.b.name
    examples = take(pair.ids, np.unique(pair.b.docs[pair.unknown & (pair.b.ranks <= _AMONG)])[:3])
    return [
        Cause(
            "unknown documents",
            name,
            share,
            f"{percent(share)} of the first {_AMONG} documents of {name} are neither judged nor "
            f"retrieved by {pair.a.name}, in all queries alike, e.g. "
            f"{', '.join(map(repr, examples.to_pylist()))}",
            f"check that {name} has the ids of this collection",
            comparable=False,
        )
    ]


def qrels_ids(pair: Pair) -> list[Cause]:
    """Documents of the qrels whose ids are written in a way that neither run has."""
    found = _missed(pair, _SAMPLE, also=pair.a.run)
    wanted = []
    for top in (pair.a, pair.b):
        wanted += _ids(top, pair, np.flatnonzero(~top.judged), _SAMPLE)
    match = same_but_written_otherwise(found, wanted)
    if match is None:
        return []
    kind, (ours, theirs), equal = match
    other = next(d for q, d in wanted if (q, theirs(d)) == (equal[0][0], ours(equal[0][1])))
    name, written = _named(kind, equal[0][1], other)
    share = len(equal) / len(found)
    examples = list(dict.fromkeys(docno for _, docno in equal))[:3]
    return [
        Cause(
            name,
            "the qrels",
            share,
            f"{percent(share)} of the relevant documents that neither run retrieves have ids "
            f"{written}: {', '.join(map(repr, examples))}, where A and B have ids like {other!r}",
            "write the ids of documents in one form",
            comparable=False,
        )
    ]
