"""What is said of the arguments that many analyses have: once, here."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

_COMMON = {
    "runs": "dict of name -> run, folder of run files, or list of them; or JudgedRuns.",
    "qrels": "frame, file, or ir_datasets id; None: those of JudgedRuns.",
    "duplicates": "what a document is that stands twice in a ranking; see "
    ":func:`~pyterrier_asl.evaluate`.",
    "judges": "name -> qrels of the same queries; values are over the queries that all judged.",
    "judge_rel": "minimum grade that each judge finds relevant: judge -> grade, or one number for "
    "all but ``qrels``; None: as ``rel``.",
    "rel": "minimum grade of a relevant document.",
    "cutoff": "look at the first ``cutoff`` documents only.",
    "missing": "as in ``ASL(missing=...)``.",
    "measure": "a measure or its name.",
    "measures": "measures or their names.",
    "test": "a test for pairs; see :mod:`pyterrier_asl.statistics.tests`.",
    "alpha": "the level of significance; intervals cover 1 - alpha.",
    "n_resamples": "draws of the tests that draw at random.",
    "seed": "of the draws; the same seed gives the same numbers.",
    "progress": "whether to show a progress bar; None: where there is a terminal.",
    "weights": "how much each query counts; see :func:`~pyterrier_asl.evaluation.slices.slices`.",
    "by": "slices of the queries, each with its own rows.",
    "as_published": "the paper's choice: missing documents right after the list "
    "(``missing='after'``).",
}
_OF_TRACKS = {
    "runs": "the runs of one track; or, without qrels, a dict of track -> (runs, qrels).",
    "qrels": "the judgements of the one track.",
    "weights": "how much each query counts; for one track.",
    "by": "slices of the queries; for one track.",
}


def described(doc: str, function: Callable[..., Any], tracks: bool = False) -> str:
    """A docstring that describes every argument, in the order of the signature.

    Args:
        doc: the docstring, which may leave common arguments out.
        function: whose arguments they are.
        tracks: whether it can be about several tracks.

    >>> def ties(runs, depth, rel=1): ...
    >>> print(described("Ties.\\n\\nArgs:\\n    depth: a rank.\\n\\nReturns:\\n    Rows.", ties))
    Ties.
    <BLANKLINE>
    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        depth: a rank.
        rel: minimum grade of a relevant document.
    <BLANKLINE>
    Returns:
        Rows.
    """
    if "\nArgs:\n" not in doc:
        doc = doc.replace("\nReturns:\n", "\nArgs:\n\n\nReturns:\n", 1)
    before, _, rest = doc.partition("\nArgs:\n")
    said, _, after = rest.partition("\n\n")
    blocks = (block.strip() for block in re.split(r"\n    (?=\w+:)", said))
    own = {block.partition(":")[0]: block for block in blocks}
    texts = {**_COMMON, **(_OF_TRACKS if tracks else {})}
    lines = [
        own.get(name) or textwrap.fill(f"{name}: {texts[name]}", 90, subsequent_indent=" " * 8)
        for name in inspect.signature(function).parameters
        if name in own or name in texts
    ]
    return f"{before}\nArgs:\n    " + "\n    ".join(lines) + f"\n\n{after.lstrip()}"
