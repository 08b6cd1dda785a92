"""The command ``pool``: a pool of runs, for the rareness measures.

\b
Examples:
  pyterrier-asl pool trec8-runs/ -o trec8.parquet --depth 100
  pyterrier-asl evaluate qrels.txt my.run -m AP_Rareness@100 --pool trec8.parquet
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..judging.qrels import Qrels
from ..measures.pool import RarenessPool
from . import epilog, options, outputs


@click.command(name="pool", cls=outputs.Command, epilog=epilog(__doc__))
@options.runs
@outputs.saved("parquet", "The Parquet file to write the pool to", required=True)
@options.of(
    RarenessPool.from_runs,
    depth={
        "help": "Number of documents to keep per query; measures then need a cut-off of at most "
        "this depth.",
        "none": "all",
    },
    name=None,
)
@options.of(Qrels, "columns")
@click.option("--name", help="The name of the pool.  [default: the name of FILE]")
@outputs.force
def command(runs: tuple[str, ...], output: str, force: bool, name: str | None, **_: Any) -> None:
    """Make a pool for the rareness measures from run files or folders of them.

    The pool has the ranks of the documents that each run retrieves. A run outside the pool is
    measured as if it were in the pool.
    """
    from ..io.runs import iter_runs
    from ..io.saved_tables import check_saved

    check_saved(output, kind=RarenessPool.KIND, force=force, inputs=options.inputs())
    pool = RarenessPool.from_runs(
        dict(iter_runs(options.runs_of(runs))), name=name or Path(output).stem, **options.given()
    )
    pool.save(output, force=force)
    click.echo(f"{Path(output).name}: {pool!r}")
