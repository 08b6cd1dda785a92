"""The command ``demo``: three systems on a small collection."""

from __future__ import annotations

import shutil

import click

from ..io import tables
from . import Command, options


@click.command(name="demo", cls=Command)
@options.switch("--generated", help="Use the generated collection instead of vaswani.")
@options.seed(
    default=None,
    show_default=False,
    help="With --generated: seed of the collection.  [default: 2022]",
)
def command(generated: bool, seed: int | None) -> None:
    """Retrieve with three systems, measure them, and explain the values.

    The collection is ir_datasets' vaswani (3 MB, downloaded once) or, without a network, a
    generated one. No Java is needed.
    """
    from ..experiment import demo, demo_collection

    if seed is not None and not generated:
        raise click.UsageError("--seed goes with --generated")
    if generated:
        of_seed = {} if seed is None else {"seed": seed}
        collection, reason = demo_collection.generated(**of_seed), ""
    else:
        collection, reason = demo_collection.collection()
    if reason:
        click.echo(f"{reason}. Using a generated collection.", err=True)
    result = demo.demonstrate(collection)
    click.echo(f"{collection.name}: {collection.summary}\n")
    for name, description in demo.SYSTEMS.items():
        click.echo(_item(f"{name}: {description}"))
    click.echo()
    tables.show(result.scores, higher_is_better=result.higher_is_better)
    click.echo()
    for remark in demo.remarks(result):
        click.echo(_item(remark))


def _item(text: str) -> str:
    """A text as an item of a list, as wide as the terminal."""
    width = min(100, shutil.get_terminal_size().columns)
    return click.wrap_text(text, width, initial_indent="* ", subsequent_indent="  ")
