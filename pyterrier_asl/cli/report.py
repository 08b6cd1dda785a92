"""The command ``report``: an HTML page about runs.

\b
Examples:
  pyterrier-asl report qrels.txt runs/ -o report.html
  pyterrier-asl report irds:vaswani a.run b.run -o report.html --dataset irds:vaswani
  pyterrier-asl report dl20.qrels runs/ --rel 2 --topics topics.tsv -o dl20.html
  pyterrier-asl report qrels.txt runs/ -m 'LexiP ASL@100 AP' -o report.html
  pyterrier-asl report --scores perquery.csv -o report.html
  pyterrier-asl report nist.txt runs/ -m nDCG@10 --judge gpt=gpt.txt --judge-rel gpt=2 -o r.html
  pyterrier-asl report --track dl19 dl19.txt dl19/ --track dl20 dl20.txt dl20/ -o r.html

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
    help="Depth to which every run is read.  [default: 1000]",
)
@options.topics
@options.docs
@options.labels
@options.text_option("--dataset", "irds:ID", "ir_datasets collection with the texts to be shown.")
@click.option("--title", help="The heading.  [default: how many systems, and QRELS]")
@click.option("--note", default="", help="A line at the end, such as a date.")
@options.tracks("-t")
@options.judges(
    help="Another judge: a name, and a file or ir_datasets id; of a track TRACK=NAME=QRELS. Can be "
    "given again."
)
@options.about_judges
@options.alpha
@options.lengths
@options.groups
@options.duplicates
@options.drop_self
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
    tracks: tuple[tuple[str, str, str], ...],
    judges: tuple[str, ...],
    judge_rel: tuple[str, ...],
    **settings: Any,
) -> None:
    """Make a page about runs: who could be the best, why, and which relevant documents are missed.

    QRELS is a file, or the id of an ir_datasets dataset with judgements; RUN are files (plain or
    compressed) or folders of them. With --scores instead, the page has what needs no documents:
    ranking, pairs and queries. With --track or --judge it also says who could be the best over all
    tracks, whichever judge is right; pairs, queries and documents are those of the first track.
    """
    from ..analysis import command_line
    from ..io.atomic import check_replaceable
    from ..io.names import read_groups
    from ..reporting import PAGE, report

    files = [settings[name] for name in ("topics", "docs", "lengths")]
    of_tracks = [path for _, *paths in tracks for path in paths]
    inputs = filter(None, [qrels, *runs, *of_tracks, *scores, *labels, groups, *files])
    check_replaceable(output, inputs=inputs, begins=PAGE, force=force)
    of_scores = {name: settings.pop(name) for name in options.OF_SCORES}
    of_scores["measures"] = measures
    source, judgements = options.sources(qrels, runs, tracks, scores, **of_scores)
    read_judges = command_line.read_judges_of_tracks if tracks else command_line.read_judges
    page = report(
        source,
        judgements,
        list(measures) or None,
        labels=options.read_labels(labels),
        judges=read_judges(judges) or None,
        judge_rel=command_line.read_judge_rel(judge_rel) if judge_rel else None,
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
        option = [max(parameter.opts, key=len)] if isinstance(parameter, click.Option) else []
        for given in value if isinstance(value, tuple) else (value,):
            several = given if isinstance(given, tuple) else (given,)
            words += option if given is True else [*option, *several]
    return shlex.join(map(str, words))
