"""What :func:`compare` returns: its sentences, tables, chart and LaTeX, and how they print."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..charts.forms import alt, captioned, in_rows, inline_rows, ranges, tooltips
from ..io import table_forms, tables
from ..io.names import OVERALL
from ..io.notices import counted, names_of
from ..io.printed import Part, Printed, print_parts
from ..leaderboard.samples import FEWEST
from ..measures.names import added_up
from ..statistics.inputs import DRAWS, check_name
from ..statistics.rounding import EQUAL
from .compared import Compared
from .differences import TESTS
from .inputs import PREFERENCES

#: A note on the comparisons that the p-values are for.
PLANNED = (
    "The p-values are for comparisons planned before looking at the results; 'ranks' says which "
    "run could be the best."
)
#: The number of moved documents that are printed by default.
MOVED = 5

#: The kinds of charts.
KINDS = ("means", "queries")
#: Titles of columns in human-readable tables.
TITLES = {
    "a": "A",
    "b": "B",
    "difference": "B - A",
    "ci_low": "from",
    "ci_high": "to",
    "p_corrected": "p",
    "counts": "W/L/T",
    "qid": "query",
    "docno": "relevant document",
    "found": "retrieved by",
}


@dataclass(frozen=True, repr=False, eq=False)
class RunComparison(Compared, Printed):
    """Runs compared with a baseline; what :func:`compare` returns.

    Its tables and verdicts are those of
    :class:`~pyterrier_asl.comparison.compared.Compared`.
    """

    # Sentences

    def sentences(self) -> list[str]:
        """For each run by which measures it is significantly better or worse than the baseline."""
        sentences = []
        for run in self.runs:
            names: dict[str, list[str]] = {}
            for row in self.table[self.table["run"] == run].to_dict("records"):
                up = self.higher_is_better[row["measure"]]
                words = ("lower", "higher") if up is None else ("worse", "better")
                way = words[(row["difference"] > 0) == (up is not False)]
                is_significant = row["p_corrected"] <= self.options.alpha and row["difference"]
                kind = "" if np.isnan(row["p"]) else way if is_significant else "no"
                names.setdefault(kind, []).append(row["measure"])
            for way in ("better", "worse", "higher", "lower", "no"):
                if of_way := self._findings(names.get(way, [])):
                    is_found = way != "no"
                    start = f"{run} is significantly {way} than {self.baseline} by "
                    start = (
                        start
                        if is_found
                        else f"No significant difference of {run} from {self.baseline} by "
                    )
                    each = " (one test per measure)" if is_found and len(of_way) > 1 else ""
                    sentences.append(f"{start}{names_of(of_way, 8)}{each}.")
            sentences += self._no_tests(run, names.get("", []))
        return sentences

    def _no_tests(self, run: str, names: Sequence[str]) -> list[str]:
        """Why a run cannot be tested by some measures."""
        reasons: dict[str, list[str]] = {}
        for values in self.run_differences:
            if values.run == run and values.name in names:
                few = f"there are fewer than {FEWEST} topics"
                reasons.setdefault(values.untestable or few, []).append(values.name)
        return [
            f"No test can be made of {run} by {names_of(of_reason, 8)}: {reason}."
            for reason, of_reason in reasons.items()
        ]

    def _findings(self, names: Sequence[str]) -> list[str]:
        """The names of measures; those whose values equal the values of another are with it."""
        found: dict[str, list[str]] = {}
        for name in names:
            same = next((first for first in found if self._are_equal(first, name)), name)
            found.setdefault(same, []).append(name)
        return [
            f"{first} ({names_of(rest, 8)}: equal here)" if rest else first
            for first, *rest in found.values()
        ]

    def _are_equal(self, first: str, second: str) -> bool:
        """Whether two measures have the same values in every query of every run."""
        tracks, values = self.inputs.qids, self.inputs.values_of
        pairs = [(values(first, track), values(second, track)) for track in tracks]
        greatest = max(float(np.abs(pair).max(initial=0)) for pair in pairs)
        return all(np.abs(x - y).max(initial=0) <= EQUAL * greatest for x, y in pairs)

    def remarks(self) -> list[str]:
        """Sentences on how the numbers were computed."""
        queries = counted(self.queries, "query", "queries")
        sums = names_of([name for name in self.higher_is_better if added_up(name)] or [""])
        return [
            *self._notes_on_tracks(queries),
            *([] if self.several else [self._note_on_test(queries)]),
            *self._notes_on_preferences(),
            *([f"{sums}: means over queries; 'evaluate' prints sums."] if sums else []),
            *([PLANNED] if self.table["p"].lt(1).any() else []),
        ]

    def _correction(self) -> str:
        """The correction of p over the runs."""
        runs = counted(len(self.runs), "run")
        if self.options.correction == "none":
            return f"not corrected, {runs}"
        corrected = f"corrected ({self.options.correction}) over {runs}"
        return "" if len(self.runs) == 1 else corrected

    def _note_on_test(self, queries: str) -> str:
        """The interval, the test and its correction, in a single collection."""
        test = TESTS[self.options.test][0]
        other = "sgnLP" in self.higher_is_better and self.options.test != "sign"
        corrected = ", ".join(filter(None, ["two-sided", self._correction()]))
        only = " (not corrected)" if len(self.runs) > 1 else ""
        counts = names_of([n for n, up in self.higher_is_better.items() if up is None] or [""])
        counts = counts and f" ({counts}: higher, lower, equal)"
        interval = f" with its {100 * (1 - self.options.alpha):g} % interval{only}"
        return (
            f"B - A{interval if self.queries > 1 else ''} over {queries}. p: {test}"
            f"{' (sgnLP: sign test)' if other else ''}, {corrected}; significant: p at most "
            f"{self.options.alpha:g}. W/L/T: queries in which B is better, worse, equal{counts}."
        )

    def _notes_on_preferences(self) -> list[str]:
        """In how many queries every measure of ranks prefers each run."""
        notes = []
        for row in self.preferences.to_dict("records"):
            wins = counted(row["wins"], "query", "queries") if row["wins"] else "no query"
            note = (
                f"prefers {row['run']} in {wins} and {self.baseline} in {row['losses'] or 'none'}"
            )
            equal, depends = row["equal"], row["depends"]
            rest = [f"{equal} {'is' if equal == 1 else 'are'} equal"] if equal else []
            rest += [f"in {depends} it depends on the measure"] if depends else []
            notes.append(f"Every measure of ranks {note}{'; ' if rest else ''}{', '.join(rest)}.")
        return notes

    def _notes_on_tracks(self, queries: str) -> list[str]:
        """Notes on several collections, and those that disagree."""
        if self.by_track is None:
            return []
        rows = self.by_track[self.by_track["track"] != OVERALL]
        sizes = {track: len(qids) for track, qids in self.inputs.qids.items()}
        small = [track for track, size in sizes.items() if size < FEWEST]
        few = f"{'has' if len(small) == 1 else 'have'} fewer than {FEWEST} topics: no test."
        corrected = self._correction()
        return [
            f"Overall: B - A averaged over {counted(len(sizes), 'collection')}, {queries} in all; "
            f"p by random signs of the differences within collections"
            f"{corrected and f', {corrected}'}; significant: p at most {self.options.alpha:g}.",
            *([f"{names_of(small)} {few}"] if small else []),
            *self._disagreements(rows),
            "These collections were chosen, not drawn: the result does not extend to others.",
        ]

    def _disagreements(self, rows: pd.DataFrame) -> list[str]:
        """Sentences on runs that are significantly better in a collection and worse in another."""
        significant = rows[rows["p_corrected"] <= self.options.alpha]
        sentences = []
        for (run, measure), group in significant.groupby(["run", "measure"], sort=False):
            up = self.higher_is_better[str(measure)]
            ways = ("lower", "higher") if up is None else ("worse", "better")
            better, worse = (
                group["track"][group["difference"] * (-1 if up is False else 1) * sign > 0].tolist()
                for sign in (1, -1)
            )
            if better and worse:
                sentences.append(
                    f"{run} is significantly {ways[1]} than {self.baseline} by {measure} in "
                    f"{names_of(better)}, and significantly {ways[0]} in {names_of(worse)}."
                )
        none = "No two collections put a pair in significantly opposite orders."
        return sentences or [none] * (rows.dropna(subset="p")["track"].nunique() > 1)

    # Forms

    def parts(self, means: Part | None = None) -> list[Part]:
        """The parts that ``pyterrier-asl compare`` prints.

        Args:
            means: the table of measures; None: :meth:`means`.
        """
        head = f"A: {self.baseline} (baseline)"
        if len(self.runs) == 1:
            head += f", B: {self.runs[0]}"
        sentences = [*self.sentences(), "", head, ""]
        after = [*self.remarks(), *self.notes]
        return [*map(Part, sentences), means or self.means(), Part(), *map(Part, after)]

    def means(self, *, ascii_only: bool = False) -> Part:
        """The table of measures with one p-value.

        Args:
            ascii_only: whether directions are printed without arrows.
        """
        kind = self.options.correction
        p = "p" if kind == "none" or len(self.runs) == 1 else "p_corrected"
        table = self.table if self.by_track is None else self.by_track
        counts = table[["wins", "losses", "ties"]].astype(str).agg("/".join, axis=1)
        names = [
            "track",
            "run",
            "measure",
            "a",
            "b",
            "difference",
            "ci_low",
            "ci_high",
            p,
            "counts",
        ]
        table = table.assign(counts=counts)
        frame = self.of_one(table[[name for name in names if name in table]])
        frame["measure"] = [
            f"{name} {tables.arrow(self.higher_is_better[name], ascii_only)}".rstrip()
            for name in frame["measure"]
        ]
        style: dict[str, Any] = {"titles": {**TITLES, "p_corrected": f"p ({kind})"}}
        if self.several or self.options.test == "randomization":
            style["zero_p"] = (1 if p == "p" else len(self.runs)) / DRAWS
        return Part(table=frame, style=style | {"group_by": "track" if self.several else "run"})

    def documents(self, moved: int | None = MOVED) -> list[Part]:
        """The numbers of relevant documents that each run retrieved, and those that moved farthest.

        Args:
            moved: how many documents; None: all.
        """
        parts = [Part()]
        for row in self.retrieved.to_dict("records"):
            total = row["both"] + row["A"] + row["B"] + row["neither"]
            of = "" if len(self.runs) == 1 else f" ({row['run']})"
            parts.append(
                Part(
                    f"Relevant documents{of}: {total:,}. Retrieved by both runs: {row['both']:,} "
                    f"(in B with fewer irrelevant documents above: {row['nearer']:,}; with more: "
                    f"{row['farther']:,}). Retrieved by A only: {row['A']:,}; by B only: "
                    f"{row['B']:,}; by neither: {row['neither']:,}."
                )
            )
        what = "Those that moved farthest, by search length (irrelevant documents above, + 1):"
        frame = self.of_one(self.moved).head(len(self.moved) if moved is None else moved)
        return [*parts, Part(what), Part(), Part(table=frame, style={"titles": TITLES})]

    def of_one(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame, for a single run without the column that names it."""
        return frame.drop(columns="run") if len(self.runs) == 1 else frame.copy()

    def chart(self, kind: str | None = None) -> Any:
        """The difference of each run from the baseline by each measure.

        Args:
            kind: ``'means'``, with intervals, or ``'queries'``: of each query, the largest loss
                first; None: ``'means'``.
        """
        check_name("kind", kind, [None, *KINDS])
        by_query = kind == "queries"
        rows = self.by_query if by_query else self.table
        rows = rows.reset_index(drop=True)
        if self.several and not by_query:
            rows = rows.assign(ci_low=rows["difference"], ci_high=rows["difference"])
        ways = {name: tables.arrow(up) for name, up in self.higher_is_better.items()}
        rows["panel"] = [f"{name} {ways[name]}".rstrip() for name in rows["measure"]]
        title = f"difference from {self.baseline}"
        layers: Any
        if by_query:
            rows["order"] = rows.groupby(["run", "measure"]).cumcount()
            shown = ["run:N", "qid:N", "measure:N", "a:Q", "b:Q", "difference:Q"]
            layers = (
                alt.Chart()
                .mark_bar()
                .encode(
                    x=alt.X("order:O", title="queries, the largest loss first", axis=None),
                    y=alt.Y("difference:Q", title=title),
                    tooltip=tooltips(*shown),
                )
            )
            rows["panel"] = rows["run"] + ", " + rows["panel"]
        else:
            shown = ["run:N", "measure:N", "a:Q", "b:Q", "difference:Q", "p_corrected:Q"]
            base = alt.Chart().encode(
                y=alt.Y("run:N", sort=self.runs, title=None), tooltip=tooltips(*shown)
            )
            zero = alt.Chart().mark_rule(color="gray").encode(x=alt.datum(0))
            layers = alt.layer(zero, ranges(base, "ci_low", "difference", "ci_high", title))
        layers.data = inline_rows(rows)
        panels = in_rows(layers, "panel", rows["panel"])
        has_interval = not (self.several or by_query)
        level = f", with {100 * (1 - self.options.alpha):g} % intervals" * has_interval
        what = "Values" if by_query else "Means"
        caption = f"{what} over {counted(self.queries, 'query', 'queries')}{level}."
        compared = f"Runs compared with {self.baseline}"
        panels = (
            panels.resolve_scale(y="independent")
            if by_query
            else panels.resolve_scale(x="independent")
        )
        return captioned(panels, compared, caption)

    def to_latex(self, *, places: int = 4) -> str:
        r"""A ``table`` with a caption and booktabs' rules: one row per run, the baseline first.

        A superscript + or - marks a difference from the baseline that is significant at ``alpha``
        after the correction, + where the run is better. Bold is the best of each measure. The
        caption says so, with the test and the number of queries.

        Args:
            places: decimal places.
        """
        shown = [name for name in self.higher_is_better if name not in PREFERENCES]
        if not shown:
            raise ValueError("a LaTeX table has no rrLP and sgnLP: name a measure of each run")
        columns = {}
        for name in shown:
            rows = self.table[self.table["measure"] == name]
            values = [float(rows["a"].iloc[0]), *rows["b"].tolist()]
            up = self.higher_is_better[name]
            best = None if up is None else max(values) if up else min(values)
            significant = (rows["p_corrected"] <= self.options.alpha) & (up is not None)
            significant &= rows["difference"] != 0
            signs = np.where((rows["difference"] > 0) == up, "$^{+}$", "$^{-}$")
            marks = ["", *np.where(significant, signs, "").tolist()]
            texts = [table_forms.format_value(value, places) for value in values]
            columns[name] = [
                (rf"\textbf{{{text}}}" if value == best else text) + mark
                for text, value, mark in zip(texts, values, marks)
            ]
        frame = pd.DataFrame(columns, index=pd.Index([self.baseline, *self.runs]))
        styler = frame.style.format_index(escape="latex").format_index(escape="latex", axis=1)
        sides = "l" + "r" * len(shown)
        text = tables.typeset(
            styler, column_format=sides, caption="CAPTION", position_float="centering"
        )
        ways = {True: r"$\uparrow$", False: r"$\downarrow$", None: ""}
        heads = [f" & {name.replace('_', chr(92) + '_')}" for name in shown]
        for head, name in zip(heads, shown):
            text = text.replace(head, f"{head} {ways[self.higher_is_better[name]]}".rstrip(), 1)
        return text.replace("CAPTION", self._caption())

    def _caption(self) -> str:
        """The legend of the LaTeX table."""
        test = "sign vectors" if self.several else TESTS[self.options.test][0]
        corrected = ", ".join(filter(None, [f"{test}, two-sided", self._correction()]))
        return (
            f"Means over {counted(self.queries, 'query', 'queries')}; arrows: the better "
            "direction; bold: the best of each measure; $^{+}$ and $^{-}$: significantly better "
            f"and worse than the first row ({corrected}, $p \\leq {self.options.alpha:g}$)."
        )


