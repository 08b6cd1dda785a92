"""Importing the package is fast and imports large dependencies later (lazy.py)."""

import pyterrier as pt
import pytest
from _calls import python

import pyterrier_asl


def test_importing_makes_measures_known_and_nothing_heavy():
    heavy = ["pandas", "pyarrow", "pyterrier", "ir_datasets", "scipy", "numba", "matplotlib"]
    assert python(
        "import sys, ir_measures, pyterrier_asl\n"
        "print(ir_measures.parse_measure('ASL(g=10)@1000'))\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    ).splitlines() == ["ASL(g=10)@1000", "[]"]


def test_it_is_a_module_of_pyterrier():
    assert pt.asl is pyterrier_asl


@pytest.mark.slow
def test_it_is_a_module_of_pyterrier_that_is_imported_first():
    program = (
        "import pyterrier as pt\nprint(pt.asl.__name__, pt.asl.ASL@10, pt.asl.DocLengths.__name__)"
    )
    assert python(program) == "pyterrier_asl ASL@10 DocLengths"


def test_all_public_names_can_be_had():
    assert sorted(pyterrier_asl.__all__) == sorted(set(pyterrier_asl.__all__))
    for name in pyterrier_asl.__all__:
        assert getattr(pyterrier_asl, name) is not None
        assert name in dir(pyterrier_asl)
