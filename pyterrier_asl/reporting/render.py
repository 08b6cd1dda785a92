"""Findings -> one HTML file that works offline."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..io.texts import Texts
from .collect import Findings
from .figures import specifications
from .ranking import SystemRanking
from .summary import Answer, decimals, own_test_name, shown_value, summary, test_name, test_note
from .verdicts import verdict_measures

#: Ranks of relevant documents in a page: beyond that, only those of the best systems.
MOST_RANKS = 3_000_000

#: The scripts of the page, in the order in which they need each other.
_SCRIPTS = ("core", "state", "charts", "leaderboard", "pair", "queries", "unjudged", "start")

#: Depths to which a relevant document is looked for, besides the whole depth.
_DEPTHS = (10, 100)


def render(findings: Findings, *, title: str, texts: Texts, note: str = "") -> str:
    """The page.

    Args:
        findings: what it shows.
        title: its heading.
        texts: of queries and documents.
        note: a line on how it was made, '' for none.
    """
    page, environment = _Page(findings, texts), _environment()
    return environment.get_template("page.html.j2").render(
        title=title,
        note=note,
        f=findings,
        page=page,
        style=_source(environment, "style.css"),
        script="\n".join(_source(environment, f"{name}.js") for name in _SCRIPTS),
        vega=_vega(),
        digests=list(zip(findings.names, findings.provenance.runs)),
        data=page.data(),
    )


@cache
def _environment() -> Environment:
    """The templates, compiled once."""
    environment = Environment(
        loader=PackageLoader("pyterrier_asl.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    environment.filters["breakable"] = _breakable
    environment.filters["value"] = lambda value, ranking: shown_value(ranking, value)
    environment.filters["share"] = lambda share: f"{share:.0%}" if share == share else "–"
    return environment


def _breakable(name: str) -> Markup:
    """A measure's name that a narrow column may break: ``AP_`` ``Rareness`` ``@100``."""
    text = str(escape(name)).replace("_", "_<wbr>")
    return Markup(text.replace("@", "<wbr>@").replace("(", "<wbr>("))


