"""Comparison of judges, people, crowds and machines, with a person: tables, sentences and chart.

A judge is trusted as far as people agree with each other: on documents (kappa), on the ranking of
systems (Kendall's tau), and by the judge's effect on single systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, comb
from typing import Any

from ..charts.drawing import STEP, alt, captioned, ranges, tooltips
from ..common.lazy import pd
from ..common.notices import counted
from ..common.parameters import check_name, taking_other_names
from ..evaluation.evaluation import Runs
from ..evaluation.sources import JudgeRel, QrelsLike, on_grades, refuse
from ..measures.parsing import Measures, NamedMeasure
from ..printing.printed import Part, Printed
from ..printing.tables import latex
from ..statistics.tests import PairedTest
from .agreement import ON_GRADES, confusion_of, counts_by_grade
from .among_judges import agreement_among, among_chart, matrices, opinions
from .favoured import FEW_RUNS, favour_sentences, favoured_chart, favours_by_judge
from .judges import FEW_QUERIES, Judges, with_reference
from .reversals import reversals_of
from .verdicts import (
    DOCUMENTS,
    HUMAN,
    SYSTEMS,
    UNKNOWN_RANGE,
    agreement_with_people,
    best_judge,
    differences_of_judges,
    judge_lines,
    least_p,
    people_range,
)

#: The kinds of charts.
CHARTS = ("agreement", "among", "favoured")

#: The number of favoured runs of a judge that sentences are printed of.
_FAVOURED = 3

_TITLES = {
    "ci_low": "from",
    "ci_high": "to",
    "human_low": "people",
    "human_high": "to",
    "less_human": "judge",
    "less_low": "from",
    "less_high": "to ",
    "p_corrected": "p (holm)",
}
_REVERSALS = {"reversed": "reversed", "reversed_both": "significant"}
_CAPTIONS = {
    "agreement": "From, to: confidence interval over queries like these.",
    "differences": "From, to: confidence interval by a paired bootstrap over queries; p is "
    "corrected for all pairs of judges.",
    "favoured": "Favour: value less the value that the value by people lets expect; p is corrected "
    "for all runs.",
}


@taking_other_names
def judges(
    qrels: QrelsLike,
    judges: Mapping[str, QrelsLike],
    runs: Runs | None = None,
    measures: Measures | None = None,
    *,
    people: Iterable[str] = (),
    reference: str = "reference",
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    test: str | None = None,
    alpha: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
) -> JudgeReport:
    """Compares judges with people: on documents and, with runs, on the ranking of systems.

    Args:
        qrels: the judgements of the reference, a person's: frame, file, or ir_datasets id. With a
            column of judges they are several people, who give a human range.
        judges: name -> qrels of the other judges; with a column of judges (``judge``, ``rater``,
            ``annotator``, ``worker_id``, ``model``) each is a judge, called ``name/judge``.
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation; None: there
            are none.
        measures: one measure or several, or their names; the leaderboards are by each of them.
            None: AP.
        people: the judges that are people, besides the judge of ``qrels``. Two people or more, with
            that judge, give a human range.
        reference: the name of the reference; of several people in ``qrels`` the name of the one
            that is the reference, instead of the first.
        rel: minimum grade of a relevant document, for measures without one; None: each measure's
            default, and 1 on documents.
        judge_rel: minimum grade of a relevant document for the other judges: judge -> grade, or one
            number. It replaces ``rel`` and the ``rel`` of a measure, and is then shown after the
            name of the measure.
        test: the test of all pairs of systems under each judge, for reversals; None:
            ``'tukey-two-way'``.
        alpha: the level of significance; intervals cover 1 - alpha.
        draws: draws of the bootstrap over queries; more for the differences of many judges.
        seed: seed of the draws.

    Returns:
        :class:`JudgeReport`. A verdict is *within the human range* where a judge agrees with people
        at most :data:`~pyterrier_asl.assessment.verdicts.MARGIN` less than people agree with
        each other, by the whole interval; *below* it where the whole interval is lower; else it
        *cannot be said*. All agreements of a verdict are on the same pairs of query and document,
        judged by the judge and all people; without a human range by the judge and the reference.

    Raises:
        ValueError: for a judge that has nothing in common with the reference or finds nothing
            relevant, names in ``people`` or ``judge_rel`` that do not exist, or two judges of
            one name.

    Sources: kappa: Cohen 1960; tau: Kendall 1945; tau_AP: Yilmaz, Aslam and Robertson 2008.

    >>> nist = {f"q{n}": {"a": 1, "b": 0, "c": n % 2} for n in range(20)}
    >>> model = {f"q{n}": {"a": 1, "b": 0, "c": int(n % 3 == 0)} for n in range(20)}
    >>> report = judges(nist, {"model": model}, reference="nist", draws=200)
    >>> report.agreement[["judge", "agreement", "value", "verdict"]].head(2).round(3)
       judge  agreement  value        verdict
    0  model  agreement  0.817  range unknown
    1  model      kappa  0.633  range unknown
    """
    sources = with_reference(judges, reference, qrels)
    if len(sources) < 2:
        raise ValueError("there is no judge to compare with the reference: name one or more")
    if runs is None:
        refuse("is for judges with runs", measures=measures, test=test)
    compared = Judges.of(sources, runs, rel=rel, judge_rel=judge_rel, people=[reference, *people])
    if runs is not None and len(compared.systems) < 2:
        refuse("is for several runs", measures=measures, test=test)
    for judge in compared.members.values():
        judge.check_finds_relevant()
    confusion = confusion_of(compared)
    ranked = compared.ranked_by("AP" if measures is None else measures)
    paired = PairedTest(test or "tukey-two-way", "auto", alpha)
    reversals = [reversals_of(compared, measure, paired) for measure in ranked]
    return replace(
        summary_of(compared, ranked, alpha=alpha, draws=draws, seed=seed),
        reversals=pd.concat(reversals, ignore_index=True) if reversals else None,
        confusion=confusion,
        notes=[
            *compared.notes_on(),
            *on_grades(compared.judgements, None, rel, judge_rel or None),
            *([] if runs is None else compared.facts(ranked).notes),
        ],
    )


def summary_of(
    judges: Judges,
    measures: list[NamedMeasure],
    *,
    alpha: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
) -> JudgeReport:
    """The agreement of each judge with the reference, and the runs that it favours.

    Args:
        judges: the judges, the reference first.
        measures: those that rank the runs.
        alpha: the level of significance; intervals cover 1 - alpha.
        draws: draws of the bootstrap over queries.
        seed: seed of the draws.
    """
    how: dict[str, Any] = {"alpha": alpha, "seed": seed}
    # So many that a p, corrected for all pairs of judges, can be a fifth of alpha.
    draws_of_pairs = max(draws, ceil(10 * comb(len(judges.names) - 1, 2) / alpha))
    favoured, untested = favours_by_judge(judges, measures, seed=seed) if measures else (None, [])
    return JudgeReport(
        judges.names[0],
        judges.people,
        len(judges.systems) if measures else 0,
        agreement_with_people(judges, measures, draws=draws, **how),
        differences_of_judges(judges, measures, draws=draws_of_pairs, **how),
        agreement_among(judges, measures),
        favoured,
        tuple(untested),
        alpha,
        draws_of_pairs,
    )


@dataclass(frozen=True, repr=False, eq=False)
class JudgeReport(Printed):
    """The result of :func:`~pyterrier_asl.judges`; ``print`` shows what the command prints.

    Attributes:
        reference: the name of the judge that others are compared with.
        people: the judges that are people; the reference is the first.
        runs: the number of runs.
        agreement: a row for each judge, measure and kind of agreement: ``judge``, ``reference``,
            ``measure`` ('' on documents; with the judge's ``rel`` where it is another),
            ``agreement`` (``agreement``, ``kappa``, ``tau``, ``tau_AP``, ``RBO``), ``value``,
            ``ci_low``, ``ci_high``; ``human_low`` and ``human_high``, the least and the greatest
            agreement of two people; ``less_human``, how much more the judge agrees with a person
            than other people do, ``less_low``, ``less_high``; ``verdict``; ``human_pairs``, the
            number of pairs of query and document that the judge and all people judged. All numbers
            of a row are on these pairs. Without a human range ``human_pairs`` is 0, and ``value``
            is on all that the judge and the reference judged. ``pairs`` and ``queries``: those that
            both judged, with a human range those that all people judged, too. kappa, and kappa of
            the grades (``kappa_grades``, ``kappa_linear``, ``kappa_quadratic``, for judges with one
            largest grade), is NaN where all labels of one side are the same.
        differences: for each two judges, measure and kind of agreement the ``judge`` that agrees
            more with the reference, the ``other``, and the ``difference``, the other's agreement
            less the judge's, with its interval and two-sided ``p`` from the same draws of queries,
            on the ``pairs`` that both and the reference judged; ``p_corrected`` (Holm, over the
            pairs of judges) and ``significant``. A p of 0 is less than 2 / (``draws`` + 1).
        among: for every two judges, the reference among them, in both orders, kappa, and tau by
            each measure: ``judge``, ``other``, ``measure``, ``agreement``, ``value``, and the
            ``pairs`` of query and document and ``queries`` that both judged.
        reversals: for each judge and measure the pairs of systems that it puts in another order
            than the reference: ``reversed``, ``reversed_significant`` (by one of the two),
            ``reversed_both`` (by both) and ``which`` these are, the run that the reference prefers
            first, and the significant pairs of each; None without runs.
        confusion: for each judge and two grades the documents, ``pairs``, and their share of all
            with the reference's grade, ``share_of_a``.
        favoured: for each judge who is not a person, measure and run the mean ``value`` by the
            judge and by ``people``; ``favour``, by how much the judge's value is better than its
            value by people lets expect from all runs; ``p``, one-sided, adjusted for all runs (0
            means less than 1 / 10,000, or less than 1 / 2^``queries``); ``judged``, the share of
            the run's documents to the cut-off (10 without one) that people judged; ``expected``,
            the value that the line through all runs gives; ``person``, with several people the one
            by whom p is greatest; ``queries``. A run is favoured where p is at most ``alpha``, by
            every person. None without several runs.
        untested: sentences on judges and measures whose favours cannot be tested.
        alpha: the level of significance.
        draws: the draws of the bootstrap of the differences.
        notes: sentences on what must be known of the runs and the reference's judgements.
    """

    reference: str
    people: list[str]
    runs: int
    agreement: pd.DataFrame
    differences: pd.DataFrame
    among: pd.DataFrame
    favoured: pd.DataFrame | None
    untested: tuple[str, ...]
    alpha: float
    draws: int
    reversals: pd.DataFrame | None = None
    confusion: pd.DataFrame | None = None
    notes: Sequence[str] = ()

    @property
    def best(self) -> list[str]:
        """The judge that agrees best, which others agree less, and which are one opinion."""
        return [
            *best_judge(self.agreement, self.differences, self.runs),
            *opinions(self.among, self.reference),
        ]

    @property
    def matrices(self) -> dict[str, pd.DataFrame]:
        """:attr:`among` as a square frame for each kind of agreement and measure, by its name."""
        return matrices(self.among)

    def lines(self) -> dict[str, str]:
        """What each judge can be used for, and how many runs it favours."""
        tested = pd.DataFrame() if self.favoured is None else self.favoured.dropna(subset="p")
        favours = {
            str(judge): f"favours {(p <= self.alpha).sum() or 'none'} of {len(p)} runs"
            for judge, p in (tested.groupby("judge")["p"] if len(tested) else ())
        }
        return judge_lines(self.agreement, self.people, favours)

    @property
    def unknown(self) -> list[str]:
        """Why the human range of all judges is unknown; nothing where a line says why."""
        return [UNKNOWN_RANGE] * (len(self.people) < 2)

    def favours(self) -> dict[str, list[str]]:
        """A sentence on each favoured run, by judge."""
        return {} if self.favoured is None else favour_sentences(self.favoured, self.alpha)

    def sentences(self) -> list[str]:
        """Which judge agrees best, what each can be used for and favours; what is not tested."""
        return [*self._sentences(), *self.untested]

    def _sentences(self, most: int | None = None) -> Iterator[str]:
        """The sentences, with the first ``most`` runs that a judge favours."""
        if self.best:
            yield " ".join(self.best)
        runs = self.favours()
        for judge, line in self.lines().items():
            yield line
            yield from (favoured := runs.get(judge, []))[:most]
            if most is not None and len(favoured) > most:
                more = counted(len(favoured) - most, "more run")
                yield f"{judge} favours {more}: --show favoured has all."
        yield from self.unknown

    @property
    def table(self) -> pd.DataFrame:
        """The agreements."""
        return self.agreement

    def parts(self) -> Iterator[Part]:
        """The sentences, then the tables."""
        yield from map(Part, [*self._sentences(_FAVOURED), *self.untested])
        for name, part in self._tables().items():
            if name != "favoured":  # whose rows are sentences
                yield part
            if name == "reversals" and self.reversals is not None:
                for row in self.reversals[self.reversals["which"] != ""].to_dict("records"):
                    yield Part(f"{row['judge']}, {row['measure']}: {row['which']}.")
        yield from map(Part, ["", *self.notes] if self.notes else [])

    def to_latex(self, table: str = "agreement", *, places: int = 4) -> str:
        """A table with a caption: a ``table`` with a ``tabular`` with rules of booktabs.

        Args:
            table: ``'agreement'``, ``'differences'``, ``'among'`` (kappa), ``'favoured'``,
                ``'reversals'`` or ``'confusion'``.
            places: decimal places.
        """
        tables = self._tables()
        check_name("table", table, list(tables))
        part = tables[table]
        assert part.table is not None
        shown = part.table
        if table == "agreement" and "human range" in tables:
            rows = self.agreement.loc[shown.index].to_dict("records")
            shown = shown.assign(people=[people_range(row) or "--" for row in rows])
        caption = f"{part.text.removesuffix(':')}. {_CAPTIONS.get(table, '')}".rstrip()
        return latex(shown, places=places, caption=caption, **part.style)

    def _tables(self) -> dict[str, Part]:
        """The tables that are shown, by their names."""
        style = {"titles": _TITLES, "group_by": "judge"}
        table, decisive = (_with_measure(frame) for frame in (self.agreement, self.differences))
        columns = ["judge", "agreement", "value", "ci_low", "ci_high", "pairs", "queries"]
        shown = table.loc[~self.agreement["agreement"].isin(ON_GRADES), columns]
        tables = {"agreement": Part(f"Agreement with {self.reference}:", shown, style)}
        with_range = table[_decides(self.agreement) & table["human_low"].notna()]
        if len(with_range):
            tables["human range"] = Part(
                "Agreement among people, and by how much a judge's is higher:",
                with_range[["judge", "agreement", *HUMAN, "verdict"]].assign(
                    verdict=with_range["verdict"].str.removesuffix(" the human range")
                ),
                style,
            )
        by_kind = decisive[_decides(self.differences)].groupby("agreement", sort=False)
        if best := [own[~own["judge"].isin(own["other"])] for _, own in by_kind]:
            columns = ["agreement", "judge", "other", "difference", "ci_low", "ci_high"]
            least = least_p(self.agreement["judge"].nunique(), self.draws)
            tables["differences"] = Part(
                f"Agreement with {self.reference} of other judges, less the best judge's:",
                pd.concat(best)[[*columns, "p_corrected"]],
                style | {"group_by": "agreement", "zero_p": least},
            )
        for kind, shown in self.matrices.items() if self.agreement["judge"].nunique() > 1 else ():
            tables["among" if kind == DOCUMENTS else kind] = Part(
                f"Agreement of every two judges, {kind}:", shown
            )
        if self.favoured is not None:
            columns = ["judge", "measure", "run", "value", "people", "favour", "p", "judged"]
            tables["favoured"] = Part(
                "Runs by how much a judge favours them:", self.favoured[columns], style
            )
        if self.reversals is not None:
            tables["reversals"] = Part(
                "Pairs of runs in the opposite order, and where both orders are significant:",
                self.reversals[["judge", "measure", "pairs", *_REVERSALS]],
                {"titles": _REVERSALS},
            )
        if self.confusion is not None:
            tables["confusion"] = Part(
                f"Documents by grade of {self.reference} (rows) and of the judge (columns):",
                counts_by_grade(self.confusion),
                {"group_by": "judge"},
            )
        return tables

    def chart(self, kind: str = CHARTS[0]) -> Any:
        """A picture of the judges.

        Args:
            kind: ``'agreement'``: the agreement of each judge with the reference, with its interval
                and the agreement among people; ``'among'``: the agreement of every two judges;
                ``'favoured'``: the value of each run by each judge against its value by people.
        """
        check_name("kind", kind, CHARTS)
        if kind == CHARTS[0]:
            return self._agreement_chart()
        if kind == CHARTS[1]:
            return among_chart(self.among)
        if self.favoured is None or self.favoured.empty:
            raise ValueError(
                f"no favour was tested: {FEW_RUNS} runs, {FEW_QUERIES} queries and a judge who is "
                "not a person are needed"
            )
        return favoured_chart(self.favoured, self.alpha)

    def _agreement_chart(self) -> Any:
        shown = self.agreement[_decides(self.agreement)]
        panel = [
            DOCUMENTS if kind == DOCUMENTS else f"{kind}, {measure}"
            for kind, measure in zip(shown["agreement"], shown["measure"])
        ]
        label = [f"{judge} (n = {pairs:,})" for judge, pairs in zip(shown["judge"], shown["pairs"])]
        columns = ["ci_low", "ci_high", "human_low", "human_high", "verdict", "pairs", "queries"]
        base = alt.Chart().encode(
            y=alt.Y("label:N", sort=None, title=None),
            tooltip=tooltips("judge", "agreement", "value", *columns),
        )
        ends = {"x": alt.X("human_low:Q"), "x2": alt.X2("human_high:Q")}
        band = alt.Chart().mark_rect(opacity=0.15, color="gray").encode(**ends)
        if shown["human_low"].equals(shown["human_high"]):  # one pair of people
            band = alt.Chart().mark_rule(color="gray", strokeWidth=2).encode(x="human_low:Q")
        layers = band, ranges(base, "ci_low", "value", "ci_high", "agreement")
        drawn = (
            alt.layer(*layers, data=shown.assign(panel=panel, label=label))
            .properties(width=240, height=alt.Step(2 * STEP))
            .facet(column=alt.Column("panel:N", sort=list(dict.fromkeys(panel)), title=None))
            .resolve_scale(x="independent")
        )
        caption = (
            f"Agreement with {self.reference}, with its interval over the queries, on n pairs of "
            "query and document. "
        ) + (
            "Grey: how people agree with each other on these pairs."
            if len(self.people) > 1
            else "There is one person, so there is no human range."
        )
        return captioned(drawn, "Judges and people", caption)


def _decides(frame: pd.DataFrame) -> pd.Series[bool]:
    """Whether rows are about kappa or tau."""
    return frame["agreement"].isin([DOCUMENTS, SYSTEMS])


def _with_measure(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the measure after the kind of agreement."""
    names = [f"{kind} {name}".rstrip() for kind, name in zip(frame["agreement"], frame["measure"])]
    return frame.assign(agreement=names)