def print_comparison(
    compared: RunComparison,
    form: str,
    *,
    places: int = 4,
    by_query: bool = False,
    documents: bool = False,
    texts: Mapping[str, str] | None = None,
    wide: bool = False,
    all_rows: bool = False,
) -> None:
    """Prints a comparison.

    Args:
        compared: the comparison.
        form: one of :data:`.io.tables.FORMS`. A table comes with sentences and notes, of a guard
            only with ``all_rows``; the other forms print one frame: the queries with ``by_query``,
            the documents with ``documents``, else the measures.
        places: decimal places; -1: all digits.
        by_query: whether to print the queries.
        documents: whether to print the relevant documents that moved.
        texts: the text of queries, by id.
        wide: whether a table has all columns, even where lines wrap.
        all_rows: whether a terminal shows all rows of a long table, and a guard its notes.
    """
    size: dict[str, Any] = {"places": places, "wide": wide, "all_rows": all_rows}
    if form == "table":
        ascii_only = not table_forms.has_arrows(sys.stdout)
        means = compared.means(ascii_only=ascii_only)
        is_short = compared.inputs.conditions and not all_rows
        short = [Part(), means, Part(), *map(Part, compared.notes)]
        parts = short if is_short else compared.parts(means)
        if by_query:
            frame = _with_text(compared.differences(), texts)
            what = "B - A by query, the largest loss by the first measure first:"
            parts.append(Part(what, frame, {"titles": TITLES}))
        if documents:
            parts += compared.documents(None) if all_rows else compared.documents()
        print_parts(parts, **size)
    elif by_query:
        frame = _with_text(compared.of_one(compared.by_query), texts)
        tables.write(frame, form, places=places)
    elif documents:
        tables.write(compared.of_one(compared.moved), form, places=places)
    elif form == "latex":
        print(compared.to_latex(places=places), end="")
    elif form == "markdown":
        means = compared.means()
        assert means.table is not None
        tables.write(means.table, form, places=places, **means.style)
    else:
        table = compared.table if compared.by_track is None else compared.by_track
        tables.write(compared.of_one(table), form, places=places)


def _with_text(frame: pd.DataFrame, texts: Mapping[str, str] | None) -> pd.DataFrame:
    return frame.assign(query=frame["qid"].map(str).map(texts).fillna("")) if texts else frame
