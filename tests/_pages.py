"""The pages of the documentation and their code blocks."""

import re
import textwrap
from pathlib import Path

import pyterrier_asl

ROOT = Path(__file__).parents[1]
PAGES = Path(pyterrier_asl.__file__).parent / "pt_docs"


def text_of(page: str) -> str:
    return (PAGES / f"{page}.rst").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in a language, without indentation."""
    directive = rf"^( *)\.\. code-block:: {language}\n\n((?:\1    .*\n|\n)+)"
    return [textwrap.dedent(block) for _, block in re.findall(directive, text_of(page), re.M)]


def commands(page: str) -> list[list[str]]:
    """The commands of each block of a page."""
    joined = (block.replace("\\\n", " ") for block in blocks(page, "console"))
    return [[line[2:] for line in of.splitlines() if line.startswith("$ ")] for of in joined]
