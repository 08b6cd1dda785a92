"""Renders findings as an HTML page that works offline."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..io.notices import counted
from ..io.texts import Texts
from ..leaderboard.sentences import confidence
from .findings import Findings, SystemFindings
from .page import DocumentPage, Page
from .summary import (
    Summary,
    drawn_interval,
    p_value,
    shown_difference,
    shown_share,
    shown_value,
)

#: The scripts of the page, in the order in which they need each other.
_SCRIPTS = ("core", "state", "charts", "leaderboard", "pair", "queries", "unjudged", "start")


def render(
    findings: SystemFindings, *, title: str, texts: Texts, note: str = "", **limits: int
) -> str:
    """The page.

    Args:
        findings: the content of the page.
        title: its heading.
        texts: texts of queries and documents.
        note: a line at the end, '' for none.
        **limits: limits of the page, see :class:`~pyterrier_asl.reporting.page.DocumentPage`.
    """
    templates = environment()
    page = (
        DocumentPage(findings, texts, **limits)
        if isinstance(findings, Findings)
        else Page(findings, texts, **limits)
    )
    html = templates.get_template("page.html.j2").render(
        title=title,
        note=note,
        f=findings,
        page=page,
        style=_source(templates, "style.css"),
        scripts=_scripts(),
        digests=list(zip(findings.names, findings.provenance.runs, findings.provenance.metadata)),
        data=page.data(),
    )
    return html.replace("\0", "\ufffd")  # HTML has no such character


def _source(templates: Environment, name: str) -> str:
    assert templates.loader is not None
    return templates.loader.get_source(templates, name)[0]


@cache
def _scripts() -> dict[str, str]:
    """Vega's and our scripts of the page, by the hash with which its policy allows them.

    Vega, Vega-Lite and vega-embed have the versions that vl-convert combines, not the version that
    Altair writes for. An older Vega-Lite with a newer Vega warns in the browser. Newer versions
    read the specifications of older versions of Altair.
    """
    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    own = "".join(_source(environment(), f"{name}.js") for name in _SCRIPTS)
    # A browser hashes the text with line feeds only, and a page has no null character.
    texts = [re.sub("\r\n?", "\n", text).replace("\0", "\ufffd") for text in (bundle, own)]
    texts[0] = texts[0].replace("</script", r"<\/script").replace("<!--", r"<\!--")
    return {
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode(): text for text in texts
    }


@cache
def environment() -> Environment:
    """The templates, compiled once."""
    templates = Environment(
        loader=PackageLoader("pyterrier_asl.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    templates.globals.update(
        summary=Summary,
        difference=shown_difference,
        drawn_interval=drawn_interval,
        confidence=lambda alpha: confidence(alpha).replace(" ", ""),
        p_value=p_value,
    )
    templates.filters.update(breakable=breakable, counted=counted, sentences=sentences)
    templates.filters["value"] = lambda value, ranking: shown_value(ranking, value)
    templates.filters["first_upper"] = lambda text: text[:1].upper() + text[1:]
    templates.filters["share"] = shown_share
    return templates


def verdict_of(findings: SystemFindings) -> list[str]:
    """The sentences of the verdict by the measure that decides, as text."""
    template = environment().get_template("verdict.html.j2")
    markup = template.render(f=findings, about=Summary(findings, findings.first))
    return [sentence.striptags() for sentence in sentences(Markup(markup))]


def breakable(name: str) -> Markup:
    """A measure's name with possible line breaks: ``AP_`` ``Rareness`` ``@100``."""
    text = str(escape(name)).replace("_", "_<wbr>")
    return Markup(text.replace("@", "<wbr>@").replace("(", "<wbr>("))


def sentences(text: Markup) -> list[Markup]:
    """The sentences of a text, which empty lines separate, each as one line.

    ``p = .03`` gets no line break.
    """
    whole = re.sub(" p (=|≤|&lt;) ", " p\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", str(text))
    parts = re.split(r"\n[ \n]*\n *", whole.strip(" \n"))
    return [Markup(re.sub(r" *\n *", " ", part)) for part in parts if part]
