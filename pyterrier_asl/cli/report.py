"""The command ``report``: an HTML page about runs.

\b
Examples:
  pyterrier-asl report qrels.txt runs/ -o report.html
  pyterrier-asl report irds:vaswani a.run b.run -o report.html --dataset irds:vaswani
  pyterrier-asl report dl20.qrels runs/ --rel 2 --topics topics.tsv -o dl20.html
  pyterrier-asl report qrels.txt runs/ -m 'LexiP ASL@100 AP' -o report.html
  pyterrier-asl report --scores perquery.csv -o report.html

\b
The page is one file that opens without a network. The same input makes the same file.
It needs Altair and vl-convert: pip install 'pyterrier-asl[report]'.
"""

from __future__ import annotations

import shlex
from typing import Any

import click

from . import epilog, options


@click.command(name="report", epilog=epilog(__doc__))
@options.qrels_if_any
@options.runs_if_any
@options.scores
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The HTML file to write, or to replace."
)
@options.force
@options.measures(
    "as 'evaluate' takes them; the first decides who is best. Default: ours, and AP, nDCG@10, RR, "
    "R@1000, Judged@10."
)
@options.rel(
    help="Least grade of a relevant document, for measures that do not say.  [default: 1, or for "
    "the default measures what an ir_datasets id says]"
)
@click.option(
    "-k",
    "--depth",
    "cutoff",
    type=options.NUMBER,
    default=1000,
    show_default=True,
    help="Depth to which every run is read.",
)
@options.topics
@options.docs
@options.labels
@options.text_option("--dataset", "irds:ID", "ir_datasets collection with the texts to be shown.")
@click.option("--title", help="The heading.  [default: how many systems, and QRELS]")
@click.option("--note", default="", help="A line at the end, such as a date.")
@options.alpha
@options.lengths
@options.groups
@options.duplicates
@options.switch(
    "--unjudged",
    help="Also the ranks that systems could have whatever their unjudged documents are, for "
    "measures with a cut-off of at most 100; minutes for many systems.",
)
@options.switch(
    "--stability",
    help="How many pairs each measure distinguishes, and how stable it is on half of the queries.",
)
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    scores: tuple[str, ...],
    output: str,
    force: bool,
    measures: tuple[str, ...],
    labels: tuple[str, ...],
    groups: str | None,
    **settings: Any,
) -> None:
    """Make a page about runs: who could be the best, why, and which relevant documents are missed.

    QRELS is a file, or the id of an ir_datasets dataset with judgements; RUN are files (plain or
    compressed) or folders of them. With --scores in their place the page has what needs no
    documents: ranking, pairs and queries.
    """
    from ..evaluation.files import read_groups
    from ..io.atomic import check_replaceable
    from ..reporting import PAGE, report

    files = [settings[name] for name in ("topics", "docs", "lengths")]
    inputs = filter(None, [qrels, *runs, *scores, *labels, groups, *files])
    check_replaceable(output, inputs=inputs, begins=PAGE, force=force)
    of_scores = {name: settings.pop(name) for name in options.OF_SCORES}
    source, judgements = options.sources(qrels, runs, (), scores, measures=measures, **of_scores)
    page = report(
        source,
        judgements,
        list(measures) or None,
        labels=options.read_labels(labels),
        **settings,
        groups=read_groups(groups) if groups else None,
        command=_command_line(click.get_current_context()),
    )
    page.save(output, force=force)
    click.echo(f"{output}: {page!r}")


def _command_line(context: click.Context) -> str:
    """The command with the arguments and options that were given."""
    words = ["pyterrier-asl", "report"]
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        option = parameter.opts[-1:] if isinstance(parameter, click.Option) else []
        for word in value if isinstance(value, tuple) else (value,):
            words += option if word is True else [*option, word]
    return shlex.join(map(str, words))
