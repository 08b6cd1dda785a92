"""The templates of the page, with their functions and filters."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..io.tables import counted
from .findings import SystemFindings
from .summary import (
    Summary,
    drawn_interval,
    interval,
    p_value,
    shown_difference,
    shown_value,
)


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
    templates.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    templates.globals.update(
        summary=Summary,
        difference=shown_difference,
        drawn_interval=drawn_interval,
        interval=interval,
        p_value=p_value,
    )
    templates.filters.update(breakable=breakable, counted=counted, sentences=sentences)
    templates.filters["value"] = lambda value, ranking: shown_value(ranking, value)
    templates.filters["first_upper"] = lambda text: text[:1].upper() + text[1:]
    templates.filters["share"] = lambda share: f"{share:.0%}" if share == share else "–"
    return templates


def verdict_of(findings: SystemFindings) -> list[str]:
    """The sentences of the verdict by the measure that decides, as text."""
    template = environment().get_template("verdict.html.j2")
    markup = template.render(f=findings, about=Summary(findings, findings.first))
    return [sentence.striptags() for sentence in sentences(Markup(markup))]


def breakable(name: str) -> Markup:
    """A measure's name that a narrow column may break: ``AP_`` ``Rareness`` ``@100``."""
    text = str(escape(name)).replace("_", "_<wbr>")
    return Markup(text.replace("@", "<wbr>@").replace("(", "<wbr>("))


def sentences(text: Markup) -> list[Markup]:
    """The sentences of a text, between which are empty lines, each in one line.

    No line breaks within ``p = .03``.
    """
    whole = re.sub(" p (=|≤|&lt;) ", " p\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", str(text))
    parts = re.split(r"\n[ \n]*\n *", whole.strip(" \n"))
    return [Markup(re.sub(r" *\n *", " ", part)) for part in parts if part]
