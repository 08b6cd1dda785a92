"""The command ``judges``: agreement of people, crowds and machines with a person.

\b
Examples:
  pyterrier-asl judges nist.txt --judge crowd=crowd.txt
  pyterrier-asl judges nist.txt runs/ --judge umbrela=umbrela.txt --judge llama=llama.txt \\
      --rel 2 --judge-rel llama=1 -m 'nDCG@10 AP'
  pyterrier-asl judges nist.txt runs/ --judge second=second.txt --person second --judge gpt=gpt.txt
  pyterrier-asl judges nist.txt runs/ --judge gpt=gpt.txt --show gains -o tsv > gains.tsv

\b
How to read it: QRELS is the reference, the judgements of a person (--reference names it).
  kappa      agreement beyond chance on which documents are relevant, by --rel; at most 1
  tau        agreement on the ranking of the runs; tau_AP and RBO weight the top more
  from, to   its confidence interval over queries like these
  people     agreement of people among themselves (--person names the judges who are people), on
             the pairs of query and document that they and the judge have judged
  verdict    within the human range: the whole interval is at most .05 below the agreement of
             people; below it: the whole interval is lower than that; otherwise too few queries
  favours    the judge's value of a run is higher than its value by people lets expect
  own gain   the effect of a judge on the value of a run, minus its mean effect on all runs; a
             negative one is a gain in ASL, as lower is better
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from ..io.tables import write
from . import Command, epilog, options

#: The tables of the report: the values of ``--show``.
TABLES = (
    "favoured",
    "agreement",
    "reversals",
    "gains",
    "group-gains",
    "leniency",
    "confusion",
    "as-systems",
)


@click.command(name="judges", cls=Command, epilog=epilog(__doc__))
@options.qrels
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@options.judges(
    required=True, help="A judge: a name, and a file or ir_datasets id; can be given again."
)
@options.about_judges
@options.rel_of_measures
@options.measures("of the leaderboards.  [default: AP]")
@options.text_option("--groups", "TSV", "Lines of run and group: also show which groups gain.")
@click.option(
    "--show",
    type=click.Choice(TABLES),
    help="Only this table; required with -o. With 'favoured', --chart draws the values of the runs "
    "by each judge and by people.",
)
@options.text_option("--reference", "NAME", "The name of QRELS.  [default: its file name]")
@options.duplicates
@options.drop_self
@options.collapse
@options.alpha
@options.seed(help="Seed of the bootstrap over queries.")
@click.option(
    "--draws",
    type=options.NUMBER,
    default=1000,
    show_default=True,
    help="Draws of the bootstrap.",
)
@options.chart("Also draw the agreements with their intervals")
@options.places
@options.output_format(help="The form of a table.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    judges: tuple[str, ...],
    judge_rel: tuple[str, ...],
    rel: float | None,
    measures: tuple[str, ...],
    groups: str | None,
    show: str | None,
    reference: str | None,
    chart: str | None,
    title: bool,
    places: int,
    output_format: str,
    **settings: Any,
) -> None:
    """Can these judges be trusted? Compare people, crowds and machines with a person.

    Begins with a line per judge: what its labels can be used for. With RUNs, it names the runs that
    each judge favours. Then it shows the agreements with intervals, which runs gain, how lenient
    each judge is, and which grades differ.
    """
    from ..analysis import command_line
    from ..assessment.compare_judges import judges as compare_judges
    from ..io.names import read_groups

    if output_format != "table" and show is None:
        raise click.UsageError(f"-o {output_format} has one table: choose it by --show")
    qrels_of_judges = command_line.read_judges_by_name(judges)
    options.check_chart(chart, [qrels, *runs, *qrels_of_judges.values(), groups])
    report = compare_judges(
        qrels,
        qrels_of_judges,
        list(runs) or None,
        list(measures) or None,
        reference=reference or Path(qrels).name,
        rel=rel,
        judge_rel=command_line.read_grades(judge_rel),
        groups=read_groups(groups) if groups else None,
        **settings,
    )
    if show is None:
        report.show(places=places)
    else:
        table = getattr(report, show.replace("-", "_"))
        if table is None:
            needs = "--groups and runs" if show == "group-gains" else "runs"
            raise click.UsageError(f"--show {show} needs {needs}")
        write(table, output_format, places=places)
    kind = "favoured" if show == "favoured" else "agreement"
    options.save_chart(partial(report.chart, kind), chart, title=title)
