"""Renders findings as an HTML page that works offline."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from functools import cache
from importlib.metadata import version
from importlib.resources import files

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..common.notices import counted
from ..io.texts import Texts
from ..leaderboard.numbers import confidence, p_text
from ..statistics.settings import DRAWS
from .answers import shown_share
from .contents import digests, merged_labels
from .figures import figures
from .findings import Findings
from .page import Page

#: The scripts of the page, in the order in which they need each other.
_SCRIPTS = ("core", "state", "charts", "leaderboard", "pair", "queries", "start")


def render(findings: Findings, *, title: str, texts: Texts, note: str = "") -> str:
    """The page.

    Args:
        findings: the content of the page.
        title: its heading.
        texts: texts of queries and documents.
        note: a line at the end, '' for none.
    """
    templates = environment()
    page = Page(findings, texts)
    of_qrels, of_runs = digests(findings.runs)
    data = json.dumps(page.data() | {"charts": figures(findings)}, separators=(",", ":"))
    html = templates.get_template("page.html.j2").render(
        title=title,
        note=note,
        f=findings,
        page=page,
        style=_source("style.css"),
        scripts=_scripts(),
        version=version("pyterrier-asl"),
        labels=merged_labels(findings.runs),
        digest_of_qrels=of_qrels,
        digests=list(zip(findings.names, of_runs)),
        # A browser takes compressed data from base 64 only.
        data=base64.b64encode(gzip.compress(data.encode(), 6, mtime=0)).decode(),
    )
    return re.sub("[\0\ud800-\udfff]", "\ufffd", html)  # characters that HTML or UTF-8 lack


def _source(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _scripts() -> dict[str, str]:
    """Vega's and our scripts of the page, by the hash with which its policy allows them.

    Vega, Vega-Lite and vega-embed have the versions that vl-convert combines, not the version that
    Altair writes for. An older Vega-Lite with a newer Vega warns in the browser. Newer versions
    read the specifications of older versions of Altair.
    """
    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    own = "".join(_source(f"{name}.js") for name in _SCRIPTS)
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
    templates.globals["confidence"] = lambda alpha: confidence(alpha).replace(" ", "\u202f")
    templates.filters.update(
        breakable=breakable,
        counted=counted,
        p=lambda p, alpha: p_text(p, DRAWS, alpha).removeprefix("p = "),
        share=shown_share,
    )
    return templates


def breakable(name: str) -> Markup:
    """A measure's name with possible line breaks: ``AP_`` ``Rareness`` ``@100``."""
    return Markup(
        str(escape(name)).replace("_", "_<wbr>").replace("@", "<wbr>@").replace("(", "<wbr>(")
    )
