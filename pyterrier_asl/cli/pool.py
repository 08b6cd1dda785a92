"""The command ``pool``: a pool of runs, for the rareness measures.

\b
Examples:
  pyterrier-asl pool trec8-runs/ -o trec8.parquet --depth 100
  pyterrier-asl evaluate qrels.txt my.run -m AP_Rareness@100 --pool trec8.parquet
"""

from __future__ import annotations

from pathlib import Path

import click

from . import Command, epilog, options


@click.command(name="pool", cls=Command, epilog=epilog(__doc__))
@options.runs
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The Parquet file to write the pool to."
)
@click.option(
    "--depth",
    type=options.NUMBER,
    help="Number of documents to keep per query; measures then need a cut-off of at most this "
    "depth.  [default: all]",
)
@options.groups
@options.force
@click.option("--name", help="The name of the pool.  [default: the name of FILE]")
def command(
    runs: tuple[str, ...],
    output: str,
    depth: int | None,
    groups: str | None,
    force: bool,
    name: str | None,
) -> None:
    """Make a pool for the rareness measures from run files or folders of them.

    The pool has the ranks of the documents that each run retrieves. A run outside the pool is
    measured as if it were in the pool.
    """
    from ..io.names import read_groups
    from ..io.runs import iter_runs
    from ..io.saved_tables import check_saved
    from ..measures.pool import RarenessPool

    inputs = (*runs, groups) if groups else runs
    check_saved(output, kind=RarenessPool.KIND, force=force, inputs=inputs)
    pool = RarenessPool.from_runs(
        dict(iter_runs(runs)),
        depth=depth,
        name=name or Path(output).stem,
        groups=read_groups(groups) if groups else None,
    )
    pool.save(output, force=force)
    click.echo(f"{output}: {pool!r}")
