"""Writes the reference: measures, functions, analyses and commands, from what the package declares.

    python docs/pages.py

The pages ``pt_docs/reference*.rst`` and the thumbnails in ``pt_docs/analyses.rst`` are written
from the registry of measures, the public names in ``__init__.pyi``, the declarations of the
analyses, and the commands. ``docs/gallery.py`` draws the pictures of the analyses.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pyterrier_asl
import pyterrier_asl.analysis
from pyterrier_asl.analysis.registry import PAPERS, QUESTIONS, Analysis, analyses
from pyterrier_asl.cli import COMMANDS
from pyterrier_asl.measures.provider import PluginProvider

FOLDER = Path(pyterrier_asl.__file__).parent / "pt_docs"
CITATIONS = Path(__file__).with_name("citations.rst")
LIST = "analyses"

#: Values of the options that an analysis requires.
_REQUIRED = {
    "judges": "--judge second=second.qrels",
    "old": "--old bm25",
    "new": "--new feedback",
    "groups": "--groups groups.tsv",
    "pools": "--types types.tsv",
    "qid": "--qid 1",
    "n": "--documents 10000",
    "relevant": "--relevant 1,2,5,10,20",
    "ranks": "--ranks 1,2,5,10,20",
}
#: Most columns of thumbnails.
COLUMNS = 4

_BEGIN, _END = ".. (analyses: begin)\n", ".. (analyses: end)\n"

#: Titles of the packages whose public names the reference lists, in this order.
_PACKAGES = {
    "experiment": "Experiments",
    "evaluation": "Evaluation",
    "comparison": "Comparing runs",
    "leaderboard": "Leaderboards",
    "unjudged": "Unjudged documents",
    "judging": "Labels",
    "assessment": "Judges and audits",
    "measures": "Pools and document lengths",
    "reporting": "The report",
    "retrieval": "Retrieval",
    "tuning": "Tuning",
    "io": "Files",
}

#: Public functions that the package does not export, by package.
_FURTHER = {
    "tuning": ["pyterrier_asl.tuning.truncated"],
    "statistics": [
        "pyterrier_asl.statistics.tests.compare_pair",
        "pyterrier_asl.statistics.tests.compare_all",
        "pyterrier_asl.statistics.tests.correct",
        "pyterrier_asl.statistics.pairwise.non_inferiority",
        "pyterrier_asl.statistics.rank_intervals.rank_intervals",
        "pyterrier_asl.statistics.agreement.kendall_tau",
        "pyterrier_asl.statistics.agreement.overlaps_of_scores",
        "pyterrier_asl.statistics.agreement.cohen_kappa",
        "pyterrier_asl.statistics.prediction_powered.prediction_powered",
    ],
}


def pages() -> dict[str, str]:
    """The text of each generated page, by its name."""
    return {
        "reference": reference(),
        "reference_measures": measures(),
        "reference_analyses": reference_analyses(),
        LIST: with_list((FOLDER / f"{LIST}.rst").read_text()),
    }


def reference() -> str:
    """The functions and classes, by package, and links to the other pages of the reference."""
    names = _public_names()
    parts = [
        _title("Reference"),
        ".. toctree::\n    :maxdepth: 1\n\n    reference_measures\n    reference_analyses\n\n"
        ".. automodule:: pyterrier_asl\n    :no-members:\n\n",
        commands(),
    ]
    for package, title in (_PACKAGES | {"statistics": "Statistics"}).items():
        entries = [_directive(name) for name in names.get(package, [])]
        entries += [_directive(name) for name in _FURTHER.get(package, [])]
        parts.append(_heading(title) + "\n".join(entries) + "\n")
    return "".join(parts)


def measures() -> str:
    """One section per measure with its docstring and parameters, then the papers."""
    parts = [
        _title("Measures"),
        ":doc:`measures` explains which to use, with worked examples.\n\n",
        f"Parameters of several measures:\n\n{''.join(_common_parameters())}\n",
    ]
    parts += map(_measure, PluginProvider.SUPPORTED_MEASURES)
    return "".join([*parts, _heading("Papers"), CITATIONS.read_text()])


def reference_analyses() -> str:
    """Source, picture, command and function of each analysis; then the other functions."""
    described: set[str] = set()
    parts = []
    for analysis in analyses():
        function = _function(analysis)
        parts.append(_entry(analysis, _directive(function) if function not in described else ""))
        described.add(function)
    names = (f"pyterrier_asl.analysis.{name}" for name in pyterrier_asl.analysis.__all__)
    further = [_directive(name) for name in names if name not in described]
    heading = _title("Analyses") + ":doc:`analyses` explains the options of all analyses.\n\n"
    return "".join(
        [heading, *parts, *([_heading("Further names"), "\n".join(further)] if further else [])]
    )


def commands() -> str:
    """The commands, each with what it does."""
    rows = "".join(f"    * - ``{name}``\n      - {text}\n" for name, text in COMMANDS.items())
    return (
        f"{_heading('Commands')}``pyterrier-asl COMMAND --help`` describes the options of a "
        f"command.\n\n.. list-table::\n\n{rows}\n"
    )


def with_list(text: str) -> str:
    """The page of analyses, with their thumbnails between its two marks."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    parts = []
    for heading in (*QUESTIONS, *PAPERS):
        of_heading = [analysis for analysis in analyses() if analysis.heading == heading]
        parts.append(_heading(heading) + _thumbnails(of_heading) if of_heading else "")
    return f"{before}{_BEGIN}\n{''.join(parts)}{_END}{after}"