def _source(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


@cache
def _vega() -> str:
    """Vega, Vega-Lite and vega-embed in one script.

    Of the versions that vl-convert takes together, not the one that Altair writes for: an older
    Vega-Lite with a newer Vega warns in the browser, and newer ones read what older Altairs write.
    """
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    return bundle.replace("</script", r"<\/script").replace("<!--", r"<\!--")


@dataclass(frozen=True)
class _Page:
    """The values of the templates, and the data of the scripts."""

    findings: Findings
    texts: Texts

    @cached_property
    def summary(self) -> list[Answer]:
        return summary(self.findings)

    @cached_property
    def tested(self) -> list[SystemRanking]:
        """The measures with a direction; all, where none has one."""
        rankings = self.findings.rankings
        return [each for each in rankings if each.higher_is_better is not None] or rankings

    @cached_property
    def columns(self) -> list[SystemRanking]:
        """The measures as columns, the deciding one first."""
        first = self.findings.first
        return [first, *(each for each in self.findings.rankings if each is not first)]

    @property
    def has_sums(self) -> bool:
        """Whether some measure is a count, which is added up."""
        return any(each.is_sum for each in self.findings.rankings)

    @property
    def test_name(self) -> str:
        return test_name(self.findings.first)

    @property
    def own_test_name(self) -> str:
        return own_test_name(self.findings.first)

    @property
    def test_note(self) -> str:
        return test_note(self.findings.first)

    @cached_property
    def depths(self) -> list[int]:
        """The depths to which a relevant document is looked for."""
        k = self.findings.cutoff
        return [*(depth for depth in _DEPTHS if depth < k), k]

    @cached_property
    def missed(self) -> list[npt.NDArray[np.int64]]:
        """For each of the depths, the relevant documents of each query that all systems miss."""
        return [self.findings.missed_by_all(depth) for depth in self.depths]

    @cached_property
    def medians(self) -> npt.NDArray[np.float64]:
        """The median system's value for each query by the first measure."""
        medians: npt.NDArray[np.float64] = np.median(self.findings.first.values, axis=0)
        return medians

    @cached_property
    def spreads(self) -> npt.NDArray[np.float64]:
        """The standard deviation of the systems for each query by the first measure."""
        return _spread(self.findings.first.values)

    @cached_property
    def hardest_first(self) -> list[int]:
        """The queries, hardest first."""
        lower = self.findings.first.higher_is_better is False
        return [int(q) for q in np.argsort(-self.medians if lower else self.medians, kind="stable")]

    @cached_property
    def query_texts(self) -> list[str]:
        return [self.texts.queries.get(str(qid), "") for qid in self.findings.runs.qids]

    @cached_property
    def shown_ranks(self) -> npt.NDArray[np.int64]:
        """The systems whose ranks of relevant documents are on the page."""
        documents = max(len(self.findings.finders), 1)
        most = max(2, MOST_RANKS // documents)
        return np.sort(self.findings.first.order[:most])

    def parameters(self, ranking: SystemRanking) -> list[tuple[str, str]]:
        """The meaning of the parameters that a measure's name shows."""
        measure = ranking.named.measure
        known = measure.SUPPORTED_PARAMS
        silent = ["cutoff", "pool", "member"]
        if measure.params.get("rel") == self.findings.rel:
            silent.append("rel")  # the page says it once
        shown = [name for name in measure.params if name not in silent]
        meanings = [(name, getattr(known[name], "desc", None)) for name in shown]
        return [(f"{name}={measure.params[name]}", text) for name, text in meanings if text]

    def data(self) -> dict[str, Any]:
        """The data of figures and tables."""
        f = self.findings
        return {
            "systems": f.names,
            "cutoff": f.cutoff,
            "rel": f.rel,
            "alpha": f.alpha,
            "t": self._t_quantile(),
            "test": self.test_name,
            "ownTest": self.own_test_name,
            "depths": self.depths,
            "queries": [str(qid) for qid in f.runs.qids],
            "queryTexts": self.query_texts,
            "relevant": f.relevant.total.tolist(),
            "measures": [self._measure(each) for each in f.rankings],
            "first": f.rankings.index(f.first),
            "palette": f.first.order.tolist(),
            "asl": {"name": f.asl.name, "means": _plain(f.asl.means),
                    "ranks": f.asl.ranks.tolist()},
            "retrieved": _plain(f.depths.retrieved),
            "short": f.depths.short.tolist(),
            "missingShare": _plain(f.quality["missing_share"]),
            "unjudgedShare": _plain(f.quality["unjudged_share"]),
            "unjudgedAll": _plain(f.depths.unjudged),
            "judged": {
                f"Judged@{depth}": _plain(_judged(f, depth)) for depth in (10, f.cutoff)
            },
            "lengths": {"labels": f.lengths.labels, "counts": f.lengths.counts.tolist()},
            "reordered": [self._reordered(each) for each in f.reordered],
            "movers": f.movers.tolist() if f.reordered else [],
            "documents": self._documents(),
            "tops": self._tops(),
            "preferences": self._preferences(),
            "verdicts": verdict_measures(f),
            "charts": specifications(len(f.names), f.cutoff),
        }  # fmt: skip

    def _t_quantile(self) -> float | None:
        """The quantile of Student's t for the interval of a difference; None for one query."""
        queries = len(self.findings.runs.qids)
        if queries < 2:
            return None
        return float(scipy.stats.t.isf(self.findings.alpha / 2, queries - 1))

    def _measure(self, ranking: SystemRanking) -> dict[str, Any]:
        frame = ranking.comparisons
        if frame is not None and frame.attrs["correction"] == "holm":
            frame = None  # the page corrects own p-values itself
        return {
            "name": ranking.name,
            "higher": ranking.higher_is_better,
            "sum": ranking.is_sum,
            "decimals": decimals(ranking),
            "means": _plain(ranking.means),
            "margins": _plain(ranking.margins),
            "ranks": ranking.ranks.tolist(),
            "letters": ranking.letters,
            "groups": ranking.groups,
            "values": _floats(ranking.values),
            "ownP": None if ranking.own_p is None else _floats(ranking.own_p),
            "p": None if frame is None else _floats(frame["p_corrected"]),
            "medians": _plain(np.median(ranking.values, axis=0)),
            "spreads": _plain(_spread(ranking.values)),
        }

    def _reordered(self, ranking: SystemRanking) -> dict[str, Any]:
        return {
            "name": ranking.name,
            "means": _plain(ranking.means),
            "ranks": ranking.ranks.tolist(),
            "best": int(ranking.order[0]),
        }

    @cached_property
    def grades(self) -> dict[tuple[int, str], float]:
        """The documents of the page with their grades, -1 where unjudged, by query and id.

        First the relevant documents of all queries, then the others of the top tens.
        """
        relevant, tops = self.findings.relevant, self.findings.tops
        judgements = self.findings.runs.judgements
        docnos = judgements.docnos.take(relevant.pairs).to_pylist()
        grades = zip(zip(relevant.queries.tolist(), docnos), judgements.grades[relevant.pairs])
        return dict([*grades, *zip(zip(tops.queries.tolist(), tops.docnos), tops.grades)])

    def _documents(self) -> dict[str, Any]:
        """The documents, query by query where they are relevant, and these ones' ranks."""
        relevant = self.findings.relevant
        text = [self.texts.documents.get(docno, "") for _, docno in self.grades]
        return {
            "ids": [docno for _, docno in self.grades],
            "grades": [_short(float(grade)) for grade in self.grades.values()],
            "text": text if any(text) else None,
            "starts": [0, *np.cumsum(relevant.total).tolist()],
            "systems": self.shown_ranks.tolist(),
            "ranks": _whole(relevant.ranks[self.shown_ranks]),
        }

    def _tops(self) -> dict[str, Any]:
        """The top ten of systems: numbers of documents from 1, 0 where the ranking has ended."""
        tops = self.findings.tops
        number = {document: at for at, document in enumerate(self.grades, 1)}
        numbers = [number[document] for document in zip(tops.queries.tolist(), tops.docnos)]
        return {
            "systems": tops.systems.tolist(),
            "depth": tops.documents.shape[-1],
            "documents": _whole(np.array([*numbers, 0])[tops.documents]),
        }

    def _preferences(self) -> dict[str, Any] | None:
        preferences = self.findings.preferences
        if preferences is None:
            return None
        upper, matrix = np.triu_indices(len(self.findings.names), k=1), preferences.matrix
        return {
            "levels": _whole(preferences.levels),
            "rrLP": _floats(matrix.rrLP.to_numpy()[upper]),
            "rrOwnP": _floats(matrix.rrLP_p.to_numpy()[upper]),
            "sgnOwnP": _floats(matrix.sgnLP_p.to_numpy()[upper]),
        }


def _judged(findings: Findings, depth: int) -> npt.NDArray[np.float64]:
    """The judged share of each system's top ``depth``."""
    import ir_measures

    means: npt.NDArray[np.float64] = findings.runs.values(ir_measures.Judged @ depth).mean(axis=1)
    return means


def _spread(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The standard deviation over systems, 0 for one."""
    spread: npt.NDArray[np.float64] = values.std(axis=0, ddof=1 if len(values) > 1 else 0)
    return spread


def _floats(values: npt.ArrayLike) -> str:
    """Numbers as text: a page of numbers in decimal would be four times as large."""
    return _text_of(np.asarray(values, dtype="<f4"))


def _whole(values: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Whole numbers from 0 as text, each in as many bits as the largest needs."""
    width = max(int(values.max(initial=0)).bit_length(), 1)
    bits = values.reshape(-1, 1) >> np.arange(width)[::-1] & 1
    packed = np.packbits(bits.astype(np.uint8))
    return {"bits": width, "count": values.size, "data": _text_of(packed)}


def _text_of(values: npt.NDArray[Any]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")


def _plain(values: Iterable[float]) -> list[float | None]:
    """Numbers for JSON, which has no NaN; six digits are more than any figure shows."""
    return [_short(float(f"{v:.6g}")) if math.isfinite(v) else None for v in map(float, values)]


def _short(value: float) -> float:
    """The same number without the ``.0`` of a whole one."""
    return int(value) if value.is_integer() else value
