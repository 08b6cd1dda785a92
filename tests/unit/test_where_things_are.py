"""Where is what? Questions of a newcomer, each with the file that answers it.

An answer must be found by a word of its question, in the name of the file or in its first line.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pyterrier_asl

PACKAGE = Path(pyterrier_asl.__file__).parent

ANSWERS = {
    "Where are ties in scores broken, and rankings put in order?": "judging/ranking.py",
    "How is a run matched with the judgements?": "judging/judgements.py",
    "What is the formula of the search length?": "scoring/search_length.py",
    "Which class is the measure ASL?": "measures/asl.py",
    "Where are AP, nDCG and the other standard measures?": "measures/standard.py",
    "How are names of measures parsed?": "measures/names.py",
    "How does ir_measures find our measures, by which provider?": "measures/provider.py",
    "How does rareness give credit?": "scoring/rareness.py",
    "What is a pool, and how is one saved?": "measures/pool.py",
    "Where do document lengths come from?": "measures/lengths.py",
    "How is lexicographic precision embedded in a number?": "scoring/lexicographic.py",
    "How are the bounds over unjudged documents computed?": "scoring/bounds.py",
    "Which of two runs is settled as better, and what is judged next?": "unjudged/holes.py",
    "How are labels merged with official judgements?": "unjudged/labels.py",
    "How do judges agree within the human range?": "assessment/human_range.py",
    "How are p-values corrected for several comparisons?": "statistics/correction.py",
    "How are intervals of ranks of systems computed?": "statistics/rank_intervals.py",
    "What does a leaderboard say in sentences?": "leaderboard/sentences.py",
    "When does a condition of the guard hold?": "comparison/guard.py",
    "How does Robertson's feedback select terms?": "retrieval/feedback.py",
    "How does BM25 weigh terms?": "retrieval/bm25.py",
    "How is text tokenised into index terms?": "retrieval/tokens.py",
    "How does tuning go in stages?": "tuning/stages.py",
    "How are runs read from files?": "io/runs.py",
    "Which HTML does the report render?": "reporting/render.py",
    "How do worker processes end with their parent?": "io/processes.py",
}


def words(text: str) -> set[str]:
    """The words of a text, without endings such as a plural's."""
    return {word.rstrip("s")[:8] for word in re.findall(r"[a-z0-9]{3,}", text.lower())}


#: Words that any file could have.
COMMON = words("what where which how are the and does with for from our other who one its they")


@pytest.mark.parametrize("question, file", ANSWERS.items(), ids=ANSWERS.values())
def test_an_answer_is_found_by_a_word_of_the_question(question, file):
    path = PACKAGE / file
    first, *_ = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").splitlines()
    assert (words(question) - COMMON) & words(f"{path.stem.replace('_', ' ')} {first}")


def test_files_of_tests_have_different_names():
    """pytest imports them by their names alone."""
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)
