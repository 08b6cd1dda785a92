"""Declaration of analyses, from which the command, its options and the documentation follow.

An analysis is a function of runs, judgements and further options, which returns a table::

    @analysis(DIAZ, "Table 3")
    def ties(
        runs: Runs,
        qrels: QrelsLike | None = None,
        *,
        rel: float | None = None,
    ) -> pd.DataFrame:
        \"\"\"The question that it answers?  (at most 70 characters)
        ...the rest of its documentation.\"\"\"
        judged, rel = read(runs, qrels, rel)
        i_star = judged.once(first_differences, rel)  # other analyses of these runs share it
        ...
    @ties.chart
    def ties_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
        return figure(alt.Chart(frame)...)  # alt of ``charts.drawing``, which imports it when used

* Callers, editors and type checkers see the parameters of this function. Parameters that many
  analyses have are described once, in ``_COMMON``, and added to its docstring.
* :mod:`.inputs` reads runs; :func:`.per_track` goes through tracks (``tracks=True``).
* ``ties.draw(frame)`` draws the figure of the table.
* ``@ties.another("name", "Figure 9", "Its question?")`` draws a second figure of the same table.
* An option that no other analysis has is described in ``cli/option_table.py``; ``cli/options.py``
  lists the parameters in Python only.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from ..common.lazy import alt, pd
from ..evaluation.evaluation import Evaluation
from ..evaluation.facts import with_notes
from .inputs import READ

ALEX = "Alex, Hall, Metzler 2022"
DIAZ = "Diaz 2023"
TURKMEN = "Türkmen, Lease, Kutlu 2023"
TROTMAN = "Trotman, Keeler 2011"
CLARKE = "Clarke 2019"
PAPERS = (ALEX, DIAZ, TURKMEN, TROTMAN, CLARKE)

#: The questions under which analyses are listed first.
BETTER, REAL, LOST = "Who is better?", "Is it real?", "What is lost?"
MORE = "What would more judgements change?"
QUESTIONS = (BETTER, REAL, LOST, MORE)

#: Descriptions of common arguments, and of some where there are tracks.
_COMMON = {
    "runs": "dict of name -> run, folder of run files, or list of them; or Evaluation.",
    "qrels": "frame, file, or ir_datasets id; None: the qrels of Evaluation.",
    "judges": "name -> qrels of the same queries; means are over the queries that all judged.",
    "judge_rel": "minimum grade of a relevant document for the other judges: judge -> grade, or "
    "one number; None: ``rel``.",
    "rel": "minimum grade of a relevant document; None: 1, with a warning if higher grades occur.",
    "cutoff": "only the first ``cutoff`` documents count.",
    "missing": "the rank of a document that was not retrieved: ``missing`` of ``ASL``.",
    "measure": "a measure or its name.",
    "measures": "measures or their names.",
    "test": "a test for pairs; see :mod:`pyterrier_asl.statistics.tests`.",
    "alpha": "the level of significance; intervals cover 1 - alpha.",
    "draws": "number of random draws; None: 10,000.",
    "seed": "seed of the draws, 0 by default.",
    "progress": "whether to show a progress bar; None: only on a terminal.",
    "correction": "over all rows of the result: ``'holm'``, ``'bonferroni'``, ``'bh'``, "
    "``'none'``.",
    "as_published": "the paper's choice: missing documents right after the list "
    "(``missing='after'``).",
}
_OF_TRACKS = {
    "runs": "the runs of one track; or, without qrels, a dict of track -> (runs, qrels).",
    "qrels": "the judgements of the one track.",
    "rel": "minimum grade of a relevant document, one for all tracks or track -> grade; None: 1, "
    "with a warning if higher grades occur. A track without a relevant document has no values.",
}

P = ParamSpec("P")
Draw = TypeVar("Draw", bound=Callable[..., Any])


class AnalysisFunction(Protocol[P]):
    """The function of an analysis, with its parameters, its chart and its declaration."""

    analysis: Analysis
    __name__: str

    def __call__(self, *args: P.args, **options: P.kwargs) -> pd.DataFrame:
        """The table."""

    def chart(self, draw: Draw) -> Draw:
        """Declares the function that draws the figure of the table."""

    def another(self, name: str, figure: str, what: str) -> Callable[[Draw], Draw]:
        """Declares another figure of the same table, with its name."""

    def draw(self, frame: pd.DataFrame) -> alt.TopLevelMixin:
        """The chart of a table."""


@dataclass(eq=False)
class Analysis:
    """One table or figure of a paper.

    Attributes:
        name: the name of the command: the name of the function, with hyphens.
        paper: one of :data:`PAPERS`.
        figure: which table or figure of the paper.
        what: the question that it answers, in a line.
        function: makes the table.
        question: which of :data:`QUESTIONS` it is listed under; '': under its paper.
        tracks: whether it accepts several tracks, each with its qrels and runs.
        group_by: a column whose rows belong together; see :func:`.tables.Style`.
        hidden: columns that a printed table leaves out; it then leaves out empty columns, too.
        chart: draws the figure of the table.
    """

    name: str
    paper: str
    figure: str
    what: str
    function: AnalysisFunction[...]
    question: str
    tracks: bool
    group_by: str
    hidden: Sequence[str]
    chart: Callable[..., Any] | None = None

    def keep(self, function: Draw) -> Draw:
        """Declares the function that draws the table, and lists the analysis."""
        self.chart = function
        _ANALYSES[self.name] = self
        return function

    @property
    def source(self) -> str:
        """Paper and figure."""
        return f"{self.paper}, {self.figure}"

    @property
    def heading(self) -> str:
        """The heading of the list that it is in."""
        return self.question or self.paper

    @property
    def figures(self) -> list[str]:
        """The names of its figures: the first author, kind and number, as ``alex-figure-1``."""
        kind, _, numbers = self.figure.lower().partition(" ")
        first, _, last = numbers.partition("-")
        each = range(int(first), int(last) + 1) if last else numbers.split(", ")
        author = self.paper.partition(",")[0].partition(" ")[0].lower().replace("ü", "u")
        return [f"{author}-{kind.removesuffix('s')}-{number}" for number in each]

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters of the function."""
        return dict(inspect.signature(self.function).parameters)

    @property
    def required(self) -> set[str]:
        """The names of the parameters without a default."""
        return {name for name, of in self.parameters.items() if of.default is of.empty}

    @property
    def takes(self) -> tuple[str, ...]:
        """The inputs of the command: ``('qrels', 'runs')``, ``('qrels',)`` or none."""
        return tuple(name for name in ("qrels", "runs") if name in self.parameters)

    def draw(self, frame: pd.DataFrame) -> alt.TopLevelMixin:
        """The chart of a table."""
        assert self.chart is not None
        return self.chart(frame)


