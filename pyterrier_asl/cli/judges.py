"""``pyterrier-asl judges``.

\b
Examples:
  pyterrier-asl judges nist.txt --judge crowd=crowd.txt
  pyterrier-asl judges nist.txt runs/ --judge umbrela=umbrela.txt --judge llama=llama.txt \\
      --rel 2 --judge-rel llama=1 -m 'nDCG@10 AP'
  pyterrier-asl judges nist.txt runs/ --judge second=second.txt --person second --judge gpt=gpt.txt
  pyterrier-asl judges nist.txt runs/ --judge gpt=gpt.txt --show gains -o tsv > gains.tsv

\b
How to read it: QRELS is the reference, the judgements of a person.
  kappa      agreement on documents beyond chance, 1 is complete; relevant or not, by --rel
  tau        agreement on the ranking of the runs; tau_AP and RBO care more about the top
  from, to   its interval over queries like these
  human      how people agree with each other (--person says which judges are people)
  verdict    within the human range: at most .05 less than people agree with each other, by the
             whole interval; below it: more than that, by the whole interval; else it cannot be
             said with so few queries
  own gain   what a judge adds to a run beyond what it adds to all runs on average
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import epilog, options

if TYPE_CHECKING:
    from ..analysis.judge_report import JudgeReport

#: The tables that there are, by the name that ``--show`` takes.
TABLES = (
    "agreement",
    "reversals",
    "gains",
    "group-gains",
    "leniency",
    "confusion",
    "as-systems",
)

#: How many runs and groups are shown that gain or lose most.
_MOST = 5
_WIDTH = 100


@click.command(name="judges", epilog=epilog(__doc__))
@options.qrels
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    required=True,
    metavar="NAME=QRELS",
    help="A judge: a name, and a file or ir_datasets id. Can be given again.",
)
@options.repeated(
    "--judge-rel",
    metavar="NAME=GRADE",
    help="Least grade of a relevant document by this judge.  [default: as --rel]",
)
@options.repeated(
    "--person",
    "people",
    metavar="NAME",
    help="This judge is a person, too, and belongs to the human range. Can be given again.",
)
@options.rel("Least grade of a relevant document, by the reference.  [default: 1]")
@options.measures("of the leaderboards.  [default: AP]")
@options.text_option("--groups", "TSV", "Lines of run and group: say also which groups gain.")
@click.option(
    "--show", type=click.Choice(TABLES), help="Only this table; needed for all -o but table."
)
@options.duplicates
@options.alpha
@options.seed("Seed of the bootstrap over queries.")
@click.option(
    "--n-resamples",
    type=options.NUMBER,
    default=1000,
    show_default=True,
    help="Draws of the bootstrap.",
)
@options.chart("Draw the intervals with the human range")
@options.places
@options.output_format("What a table is printed as.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    judges: tuple[str, ...],
    judge_rel: tuple[str, ...],
    rel: float | None,
    measures: tuple[str, ...],
    groups: str | None,
    show: str | None,
    chart: str | None,
    width: str | None,
    title: bool,
    places: int,
    output_format: str,
    **given: Any,
) -> None:
    """Can these judges be trusted? Compare people, crowds and machines with a person.

    On documents and, with RUNs, on the ranking of the runs, with intervals, the human range and a
    verdict; then which runs gain, how lenient each judge is, and where grades differ.
    """
    from ..analysis import command_line as typed
    from ..analysis.judge_report import judges_chart
    from ..analysis.judge_verdict import judges as compare_judges
    from ..charts.saving import check_path
    from ..evaluation.files import read_groups
    from ..io.tables import write

    if output_format != "table" and show is None:
        raise click.UsageError(f"-o {output_format} has one table: say which by --show")
    named = typed.read_judges(judges)
    if chart:
        check_path(chart, inputs=[qrels, *runs, *named.values(), *filter(None, [groups])])
    report = compare_judges(
        qrels,
        named,
        list(runs) or None,
        typed.read_measures(measures or ["AP"]),
        reference=Path(qrels).name,
        rel=1 if rel is None else rel,
        judge_rel=typed.read_judge_rel(judge_rel),
        groups=read_groups(groups) if groups else None,
        **given,
    )
    if show is None:
        _print_all(report, places)
    else:
        table = getattr(report, show.replace("-", "_"))
        if table is None:
            needs = "--groups and runs" if show == "group-gains" else "runs"
            raise click.UsageError(f"--show {show} needs {needs}")
        write(table, output_format, places=places)
    if chart:
        options.draw(judges_chart(report), chart, width=width, title=title)


def _print_all(report: JudgeReport, places: int) -> None:
    """Prints everything, the sentences first."""
    from ..io.tables import show

    def heading(text: str) -> None:
        click.echo(f"\n{text}\n")

    for sentence in [*report.sentences(), *report.ceilings()]:
        click.echo(textwrap.fill(sentence, _WIDTH, subsequent_indent="  "))
    heading(f"Agreement with {report.reference}:")
    titles = {"ci_low": "from", "ci_high": "to", "less_low": "from ", "less_high": "to "}
    agreement = report.agreement.drop(columns="reference")
    if agreement["human_low"].isna().all():
        agreement = agreement.drop(
            columns=["human_low", "human_high", "less_human", "less_low", "less_high"]
        )
    show(agreement, places=places, titles=titles, group_by="judge")
    if report.reversals is not None:
        heading("Pairs of runs that a judge puts the other way round:")
        show(report.reversals, places=places)
    for what, gains in (("Runs", report.gains), ("Groups", report.group_gains)):
        if gains is not None:
            heading(f"{what} that gain or lose most by a judge, beyond what all gain on average:")
            first = gains.groupby(["judge", "measure"], sort=False).head(_MOST)
            kept = [name for name in first if name not in ("effect", "statistic", "p")]
            show(first[kept], places=places, titles=titles, group_by="judge")
    heading(f"What each judge makes of the grades of {report.reference}:")
    show(report.leniency, places=places, group_by="judge")
    for judge in dict.fromkeys(report.confusion["judge_b"]):
        matrix: Any = report.matrix(str(judge))
        heading(f"Documents by grade, {report.reference} in rows, {judge} in columns:")
        matrix.columns = [f"{grade:g}" for grade in matrix.columns]
        show(matrix.rename_axis(index="grade").reset_index(), places=places)
    heading("Each judge's relevant documents scored as a run by another judge (MAP):")
    show(report.as_systems, places=places, group_by="judged_by")
