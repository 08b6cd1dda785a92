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
The page is one file that needs no network. The same input gives the same file.
It needs Altair and vl-convert: pip install '.[report]'.
"""

from __future__ import annotations

import os
import shlex
from typing import Any

import click

from ..io.atomic import check_replaceable
from . import Command, epilog, options


class ReportCommand(Command):
    """A command that keeps its arguments, which the page shows."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments."""
        ctx.meta["arguments"] = list(args)
        return super().parse_args(ctx, args)


@click.command(name="report", cls=ReportCommand, epilog=epilog(__doc__))
@options.qrels_if_any
@options.runs_if_any
@options.scores
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The HTML file to write or replace."
)
@options.force
@options.measures(
    "as 'evaluate' takes them; the first decides which system is best. Default: the measures of "
    "this package, AP, nDCG@10, RR, R@1000, Judged@10."
)
@options.rel(
    help="Minimum grade of a relevant document, for measures without rel.  [default: 1; for the "
    "default measures of an ir_datasets id its official grade]"
)
@click.option(
    "-k",
    "--depth",
    "cutoff",
    type=options.NUMBER,
    help="Number of documents per query that are read from each run.  [default: 1000]",
)
@options.topics
@options.docs
@options.labels
@options.text_option("--dataset", "irds:ID", "ir_datasets collection with the texts to show.")
@click.option("--title", help="The heading.  [default: the number of systems, and QRELS]")
@click.option("--note", default="", help="A line at the end, such as a date.")
@options.tracks("-t")
@options.judges_of_tracks
@options.about_judges
@options.alpha
@options.lengths
@options.groups
@options.duplicates
@options.drop_self
@options.collapse
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
    compressed) or folders of them. With --scores the page has ranking, pairs and queries, but no
    documents. With --track or --judge it also shows who could be the best over all tracks and
    judges; pairs, queries and documents are from the first track.
    """
    from ..io.names import read_groups
    from ..reporting import PAGE, report

    files = [settings[name] for name in ("topics", "docs", "lengths")]
    of_tracks = [path for _, *paths in tracks for path in paths]
    inputs = filter(None, [qrels, *runs, *of_tracks, *scores, *labels, groups, *files])
    check_replaceable(output, inputs=inputs, begins=PAGE, force=force)
    of_scores = options.take(settings, *options.OF_SCORES)
    source, judgements = options.sources(qrels, runs, tracks, scores, **of_scores)
    arguments = click.get_current_context().meta["arguments"]
    page = report(
        source,
        judgements,
        list(measures) or None,
        labels=options.read_labels(labels),
        **options.read_judges(judges, judge_rel, tracks),
        **settings,
        groups=read_groups(groups) if groups else None,
        command=shlex.join(["pyterrier-asl", "report", *map(_without_folder, arguments)]),
    )
    page.save(output, force=force)
    click.echo(f"{os.path.basename(output)}: {page!r}")


def _without_folder(argument: str) -> str:
    """An argument without the folder of its file: readers of a page elsewhere need none.

    >>> import tempfile
    >>> _without_folder(f"gpt={tempfile.mkdtemp()}/gpt.txt"), _without_folder("irds:a/b")
    ('gpt=gpt.txt', 'irds:a/b')
    """
    name, sign, path = argument.rpartition("=")
    is_file = os.path.isdir(os.path.dirname(path))
    return name + sign + (os.path.basename(path.rstrip("/")) if is_file else path)