_ANALYSES: dict[str, Analysis] = {}


def analysis(
    paper: str,
    figure: str,
    *,
    question: str = "",
    tracks: bool = False,
    group_by: str = "",
    hidden: Sequence[str] = (),
) -> Callable[[Callable[P, pd.DataFrame]], AnalysisFunction[P]]:
    """Declares an analysis; see the top of this file, and :class:`Analysis` for the arguments."""

    def declare(body: Callable[P, pd.DataFrame]) -> AnalysisFunction[P]:
        function, doc = cast(Any, _with_notes(body)), inspect.getdoc(body) or ""
        name, what = function.__name__.replace("_", "-"), doc.partition("\n")[0]
        declared = Analysis(
            name=name,
            paper=paper,
            figure=figure,
            what=what,
            function=function,
            question=question,
            tracks=tracks,
            group_by=group_by,
            hidden=hidden,
        )
        function.__doc__ = _with_arguments(doc, function, tracks)
        function.analysis, function.draw, function.chart = declared, declared.draw, declared.keep
        function.another = lambda name, figure, what: (
            replace(declared, name=name, figure=figure, what=what, question="").keep
        )
        return cast(AnalysisFunction[P], function)

    return declare


def _with_notes(body: Callable[P, pd.DataFrame]) -> Callable[P, pd.DataFrame]:
    """The function of an analysis, whose table has notes on the runs that it reads."""

    @wraps(body)
    def function(*args: P.args, **options: P.kwargs) -> pd.DataFrame:
        read: list[tuple[str, Evaluation]] = []
        token = READ.set(read)
        try:
            table = body(*args, **options)
        finally:
            READ.reset(token)
        facts = {track: judged.facts({}) for track, judged in read}
        return with_notes(table, facts) if facts else table

    return function


@cache
def analyses() -> list[Analysis]:
    """All analyses, those that answer a question first, by question, then the others by paper."""
    for module in iter_modules(import_module(__package__).__path__):
        import_module(f"{__package__}.{module.name}")
    order = [*QUESTIONS, *PAPERS].index
    return sorted(_ANALYSES.values(), key=lambda a: (order(a.heading), a.figure, a.name))


def find_analyses(name: str) -> list[Analysis]:
    """The analyses of a name or of a figure, as ``diaz-table-3``; none for a table elsewhere.

    >>> [found.name for found in find_analyses("diaz-table-3") + find_analyses("Alex Figure 5")]
    ['ties', 'search-length-distribution']
    """
    key = re.sub(r"[^a-z0-9.]+", "-", name.lower().replace("ü", "u"))
    return [analysis for analysis in analyses() if key in (analysis.name, *analysis.figures)]


def _with_arguments(doc: str, function: Callable[..., Any], tracks: bool = False) -> str:
    """A docstring that describes every argument, in the order of the signature.

    Args:
        doc: the docstring, which may leave common arguments out.
        function: whose arguments they are.
        tracks: whether it can be about several tracks.

    >>> def ties(runs, depth, rel=1): ...
    >>> doc = "Ties.\\n\\nArgs:\\n    depth: a rank.\\n\\nReturns:\\n    Rows."
    >>> print(_with_arguments(doc, ties))
    Ties.
    <BLANKLINE>
    Args:
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation.
        depth: a rank.
        rel: minimum grade of a relevant document; None: 1, with a warning if higher grades occur.
    <BLANKLINE>
    Returns:
        Rows.
    """
    if "\nArgs:\n" not in doc:
        doc = doc.replace("\nReturns:\n", "\nArgs:\n\n\nReturns:\n", 1)
    before, _, rest = doc.partition("\nArgs:\n")
    arguments, _, after = rest.partition("\n\n")
    blocks = re.split(r"\n    (?=\w+:)", arguments.strip())
    documented = {block.partition(":")[0]: block.strip() for block in blocks}
    texts = {**_COMMON, **(_OF_TRACKS if tracks else {})}
    lines = [
        documented.get(name)
        or textwrap.fill(f"{name}: {texts[name]}", 90, subsequent_indent=" " * 8)
        for name in inspect.signature(function).parameters
        if name in documented or name in texts
    ]
    return f"{before}\nArgs:\n    " + "\n    ".join(lines) + f"\n\n{after.lstrip()}"
