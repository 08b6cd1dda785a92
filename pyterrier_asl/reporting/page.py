"""The values of the page's templates, and the data of its figures and tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..io.texts import Texts
from ..leaderboard.numbers import p_text
from ..leaderboard.result import headlines
from ..unjudged.holes import Holes
from ..unjudged.pairs import OPEN
from .answers import Answers
from .findings import Findings, SystemRanking


@dataclass(frozen=True)
class Page:
    """The values of the templates, and the data of the scripts.

    Attributes:
        findings: the content of the page.
        texts: texts of queries and documents.
    """

    findings: Findings
    texts: Texts

    @cached_property
    def by_measure(self) -> dict[int, Answers]:
        """The sentences by each measure with a direction, by its number."""
        f = self.findings
        return {f.rankings.index(ranking): Answers(f, ranking) for ranking in f.decisive}

    @property
    def left_out(self) -> str:
        """A sentence on data by query that is left out for some systems; '' if none is."""
        f = self.findings
        if len(f.held) == len(f.names):
            return ""
        best = f"the {len(f.held)} best of {len(f.names)} systems by {f.first.name}"
        return f"Values and documents by query are on this page only for {best}, to keep it small."

    @cached_property
    def query_texts(self) -> list[str]:
        return [self.texts.queries.get(str(qid), "") for qid in self.findings.qids]

    @cached_property
    def depths(self) -> list[int]:
        """The depths for which missed relevant documents are counted."""
        k = self.findings.cutoff
        return [*(depth for depth in (10, 100) if depth < k), k]

    @cached_property
    def missed(self) -> list[npt.NDArray[np.int64]]:
        """The number of relevant documents that all systems miss by query, for each depth."""
        return [self.findings.missed_by_all(depth) for depth in self.depths]

    def data(self) -> dict[str, Any]:
        """The data of figures and tables."""
        f = self.findings
        return {
            "systems": f.names,
            "shortNames": short_names(f.names),
            "queries": [str(qid) for qid in f.qids],
            "queryTexts": self.query_texts,
            "measures": [_measure_data(ranking, f.held) for ranking in f.rankings],
            "held": f.held.tolist(),
            "first": f.rankings.index(f.first),
            "palette": f.first.order.tolist(),
            "cutoff": f.cutoff,
            "rel": f.rel,
            "depths": self.depths,
            "relevant": f.relevant.total.tolist(),
            "retrieved": json_numbers(f.retrieved),
            "missingShare": json_numbers(f.quality["missing_share"]),
            "unjudgedShare": json_numbers(f.quality["unjudged_share"]),
            "marked": [*(int(each.order[0]) for each in f.reordered), *f.movers[:1].tolist()],
            "documents": self._documents(),
            "tops": self._tops(),
            "preferences": self._preferences() if len(f.names) > 2 else None,
            "bounds": {  # measure -> pair of systems -> its bounds, and documents to judge next
                name: {f"{a},{b}": self._holes(of, name, (a, b)) for (a, b), of in pairs.items()}
                for name, pairs in f.bounds.items()
            },
        }

    @cached_property
    def grades(self) -> dict[tuple[int, str], float]:
        """The documents of the page with their grades, -1 for unjudged, by query and id.

        First the relevant documents of all queries, then the others in the top tens, then the
        documents to judge next.
        """
        relevant, tops = self.findings.relevant, self.findings.tops
        judgements = self.findings.runs.judgements
        docnos = judgements.docnos.take(relevant.pairs).to_pylist()
        grades = zip(zip(relevant.queries.tolist(), docnos), judgements.grades[relevant.pairs])
        shown = zip(zip(tops["query"], tops["docno"]), tops["grade"])
        return dict([*grades, *shown]) | dict.fromkeys(self.findings.to_judge, -1.0)

    @cached_property
    def number(self) -> dict[tuple[int, str], int]:
        """The number of each document of the page, by query and id."""
        return {document: at for at, document in enumerate(self.grades)}

    def _documents(self) -> dict[str, Any]:
        """The documents, the relevant ones query by query with their ranks."""
        relevant = self.findings.relevant
        text = [self.texts.documents.get(docno, "") for _, docno in self.grades]
        return {
            "ids": [docno for _, docno in self.grades],
            "grades": [_short(float(grade)) for grade in self.grades.values()],
            "text": text if any(text) else None,
            "starts": [0, *np.cumsum(relevant.total).tolist()],
            "ranks": relevant.ranks[self.findings.held].ravel().tolist(),
        }

    def _tops(self) -> dict[str, Any]:
        """The top tens: numbers of documents from 1, 0 after the end of a ranking."""
        tops = self.findings.tops
        depth, queries = self.findings.top, len(self.findings.qids)
        documents = np.zeros((len(self.findings.held), queries, depth), dtype=np.int64)
        documents[tops["row"], tops["query"], tops["rank"]] = [
            self.number[of] + 1 for of in zip(tops["query"], tops["docno"])
        ]
        return {"depth": depth, "documents": documents.ravel().tolist()}

    def _holes(self, pair: Holes, name: str, at: tuple[int, int]) -> dict[str, Any]:
        """The bounds of a pair of systems in words, and the documents to judge next."""
        difference, query = pair.difference, {q: at for at, q in enumerate(self.findings.qids)}
        ranking = next(each for each in self.findings.rankings if each.name == name)
        rows, says = [], f"{difference.describe()}."
        for row in self.findings.todo[name].get(at, pd.DataFrame()).to_dict("records"):
            number = query[row["qid"]]
            ranks = [None if pd.isna(row[of]) else int(row[of]) for of in ("rank_a", "rank_b")]
            helped = difference.b if row["weight"] * ranking.sample.sign > 0 else difference.a
            effect = f"{ranking.shown(abs(row['weight']))} for {helped}"
            rows.append([number, self.number[number, row["docno"]], *ranks, effect])
        if not difference.by_query["unjudged"].any():
            says = f"By {difference.measure} all documents of both systems are judged."
        elif difference.measure != name:
            says += f" Bounds need a cut-off: these are of {difference.measure}."
        if difference.verdict != OPEN:
            says += " There is nothing to judge: no labels make the other system better."
        return {"says": says, "todo": rows}

    def _preferences(self) -> dict[str, Any]:
        preferences, upper = self.findings.preferences, np.triu_indices(len(self.findings.names), 1)
        return {
            "wins": preferences.wins.to_numpy().ravel().tolist(),
            "rrLP": json_numbers(preferences.rrLP.to_numpy()[upper]),
        }


def _measure_data(ranking: SystemRanking, systems: npt.NDArray[np.int64]) -> dict[str, Any]:
    """A measure with its leaderboard, and the values by query of these systems."""
    upper = np.triu_indices(len(ranking.names), k=1)
    different, codes = np.unique(ranking.values[systems].astype("<f4"), return_inverse=True)
    return {
        "name": ranking.name,
        "means": json_numbers(ranking.means),
        "ranks": ranking.ranks.tolist(),
        "order": ranking.order.tolist(),
        "higher": ranking.higher_is_better,
        "decimals": ranking.decimals,
        "board": _board(ranking),
        "values": {"different": json_numbers(different), "codes": codes.ravel().tolist()},
        "differences": json_numbers(ranking.means[upper[0]] - ranking.means[upper[1]]),
        "detectable": json_numbers(ranking.detectable, digits=4),
        "medians": json_numbers(ranking.medians),
        "spreads": json_numbers(ranking.spreads),
    }


def _board(ranking: SystemRanking) -> dict[str, Any] | None:
    """The ranks that systems could have, stars, and the p of each pair as text."""
    board = ranking.board
    if board is None:
        return None
    rows = board.overall.set_index("name").loc[ranking.names]
    upper = np.triu_indices(len(ranking.names), k=1)
    different, codes = np.unique(ranking.by_system(board.p)[upper], return_inverse=True)
    return {
        "low": rows["low"].tolist(),
        "high": rows["high"].tolist(),
        "possible": rows["could_be_best"].tolist(),
        "stars": ranking.better[ranking.ranks == 1].any(axis=0).tolist(),
        "better": ranking.better.astype(int).ravel().tolist(),
        "says": headlines(board)[-1],
        "p": [p_text(each, board.draws, board.alpha) for each in different],
        "codes": codes.ravel().tolist(),
    }


def json_numbers(values: Iterable[float], digits: int = 9) -> list[float | None]:
    """Numbers for JSON, None for NaN; nine digits keep numbers of 32 bits."""
    return [
        _short(float(f"{v:.{digits}g}")) if math.isfinite(v) else None for v in map(float, values)
    ]


def _short(value: float) -> float:
    """The number without the ``.0`` of a whole one."""
    return int(value) if value.is_integer() else value


def short_names(names: Sequence[str], most: int = 16) -> list[str]:
    """Names of at most ``most`` characters, cut in the middle, that remain different.

    Args:
        names: different names.
        most: the number of characters, 8 or more.

    >>> short_names(["bm25", "bm25-tuned-on-all-of-it-1", "bm25-tuned-on-all-of-it-2"])
    ['bm25', 'bm25-tun…of-it-1', 'bm25-tun…of-it-2']
    """
    for head in (most // 2, 3, most - 4):
        short = [n if len(n) <= most else f"{n[:head]}…{n[head + 1 - most :]}" for n in names]
        if len(set(short)) == len(names):
            return short
    marks = [f"…{number}" for number in range(1, len(names) + 1)]
    return [name[: most - len(mark)] + mark for name, mark in zip(names, marks)]