def _thumbnails(group: list[Analysis]) -> str:
    """A table of small pictures, each with its question, which leads to the analysis."""
    cells = [
        f".. image:: gallery/{a.name}.png\n            :width: 190\n            :alt: {a.name}\n\n"
        f"        :ref:`{a.what} <analysis-{a.name}>`\n"
        for a in group
    ]
    columns = min(COLUMNS, len(cells))
    cells += ["\\\n"] * (-len(cells) % columns)
    lines = [
        ("      - " if place % columns else "    * - ") + cell for place, cell in enumerate(cells)
    ]
    return ".. list-table::\n\n" + "".join(lines) + "\n"


def command(analysis: Analysis) -> str:
    """The command that prints the table of an analysis."""
    files = {"qrels": "qrels.txt", "runs": "runs/"}
    wanted = analysis.required | ({"judges"} if analysis.name == "human-range" else set())
    options = [text for name, text in _REQUIRED.items() if name in wanted]
    lengths = ["--lengths irds:vaswani"] if "lengths" in analysis.parameters else []
    words = [*(files[what] for what in analysis.takes), *options, *lengths]
    return " ".join(["pyterrier-asl analyze", analysis.name, *words])


def parameters(measure: Any) -> str:
    """The parameters of a measure that not all have, each with its default and its description."""
    rows, common = [], _common_parameters()
    for name, param in measure.SUPPORTED_PARAMS.items():
        if _described(name, param) not in common:
            rows.append(_described(name, param))
    names = [f"``{n}``" for n, p in measure.SUPPORTED_PARAMS.items() if _described(n, p) in common]
    return "".join(rows) + f"\nAlso {', '.join(names)}: see above.\n"


def _described(name: str, param: Any) -> str:
    """A parameter with its default and its description."""
    shown = name if param.required else f"{name}={param.default!r}"
    short = ", written ``@k``" if name == "cutoff" else ""
    return f"``{shown}``{short}{', required' if param.required else ''}\n    {param.desc}\n"


@cache
def _common_parameters() -> list[str]:
    """The parameters that several measures have with one default and one description."""
    each = [
        _described(*p)
        for m in PluginProvider.SUPPORTED_MEASURES
        for p in m.SUPPORTED_PARAMS.items()
    ]
    return [text for text, times in Counter(each).items() if times > 1]


def _public_names() -> dict[str, list[str]]:
    """The functions and classes of ``__init__.pyi`` by package; measures have their own page."""
    stub = Path(pyterrier_asl.__file__).with_suffix(".pyi")
    names: dict[str, list[str]] = {}
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            public = [f"pyterrier_asl.{alias.asname or alias.name}" for alias in node.names]
            callables = [name for name in public if _kind(name) != "data"]
            names.setdefault(node.module.partition(".")[0], []).extend(callables)
    return names


def _kind(name: str) -> str:
    module, _, attribute = name.rpartition(".")
    value = getattr(import_module(module), attribute)
    if isinstance(value, type):
        return "class"
    return "function" if callable(value) and hasattr(value, "__code__") else "data"


def _directive(name: str) -> str:
    kind = _kind(name)
    members = "    :members:\n" if kind == "class" else ""
    if name.endswith(".TermIndex"):
        members += "    :inherited-members: Artifact\n"
    return f".. auto{kind}:: {name}\n{members}"


def _measure(measure: Any) -> str:
    label = measure.NAME.lower().replace("_", "-")
    return (
        f".. _{label}:\n\n{_heading(measure.NAME)}.. autodata:: pyterrier_asl.{measure.NAME}\n"
        f"    :no-value:\n\n{parameters(measure)}\n"
    )


def _entry(analysis: Analysis, described: str) -> str:
    names = ", ".join(f"``{name}``" for name in analysis.figures)
    shown = described or f"The table is from :func:`~{_function(analysis)}`.\n"
    plain = f"pyterrier-asl analyze {analysis.name} qrels.txt runs/"
    how = f".. code-block:: console\n\n    $ {_wrapped(command(analysis))}\n\n"
    return (
        f".. _analysis-{analysis.name}:\n\n{_heading(analysis.name)}"
        f"{analysis.source}: {names}\n\n"
        f".. image:: gallery/{analysis.name}.png\n    :alt: {analysis.name}\n\n"
        f"{'' if command(analysis) == plain else how}{shown}\n"
    )


def _wrapped(line: str) -> str:
    """A command in lines of at most 85 characters, without separating options from values."""
    together = re.sub(r"(--\S+) (\S+)", "\\1\N{NO-BREAK SPACE}\\2", line)
    lines = textwrap.wrap(together, 85, break_on_hyphens=False)
    return " \\\n          ".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n\n"


def _heading(text: str) -> str:
    return f"{text}\n{'-' * len(text)}\n\n"


def _function(analysis: Analysis) -> str:
    return f"pyterrier_asl.analysis.{analysis.function.__name__}"


def write() -> None:
    """Writes the generated pages."""
    for name, text in pages().items():
        (FOLDER / f"{name}.rst").write_text(text)


if __name__ == "__main__":
    write()
