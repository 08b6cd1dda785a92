"""Findings -> one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from .figures import specifications
from .gather import Findings
from .remarks import number, places, remarks, test_name, test_note
from .standings import Standing
from .texts import Texts

#: Ranks of relevant documents in a page: beyond that, only those of the best systems.
MOST_RANKS = 3_000_000

#: The scripts of the page, in the order in which they need each other.
_SCRIPTS = ("core", "charts", "leaderboard", "pair", "topics", "start")

#: How deep a relevant document is looked for, besides the whole depth.
_DEPTHS = (10, 100)


def render(findings: Findings, *, title: str, texts: Texts, note: str = "") -> str:
    """The page.

    Args:
        findings: what it shows.
        title: its heading.
        texts: of queries and documents.
        note: a line on how it was made, '' for none.
    """
    page = _Page(findings, texts)
    environment = Environment(
        loader=PackageLoader("pyterrier_asl.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable
    environment.filters["value"] = lambda value, standing: number(standing, value)
    source = {
        name: _source(environment, f"{name}.js") for name in _SCRIPTS
    }
    return environment.get_template("page.html.j2").render(
        title=title,
        note=note,
        f=findings,
        page=page,
        style=_source(environment, "style.css"),
        script="\n".join(source.values()),
        vega=_vega(),
        data=page.data(),
    )


def _breakable(name: str) -> Markup:
    """A measure's name that a narrow column may break: ``AP_`` ``Rareness`` ``@100``."""
    return Markup(str(escape(name)).replace("_", "_<wbr>").replace("@", "<wbr>@"))


