"""The command ``demo``: three systems on a small collection."""

from __future__ import annotations

import shutil

import click

from ..io import tables
from . import outputs


@click.command(name="demo", cls=outputs.Command)
def command() -> None:
    """Retrieve with three systems, measure them, and explain the values.

    The collection is a small generated one: ``asl:demo`` of PyTerrier. No Java is needed.
    """
    from ..experiment import demo, demo_collection

    collection = demo_collection.generated()
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
