"""``pyterrier-asl pool``."""

from __future__ import annotations

import click

from . import options

EPILOG = """\b
Examples:
  pyterrier-asl pool trec8-runs/ -o trec8.parquet --depth 100
  pyterrier-asl evaluate qrels.txt my.run -m AP_Rareness@100 --pool trec8.parquet"""


@click.command(name="pool", epilog=EPILOG)
@options.runs
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The Parquet file to write the pool to."
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    help="Keep only so many documents a query. A measure cannot look deeper.  [default: all]",
)
@options.groups
@click.option("--name", help="What to call it.  [default: the name of FILE]")
def command(
    runs: tuple[str, ...], output: str, depth: int | None, groups: str | None, name: str | None
) -> None:
    """Make a pool, for the rareness measures, of run files or folders of them.

    The pool says which runs have which document in their first k. Measured against it, a run that
    is not of the pool is scored as if it joined.
    """
    from pathlib import Path

    from .. import run_files
    from ..pools import RarenessPool

    pool = RarenessPool.from_runs(
        run_files.tables_of(run_files.find_runs(runs)),
        depth=depth,
        groups=run_files.read_groups(groups) if groups else None,
        name=name or Path(output).stem,
    )
    pool.save(output)
    click.echo(f"{output}: {pool!r}")
