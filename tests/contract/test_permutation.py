"""Rows, queries and names in another order, and documents, queries and runs with other names, give
the same answers in every command.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _options import Setting
from test_command_matrix import COMMANDS, folder, options_of, output_of, words_of

pytestmark = pytest.mark.filterwarnings("ignore")

SETTING = Setting("files", "ASL@10")

#: Commands that draw queries, documents or pairs in the order of the input.
DRAWN = (
    "judges",
    "analyze stability",
    "analyze missing-labels",
    "analyze missing-queries",
    "analyze ties-with-missing-labels",
    "analyze preference-discrimination",
    "analyze agreement-by-number-of-systems",
)
#: Commands whose output is no table of values, or an empty one here, or that read no runs.
OTHERS = (
    "report",
    "pool",
    "labels",
    "plan-audit",
    "analyze preference-levels",
    "analyze tie-probability",
)
OTHERS += ("analyze cycles", "demo", "tune")
#: Commands whose pairs, lists of runs or ties follow the order of the runs.
FIRST = ("compare", "holes", "audit", "analyze compare-techniques", "analyze system-preferences")
FIRST += ("analyze reordering", "analyze rare-documents")


def renamed(word: str, place: str, shuffled: bool) -> str:
    """The file with a prefix of its ids, and its rows in another order; else the word.

    Args:
        word: a word of a command line.
        place: a folder for the new file.
        shuffled: whether the rows are in another order.
    """
    name, _, path = word.rpartition("=")
    if not Path(path).is_file():
        return re.sub(r"^(?=q\d+$)", "z", word)
    lines = [re.sub(r"\b(?=[qd]\d+\b)", "z", line) for line in Path(path).read_text().splitlines()]
    if shuffled:
        order = np.random.default_rng(len(lines)).permutation(len(lines))
        lines = [lines[row] for row in order]
    other = folder() / place / Path(path).relative_to(folder())
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text("\n".join(lines) + "\n")
    return f"{name}={other}" if name else str(other)


def rows_of(text: str, place: str = "") -> list[str]:
    """The rows of a table, sorted, with the ids of before."""
    if place:
        text = text.replace(str(folder() / place), str(folder()))
        text = re.sub(r"\bz(?=[qd]\d+\b)", "", text)
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return sorted(json.dumps(rounded(row), sort_keys=True) for row in rows)


def rounded(value: Any) -> Any:
    """Numbers with 9 significant digits: a mean is of the same values, in another order."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.9g}") + 0.0 if abs(value) > 1e-12 else 0.0
    return value


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in OTHERS])
def test_other_orders_and_ids_give_the_same_answers(name):
    """All changes at once: ids, the order of rows, and the order of runs."""
    words = words_of(name, SETTING, "", "plain")
    if name == "judges":
        words += ["--show", "differences"]
    if "form" in options_of(name) and "jsonl" not in words:
        words += ["-o", "jsonl"]
    if name == "evaluate":
        words += ["-q"]
    place = "shuffled" if name not in DRAWN else "renamed"
    others = [renamed(word, place, shuffled=place == "shuffled") for word in words]
    if name not in FIRST and any(param.name == "runs" for param in COMMANDS[name].params):
        runs = [word for word in others if "/runs/" in word]
        others = [word for word in others if "/runs/" not in word] + runs[::-1]
    assert others != words
    before, after = output_of(name, words), output_of(name, others)
    assert not before.startswith("!"), before
    assert not after.startswith("!"), after
    found = rows_of(before), rows_of(after, place)
    assert found[0]
    assert found[0] == found[1]
