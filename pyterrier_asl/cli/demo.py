"""The command ``demo``: three systems on a small collection."""

from __future__ import annotations

import click

from . import outputs


@click.command(name="demo", cls=outputs.Command)
def command() -> None:
    """Retrieve with three systems, measure them, and explain the values.

    The collection is a small generated one: ``asl:demo`` of PyTerrier. No Java is needed.
    """
    from ..experiment import demo, demo_collection
    from ..printing.printed import Part, print_parts

    collection = demo_collection.generated()
    result = demo.demonstrate(collection)
    print_parts(
        [
            Part(f"{collection.name}: {collection.summary}"),
            Part(),
            *(Part(f"* {name}: {description}") for name, description in demo.SYSTEMS.items()),
            Part(),
            Part(table=result.scores, style={"higher_is_better": result.higher_is_better}),
            Part(),
            *(Part(f"* {remark}") for remark in result.remarks),
        ]
    )