def _source(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _vega() -> str:
    """Vega, Vega-Lite and vega-embed in one script.

    Of the versions that vl-convert takes together, not the one that Altair writes for: an older
    Vega-Lite with a newer Vega warns in the browser, and newer ones read what older Altairs write.
    """
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    return bundle.replace("</script", r"<\/script").replace("<!--", r"<\!--")


@dataclass(frozen=True)
class _Page:
    """What templates ask for, and the data that scripts read."""

    findings: Findings
    texts: Texts

    @cached_property
    def remarks(self) -> list[str]:
        return remarks(self.findings)

    @cached_property
    def tested(self) -> list[Standing]:
        """The measures by which systems can be better; all, where there are none of those."""
        standings = self.findings.standings
        return [s for s in standings if s.asked.higher_is_better is not None] or standings

    @cached_property
    def first(self) -> Standing:
        """The measure that decides who is best."""
        return self.tested[0]

    @property
    def test_name(self) -> str:
        return test_name(self.first)

    @property
    def test_note(self) -> str:
        return test_note(self.first)

    @cached_property
    def depths(self) -> list[int]:
        """How deep a relevant document is looked for."""
        k = self.findings.cutoff
        return [*(depth for depth in _DEPTHS if depth < k), k]

    @cached_property
    def nobody(self) -> list[npt.NDArray[np.int64]]:
        """For each of the depths, the relevant documents of each query that no system has there."""
        ranks = self.findings.ranks
        return [
            np.rint(ranks.per_query((~ranks.found(depth).any(axis=0)).astype(float))).astype(int)
            for depth in self.depths
        ]

    @cached_property
    def medians(self) -> npt.NDArray[np.float64]:
        """The median system's value for each query by the first measure."""
        medians: npt.NDArray[np.float64] = np.median(self.first.values, axis=0)
        return medians

    @cached_property
    def spreads(self) -> npt.NDArray[np.float64]:
        """The standard deviation of the systems for each query by the first measure."""
        return _spread(self.first.values)

    @cached_property
    def hardest_first(self) -> list[int]:
        """The queries, hardest first."""
        lower = self.first.asked.higher_is_better is False
        return [int(q) for q in np.argsort(-self.medians if lower else self.medians, kind="stable")]

    @cached_property
    def query_texts(self) -> list[str]:
        return [self.texts.queries.get(str(qid), "") for qid in self.findings.runs.qids]

    @cached_property
    def shown_ranks(self) -> npt.NDArray[np.int64]:
        """The systems whose ranks of relevant documents are on the page."""
        documents = max(self.findings.ranks.ranks.shape[1], 1)
        most = max(2, MOST_RANKS // documents)
        return np.sort(self.first.order[:most])

    def parameters(self, standing: Standing) -> list[tuple[str, str]]:
        """What the parameters of a measure mean that its name shows."""
        measure = standing.asked.measure
        known = measure.SUPPORTED_PARAMS
        silent = ["cutoff", "pool", "member"]
        if measure.params.get("rel") == self.findings.rel:
            silent.append("rel")  # the page says it once
        shown = [name for name in measure.params if name not in silent]
        meanings = [(name, getattr(known[name], "desc", None)) for name in shown]
        return [(f"{name}={measure.params[name]}", text) for name, text in meanings if text]

    def data(self) -> dict[str, Any]:
        """Everything that pictures and tables are made from."""
        f = self.findings
        return {
            "systems": f.names,
            "cutoff": f.cutoff,
            "alpha": f.alpha,
            "depths": self.depths,
            "topics": [str(qid) for qid in f.runs.qids],
            "topicTexts": self.query_texts,
            "relevant": f.ranks.total.tolist(),
            "measures": [self._measure(each) for each in f.standings],
            "tested": [f.standings.index(each) for each in self.tested],
            "first": f.standings.index(self.first),
            "asl": {"name": f.asl.name, "means": _plain(f.asl.means),
                    "places": f.asl.places.tolist()},
            "missingShare": _plain(f.quality["missing_share"]),
            "unjudgedShare": _plain(f.quality["unjudged_share"]),
            "judged": {
                f"Judged@{depth}": _plain(_judged(f, depth)) for depth in (10, f.cutoff)
            },
            "judgedOnly": f.judged_only.places.tolist(),
            "lengths": {"labels": f.lost.labels, "counts": f.lost.counts.tolist()},
            "reordered": [f.standings.index(each) for each in f.reordered],
            "movers": f.movers.tolist() if f.reordered else [],
            "documents": self._documents(),
            "duels": self._duels(),
            "charts": specifications(len(f.names), f.cutoff),
        }  # fmt: skip

    def _measure(self, standing: Standing) -> dict[str, Any]:
        frame = standing.comparisons
        return {
            "name": standing.name,
            "higher": standing.asked.higher_is_better,
            "places": places(standing),
            "means": _plain(standing.means),
            "margins": _plain(standing.margins),
            "order": standing.places.tolist(),
            "letters": standing.letters,
            "groups": standing.groups,
            "values": _packed(standing.values, "<f4"),
            "p": None if frame is None else _packed(frame["p_corrected"], "<f4"),
            "medians": _plain(np.median(standing.values, axis=0)),
            "spreads": _plain(_spread(standing.values)),
        }

    def _documents(self) -> dict[str, Any]:
        """The relevant documents, query by query, and where systems have them."""
        ranks = self.findings.ranks
        judgements = self.findings.runs.judgements
        docnos = judgements.docnos.take(ranks.pairs).to_pylist()
        text = [self.texts.documents.get(docno, "") for docno in docnos]
        return {
            "ids": docnos,
            "grades": judgements.grades[ranks.pairs].tolist(),
            "text": text if any(text) else None,
            "starts": [0, *np.cumsum(ranks.total).tolist()],
            "systems": self.shown_ranks.tolist(),
            "ranks": _packed(np.minimum(ranks.ranks[self.shown_ranks], 65535), "<u2"),
        }

    def _duels(self) -> dict[str, Any] | None:
        duels = self.findings.duels
        if duels is None:
            return None
        return {
            "wins": _packed(duels.matrix.wins, "<u2"),
            "rrLP": _packed(duels.matrix.rrLP, "<f4"),
            "rrP": _packed(duels.rrLP_p, "<f4"),
            "sgnP": _packed(duels.sgnLP_p, "<f4"),
            "levels": _packed(duels.levels, "<u2"),
            "cycles": duels.matrix.cycles(),
            "triples": {by: duels.matrix.circular_triples(by) for by in ("sgnLP", "rrLP")},
        }


def _judged(findings: Findings, depth: int) -> npt.NDArray[np.float64]:
    """The judged share of each system's first documents."""
    import ir_measures

    means: npt.NDArray[np.float64] = findings.runs.values(ir_measures.Judged @ depth).mean(axis=1)
    return means


def _spread(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The standard deviation over systems, 0 for one."""
    spread: npt.NDArray[np.float64] = values.std(axis=0, ddof=1 if len(values) > 1 else 0)
    return spread


def _packed(values: Any, dtype: str) -> str:
    """Numbers as text: a page of numbers in decimal would be four times as large."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode("ascii")


def _plain(values: Sequence[float] | Any) -> list[float | None]:
    """Numbers for JSON, which has no NaN; six digits are more than any picture shows."""
    return [float(f"{v:.6g}") if math.isfinite(v) else None for v in map(float, values)]
