"""Labelling at a terminal with one key per grade."""

from __future__ import annotations

import os
import string
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..io.texts import Texts
    from ..unjudged.loop import Round

#: Keys that are not grades.
UNDO, SKIP, MORE, QUIT = "usmq"

#: Number of characters of a document that are shown first.
_BEGINNING = 1500

_print = partial(click.echo, err=True)
_wrap = partial(click.wrap_text, width=96, initial_indent="  ", subsequent_indent="  ")


def label_at_terminal(
    round_: Round,
    *,
    texts: Callable[[list[str]], Texts] | None = None,
    most: int | None = None,
    read_key: Callable[[], str],
) -> str:
    """Asks for labels, document by document, until the verdict is settled.

    Each answer is saved in the file of the round before the next document is shown. Documents and
    questions are printed to the standard error stream.

    Args:
        round_: the round with the documents to label.
        texts: a function from document ids to the texts of queries and documents.
        most: the maximum number of documents.
        read_key: a function that waits for a key; '' at the end of the input. See
            :func:`terminal_keys`.

    Returns:
        The end of the round: see :class:`~pyterrier_asl.unjudged.loop.Judging`, or ``'quit'``.
    """
    from ..unjudged.loop import questions

    keys = grade_keys(round_.scale())
    _print(_legend(keys))
    _print(round_.holes.describe())
    while True:
        ended = round_.ended(most)
        if ended and not round_.answers:
            return ended
        if ended:
            _print(f"\n{ended}. {UNDO}: undo the last answer; any other key: end")
            key = _read(read_key)
            if key != UNDO:
                return ended
        else:
            codes = round_.left()[:1]
            question = questions(round_.holes, codes, texts).iloc[0]
            key = _ask(question, keys, len(round_.left()), read_key)
        if key == QUIT:
            return "quit"
        if key == UNDO:
            _print("undone" if round_.undo() else "there is no answer to undo")
        else:
            round_.record(codes, [keys.get(key, float("nan"))])
            _print("skipped" if key == SKIP else f"grade {keys[key]:g}")
        _print(round_.holes.describe())


@contextmanager
def terminal_keys() -> Iterator[Callable[[], str]]:
    """Yields a function that waits for a key; the terminal does not show the keys.

    The terminal is switched once, not for each key, so that keys typed ahead are not lost.
    """
    if sys.platform == "win32":
        yield click.getchar
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSANOW)
    try:
        yield lambda: os.read(terminal, 1).decode("ascii", "replace")
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def grade_keys(scale: Iterable[float]) -> dict[str, float]:
    """The key of each grade: its digit, or letters if a grade is not a digit.

    >>> grade_keys([0, 1, 3]), grade_keys([0, 0.5, 1])
    ({'0': 0, '1': 1, '3': 3}, {'a': 0, 'b': 0.5, 'c': 1})
    """
    grades = list(scale)
    if all(grade in range(10) for grade in grades):
        return {f"{grade:g}": grade for grade in grades}
    letters = [letter for letter in string.ascii_letters if letter not in {UNDO, SKIP, MORE, QUIT}]
    if len(grades) > len(letters):
        raise ValueError(f"there are more grades ({len(grades)}) than keys: use --export")
    return dict(zip(letters, grades))


def _legend(keys: dict[str, float]) -> str:
    """The line that explains the keys."""
    names = {key: f"{grade:g}" for key, grade in keys.items()}
    grades = ", ".join(key if key == name else f"{key} = {name}" for key, name in names.items())
    return f"Keys: grade {grades}; {SKIP} skip, {UNDO} undo, {MORE} more text, {QUIT} quit"


def _ask(question: Any, keys: dict[str, float], left: int, read_key: Callable[[], str]) -> str:
    """Shows a query and a document, and waits for an answer."""
    from ..io.table_forms import printable

    def in_a_line(text: str) -> str:
        return printable(" ".join(text.split()))

    text = in_a_line(question["text"])
    rest = len(text) - _BEGINNING
    _print(
        f"\nQuery {in_a_line(str(question['qid']))}: {in_a_line(question['query']) or '(no text)'}"
    )
    _print(f"Document {in_a_line(question['docno'])} (open: {left})")
    _print(_wrap(text[:_BEGINNING] or "(no text)"))
    if rest > 0:
        _print(f"  ({MORE}: {rest} more characters)")
    while True:
        _print(f"{'/'.join(keys)}, {SKIP}, {UNDO}, {QUIT}? ", nl=False)
        key = _read(read_key)
        _print(in_a_line(key))
        if key in keys or key in (SKIP, UNDO, QUIT):
            return key
        if key == MORE and rest > 0:
            _print(_wrap(text[_BEGINNING:]))


def _read(read_key: Callable[[], str]) -> str:
    """The pressed key; :data:`QUIT` at the end of the input."""
    try:
        key = read_key()
    except (EOFError, OSError):  # the terminal was closed
        return QUIT
    return QUIT if key in ("", "\x04") else key  # Ctrl-D
