"""The command ``report``: an HTML page about runs.

\b
Examples:
  pyterrier-asl report qrels.txt runs/ -o report.html
  pyterrier-asl report irds:vaswani a.run b.run -o report.html --dataset irds:vaswani
  pyterrier-asl report dl20.qrels runs/ --rel 2 --topics topics.tsv -o dl20.html
  pyterrier-asl report qrels.txt runs/ -m 'LexiP ASL@100 AP' -o report.html
  pyterrier-asl report nist.txt runs/ -m nDCG@10 --judge gpt=gpt.txt --judge-rel gpt=2 -o r.html
  pyterrier-asl report qrels.txt runs/ -m nDCG@10 --unjudged -o report.html
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

from .. import reporting as library
from ..io.atomic import check_replaceable
from . import epilog, options, outputs


@click.command(name="report", cls=outputs.Command, epilog=epilog(__doc__))
@options.qrels_if_any
@options.runs_if_any
@options.tracks
@outputs.saved("html", "The HTML file to write or replace", required=True)
@outputs.force
@options.of(
    library.report,
    measures={
        "help": "Measures, in one or several -m: as 'evaluate' takes them; the first decides which "
        "system is best. Default: the measures of this package, AP, nDCG@10, RR, R@1000, Judged@10."
    },
    rel={"none": "1; for the default measures of an ir_datasets id its official grade"},
    cutoff={"help": "Number of documents per query that are read from each run.", "none": 1000},
    judges={
        "help": "Another judge: a name, and a file or ir_datasets id; for a track "
        "TRACK=NAME=QRELS; can be given again."
    },
    unjudged={"help": "Also say who could be the best for all labels of unjudged documents."},
    title={"none": "the number of systems, and QRELS"},
)
@options.matching
def command(output: str, force: bool, **_: Any) -> None:
    """Make a page about runs: who could be the best, and which relevant documents are missed.

    QRELS is a file, or the id of an ir_datasets dataset with judgements; RUN are files (plain or
    compressed) or folders of them. With --track or --judge the page also shows who could be the
    best over all tracks and judges; pairs, queries and documents are from the first track.
    """
    check_replaceable(output, inputs=options.inputs(), begins=library.PAGE, force=force)
    source, judgements = options.sources()
    arguments = map(_without_folder, click.get_current_context().meta[outputs.ARGUMENTS])
    page = library.report(
        source,
        judgements,
        **options.given(),
        command=shlex.join(["pyterrier-asl", "report", *arguments]),
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
