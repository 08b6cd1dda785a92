"""Audited evaluation: runs measured by many labels of a machine and few labels of people.

The formulas are in :mod:`~pyterrier_asl.statistics.prediction_powered`. They are applied to
:mod:`~pyterrier_asl.assessment.audited_runs`, whose queries for people
:mod:`~pyterrier_asl.assessment.audit_plan` draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..charts.drawing import PANEL, ROW, alt, captioned, category, ranges, tooltips
from ..common.lazy import pd
from ..common.notices import counted, names_of
from ..common.parameters import taking_other_names
from ..common.types import Floats, Ints
from ..evaluation.evaluation import Runs
from ..evaluation.facts import without_relevant
from ..evaluation.sources import QrelsLike, on_grades, refuse, refuse_unused
from ..measures.parsing import Measures, NamedMeasure, named_measures
from ..printing.printed import Part, Printed
from ..printing.tables import latex
from ..statistics.prediction_powered import TARGETS, PredictionPowered, prediction_powered
from ..statistics.tests import with_corrected_p
from .audited_runs import MACHINE, PEOPLE, AuditedRuns, means_and_differences
from .judges import FEW_QUERIES

#: Intervals can be too narrow if fewer values differ from the most frequent value.
_FEW_DIFFERENT = 5

#: The columns of each estimate and of its interval, by whose labels it is.
_COLUMNS = {
    "both": ("estimate", "ci_low", "ci_high"),
    "people": ("people", "people_low", "people_high"),
    "machine": ("machine", "machine_low", "machine_high"),
}

#: The columns of printed tables of means, which fit into 80 characters; of differences with p.
_SHOWN = ["run", "estimate", "ci_low", "ci_high", "people", "machine", "saved"]
_TITLES = {"ci_low": "from", "ci_high": "to", "p_corrected": "p (holm)"}

#: The least p-value that sentences show.
_LEAST_P = 1e-4

#: The number of differences that sentences are printed of.
_HEADLINES = 10


@taking_other_names
def audit(
    runs: Runs,
    qrels: QrelsLike,
    measures: Measures,
    machine: QrelsLike,
    *,
    target: str = TARGETS[0],
    baseline: str | None = None,
    all_pairs: bool = False,
    rel: float | None = None,
    machine_rel: float | None = None,
    alpha: float = 0.05,
    name: str = MACHINE,
) -> Audit:
    """Means and differences by a machine's labels of many queries and people's of some of them.

    The estimate is right on average whatever the machine's bias, and as narrow as the machine is
    good, **if the queries that people judged were drawn at random** from the machine's queries, for
    example by :func:`~pyterrier_asl.plan_audit`. This cannot be checked.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation.
        qrels: people's judgements: frame, file, ir_datasets id, or :class:`~pyterrier_asl.Qrels`;
            or a list of files of labels, one for each round of the audit.
        measures: measures or their names.
        machine: the machine's judgements, of the same queries and of more.
        target: ``'queries-like-these'``, the mean over the population of which the queries are a
            sample, or ``'these-queries'``, the mean over the machine's queries if people judged all
            of them. The interval of the second is narrower and holds for these queries only.
        baseline: the run with which others are compared; None: the first, and the note says so.
        all_pairs: compare every two runs, not only each run with the baseline.
        rel: minimum grade of a relevant document, for measures without one.
        machine_rel: the same for the machine's grades, if their scale differs. It replaces ``rel``
            and the ``rel`` of a measure, and is then shown after the name of the measure.
        alpha: the level of significance; intervals cover 1 - alpha. p is
            corrected (Holm) over the differences of a measure.
        name: the name of the machine in sentences.

    Returns:
        The estimates; ``print`` shows them as the command does.

    Raises:
        ValueError: for people's queries that the machine has not judged, fewer than 3 queries, a
            machine that finds nothing relevant in people's queries, an unknown target, and as
            :func:`~pyterrier_asl.evaluate`.

    >>> qids = [str(number) for number in range(12)]
    >>> runs = {"first": {q: {"a": 2, "b": 1} for q in qids},
    ...         "second": {q: {"b": 2, "a": 1} for q in qids}}
    >>> machine = {q: {"a": 1, "b": int(q) % 2 == 0} for q in qids}
    >>> people = {q: {"a": 1, "b": int(q) in (0, 2, 4, 6, 7)} for q in qids[:10]}
    >>> estimates = audit(runs, people, "AP", machine)
    >>> estimates.table[["run", "minus", "estimate", "people", "machine"]].round(3)
          run  minus  estimate  people  machine
    0   first             1.00    1.00     1.00
    1  second             0.75    0.75     0.75
    2  second  first     -0.25   -0.25    -0.25
    """
    if all_pairs:
        refuse("is for differences from one run, not for all pairs", baseline=baseline)
    named = refuse_unused(named_measures(measures), "rel", rel=rel, machine_rel=machine_rel)
    sample = AuditedRuns.of(runs, qrels, machine, rel, machine_rel, name)
    asked = {measure.name: measure.measure for measure in named}
    notes = [*sample.judges.notes_on(named), *on_grades(sample.judges.judgements, asked, rel)]
    if sample.size < FEW_QUERIES:
        notes.append(
            f"people have judged {counted(sample.size, 'query', 'queries')}: below "
            f"{FEW_QUERIES} the intervals cannot be relied on"
        )
    systems = sample.judges.systems
    first = 0 if baseline is None else sample.judges.runs_by(PEOPLE).row(baseline)
    rows, less = means_and_differences(len(systems), first, all_pairs)
    parts: list[pd.DataFrame] = []
    headlines: list[str] = []
    remarks: list[str] = []
    by_people, by_machine = (len(own.judgements.grades) for own in sample.judges.members.values())
    labels = (
        f"by {by_people:,} labels of people, of {sample.size} of {len(sample.qids)} queries, and "
        f"{by_machine:,} labels of {name}"
    )
    for measure in named:
        sample.check_machine(measure)
        h, f, rest = sample.values(measure, rows, less)
        estimates = prediction_powered(h, f, rest, target=target, alpha=alpha)
        part = with_corrected_p(_table(sample, measure, estimates, rows, less), "t", "holm", alpha)
        notes += _on_equal_values(part, estimates.differing)
        headlines += _headlines(part, measure.higher_is_better, labels, name)
        remarks += _without_interval(part, h, rest)
        parts.append(part)
    first_run = "" if baseline is not None or all_pairs else systems[0]
    pooled = [measure.name for measure in named if sample.is_deeper(measure)]
    note = _note(sample, target, alpha, int((less >= 0).sum()), first_run, pooled)
    notes += without_relevant(sample.judges.members[PEOPLE].judgements, asked)
    notes += [note for note in sample.judges.facts(named, name).notes if note not in notes]
    return Audit(pd.concat(parts, ignore_index=True), note, headlines, remarks, notes)


def _table(
    sample: AuditedRuns, measure: NamedMeasure, estimates: PredictionPowered, rows: Ints, less: Ints
) -> pd.DataFrame:
    """The estimates by a measure: means, with ``less`` -1, and differences."""
    names = np.array([*sample.judges.systems, ""], dtype=object)
    judged = sample.judged(measure)
    return pd.DataFrame(
        {
            "measure": sample.judges.label(measure) + " by a pool" * sample.is_deeper(measure),
            "run": names[rows],
            "minus": names[less],
            **{
                column: getattr(getattr(estimates, by), end)
                for by, names_of_columns in _COLUMNS.items()
                for column, end in zip(names_of_columns, ("mean", "low", "high"))
            },
            "lambda": estimates.lambda_,
            "saved": estimates.saved,
            **dict(zip(("saved_low", "saved_high"), estimates.saved_limits)),
            "judged": np.minimum(judged[rows], np.where(less < 0, 1.0, judged[less])),
            "p": np.where(less >= 0, estimates.both.p, np.nan),
        }
    )


def _note(
    sample: AuditedRuns,
    target: str,
    alpha: float,
    differences: int,
    first_run: str,
    pooled: list[str],
) -> str:
    """What the estimates are about, and on which assumptions.

    Args:
        sample: the runs, with people's and the machine's queries.
        target: the target.
        alpha: intervals cover 1 - alpha.
        differences: the number of differences of a measure.
        first_run: the run that is the baseline because nobody named one; '' for another.
        pooled: the measures that look at more documents than people judged.
    """
    people, machine = sample.size, len(sample.qids)
    these = "queries like these"
    if target != TARGETS[0]:
        these = f"these {machine} queries, if people judged all of them"
    sentences = [
        f"Means over {these}, with {100 * (1 - alpha):g} % "
        f"intervals, from people's labels of {people} queries and the machine's labels of "
        f"{machine}.",
        "People have judged all of them, so the machine changes no estimate."
        if people == machine
        else f"They hold if the {people} queries were drawn at random from the {machine}, which "
        "cannot be checked here. Each row has another lambda, so a difference can differ from the "
        "difference of its two means.",
    ]
    if pooled:
        depth = f"only the first {counted(sample.depth or 0, 'document')}"
        sentences.append(
            f"People judged {depth if sample.depth else 'not even the first document'} of every "
            f"run. {names_of(pooled)} {'looks' if len(pooled) == 1 else 'look'} at more: other "
            "documents count as not relevant, and values by full qrels differ."
        )
    sentences += [
        f"p is corrected for the {differences} differences of a measure (Holm); the intervals are "
        "not."
    ] * (differences > 1)
    sentences += [f"The runs are compared with {first_run}, the first; baseline names another."] * (
        differences > 1 and bool(first_run)
    )
    return " ".join(sentences)


@dataclass(frozen=True, repr=False, eq=False)
class Audit(Printed):
    """The result of :func:`audit`; ``print`` shows what the command prints.

    Attributes:
        table: one row for each measure and run, then one for each difference, with ``measure``,
            ``run``, ``minus`` (the run that is subtracted, '' for a mean); ``estimate``,
            ``ci_low``, ``ci_high``; the same by people alone, ``people``, ``people_low``,
            ``people_high``, and by the machine alone, ``machine``, ``machine_low``,
            ``machine_high`` (NaN for these queries, because the machine's error is unknown);
            ``lambda``, the weight of the machine; ``saved``, the number of further queries that
            people would have to judge for the same interval without the machine, ``saved_low``,
            ``saved_high``; ``judged``, the share of the documents to the cut-off that people judged
            in their queries, of a difference the lower one of its two runs; of a difference ``p``,
            two-sided, ``p_corrected`` (Holm) and ``significant``. Where people's values are all
            equal, the intervals with people, p and ``saved`` are NaN.
        note: the assumptions of the intervals.
        headlines: a sentence per difference, or per mean of a single run.
        remarks: sentences on estimates without an interval.
        notes: sentences on what must be known of the runs and the machine's judgements.
    """

    table: pd.DataFrame
    note: str
    headlines: list[str]
    remarks: list[str]
    notes: Sequence[str] = ()

    def sentences(self) -> list[str]:
        """A sentence per difference, the assumptions, and the estimates without an interval."""
        return [*self.headlines, self.note, *self.remarks]

    def parts(self) -> Iterator[Part]:
        """The first headlines, the tables of means and differences, then the other sentences."""
        yield from map(Part, self.headlines[:_HEADLINES])
        for (measure, minus), rows in self.table.groupby(["measure", "minus"], sort=False):
            shares = sorted({f"{100 * share:.0f}" for share in rows["judged"]}, key=float)
            judged = " to ".join(dict.fromkeys([shares[0], shares[-1]]))
            yield Part(
                f"{measure}, {f'less {minus}' if minus else 'means'} (people judged {judged} % of "
                "the documents to the cut-off):",
                rows[[*_SHOWN[:-1], "p_corrected"] if minus else _SHOWN],
                {"titles": _TITLES},
            )
        yield Part("")
        yield from map(Part, [self.note, *self.remarks, *self.notes])

    def to_latex(self, *, places: int = 4) -> str:
        """The estimates with a caption: a ``table`` with a ``tabular`` with rules of booktabs.

        Args:
            places: decimal places.
        """
        table = self.table.assign(estimate_of=names_of_estimates(self.table))
        shown = table[["measure", "estimate_of", *_SHOWN[1:], "p_corrected"]]
        titles = _TITLES | {"estimate_of": "mean or difference"}
        return latex(shown, places=places, titles=titles, caption=self.note)

    def chart(self) -> Any:
        """The estimate of each run, by people alone and by the machine alone, with intervals."""
        kind = np.where(self.table["minus"] == "", "means", "differences")
        about = self.table[["measure"]].assign(what=names_of_estimates(self.table), kind=kind)
        shown = pd.concat(
            [
                about.assign(by=by if by == "both" else f"{by} alone").join(
                    self.table[[*columns]].set_axis(["value", "low", "high"], axis=1)
                )
                for by, columns in _COLUMNS.items()
            ],
            ignore_index=True,
        )
        panels = [
            _estimates(f"{measure}: {of}", part)
            for (measure, of), part in shown.groupby(["measure", "kind"], sort=False)
        ]
        return captioned(alt.concat(*panels, columns=2), "The machine audited by people", self.note)


def _headlines(
    part: pd.DataFrame, higher_is_better: bool | None, labels: str, name: str
) -> Iterator[str]:
    """A sentence per difference of a measure, or per mean where there is a single run."""
    rows = part if len(part) == 1 else part[part["minus"] != ""]
    family = f", corrected for {len(rows)} differences" if len(rows) > 1 else ""
    for what, row in zip(names_of_estimates(rows), rows.to_dict("records")):
        answer = f"{row['measure']}, {what} = {row['estimate']:+.3f}"
        if np.isnan([row["ci_low"], row["ci_high"]]).any():
            yield f"{answer} {labels}: there is no interval."
            continue
        answer += f" [{row['ci_low']:+.3f}, {row['ci_high']:+.3f}]"
        better = ""
        if row["minus"]:
            p = row["p_corrected"]
            answer += f" (p {f'= {p:.3g}' if p >= _LEAST_P else f'< {_LEAST_P:g}'}{family})"
            if higher_is_better is not None:
                winner = row["run"] if (row["estimate"] > 0) == higher_is_better else row["minus"]
                better = (
                    f"{winner} is better; " if row["significant"] else "no significant difference; "
                )
        gain = np.nan_to_num(row["saved"], posinf=0)
        saved = "saves no labels"
        if abs(gain) > 0.5:
            saved = "costs precision worth" if gain < 0 else "saves labels of"
            saved += f" {counted(round(abs(gain)), 'query', 'queries')}"
        ends = np.nan_to_num([row["saved_low"], row["saved_high"]], posinf=0)
        between = f" ({ends[0]:.0f} to {ends[1]:.0f})" if ends.any() and gain > 0 else ""
        yield f"{answer} {labels}: {better}{name} {saved}{between}."


def _on_equal_values(part: pd.DataFrame, differing: Ints) -> Iterator[str]:
    """A sentence on estimates for which most of people's values are equal."""
    if few := names_of_estimates(part[(differing > 0) & (differing < _FEW_DIFFERENT)]):
        yield (
            f"{part['measure'].iloc[0]}: fewer than {_FEW_DIFFERENT} of people's values of "
            f"{names_of(few)} differ from the most frequent value: these "
            "intervals can be too narrow; have people judge more queries"
        )


def _without_interval(part: pd.DataFrame, h: Floats, rest: Floats) -> Iterator[str]:
    """A sentence on the estimates without an interval, where people's values are all equal."""
    values = pd.Series([f"{value:.4g}" for value in h[:, 0]], part.index)
    for value, rows in part[part["ci_low"].isna()].groupby(values, sort=False):
        yield (
            f"{part['measure'].iloc[0]}, {names_of(names_of_estimates(rows))}: all "
            f"{h.shape[1]} audited queries have the value {value}, so there is no interval: "
            "nothing can be said about "
            + (f"the other {rest.shape[1]}." if rest.shape[1] else "other queries.")
        )


def names_of_estimates(frame: pd.DataFrame) -> list[str]:
    """The run, or the difference of two, of each row of :attr:`Audit.table`."""
    return [f"{a} - {b}" if b else a for a, b in zip(frame["run"], frame["minus"])]


def _estimates(title: str, part: pd.DataFrame) -> Any:
    """One row per mean or difference, with its three estimates one below the other."""
    names = part["by"].drop_duplicates().tolist()
    base = alt.Chart(part, title=title, width=PANEL, height=alt.Step(ROW)).encode(
        y=alt.Y("what:N", sort=None, title=None),
        yOffset=alt.YOffset("by:N", sort=names),
        color=category("by", "by", domain=names),
        tooltip=tooltips("measure", "what", "by", "value", "low", "high"),
    )
    return ranges(base, "low", "value", "high", None)
