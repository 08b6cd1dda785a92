"""The command ``judges``: agreement of people, crowds and machines with a person.

\b
Examples:
  pyterrier-asl judges nist.txt --judge crowd=crowd.txt
  pyterrier-asl judges nist.txt runs/ --judge umbrela=umbrela.txt --judge llama=llama.txt \\
      --rel 2 --judge-rel llama=1 -m 'nDCG@10 AP'
  pyterrier-asl judges nist.txt runs/ --judge second=second.txt --person second --judge gpt=gpt.txt
  pyterrier-asl judges nist.txt runs/ --judge gpt=gpt.txt --show favoured -o tsv > favoured.tsv

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
  p          of two judges: corrected for all pairs of judges
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from ..assessment import compare_judges as library
from ..printing.tables import write
from . import epilog, options, outputs, print_notes

#: The tables of the report: the values of ``--show``.
TABLES = ("agreement", "differences", "among", "favoured", "reversals", "confusion")


@click.command(name="judges", cls=outputs.Command, epilog=epilog(__doc__))
@options.qrels
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@options.of(
    library.judges,
    measures={"help": "Measures of the leaderboards, in one or several -m.", "none": "AP"},
    reference=None,
    test=None,
)
@options.matching
@click.option("--reference", metavar="NAME", help="The name of QRELS.  [default: its file name]")
@outputs.show(*TABLES, help="Required with -o, except with -o latex.")
@outputs.chart("Also draw the agreements with their intervals")
@outputs.places
@outputs.output("The form of the table of --show.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    show: str | None,
    reference: str | None,
    places: int,
    form: str,
    **_: Any,
) -> None:
    """Can these judges be trusted? Compare people, crowds and machines with a person.

    Begins with the judge that agrees best, and a line per judge: what its labels can be used for,
    and with RUNs which of them it favours. Then it shows the agreements with intervals, the judges
    that can be distinguished, and which grades differ.
    """
    if form not in ("table", "latex") and show is None:
        raise click.UsageError(f"-o {form} has one table: choose it by --show")
    outputs.check_chart()
    report = library.judges(
        options.qrels_of(qrels),
        runs=options.runs_of(list(runs)) or None,
        reference=reference or Path(qrels).name,
        **options.given(),
    )
    if form == "latex":
        click.echo(report.to_latex(show or TABLES[0], places=places), nl=False)
    elif show is None:
        report.show(places=places)
    else:
        table = getattr(report, show)
        if table is None:
            raise click.UsageError(f"--show {show} needs runs")
        write(table, form, places=places)
    print_notes(report.notes, "" if show else form)
    outputs.save_chart(partial(report.chart, show if show in library.CHARTS else library.CHARTS[0]))
