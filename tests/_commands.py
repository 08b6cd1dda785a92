"""The page of commands, made from their help: ``python tests/_commands.py`` writes it again."""

from __future__ import annotations

from pathlib import Path

import click
from click.testing import CliRunner

from pyterrier_asl.cli import main

PAGE = Path(__file__).parents[1] / "pyterrier_asl" / "pt_docs" / "commands.rst"

_HEAD = """Command reference
=================

The help of each command, as ``pyterrier-asl COMMAND --help`` prints it.
"""


def page() -> str:
    """The whole page."""
    context = click.Context(main)
    parts = [_HEAD]
    for name in ("", *main.list_commands(context)):
        arguments = [name, "--help"] if name else ["--help"]
        shown = (
            CliRunner()
            .invoke(main, arguments, prog_name="pyterrier-asl", terminal_width=88, color=False)
            .stdout
        )
        title = f"pyterrier-asl {name}".strip()
        lines = "\n".join(f"    {line}".rstrip() for line in shown.splitlines())
        parts.append(f"{title}\n{'-' * len(title)}\n\n.. code-block:: text\n\n{lines}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
