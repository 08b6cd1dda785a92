"""One rule for what counts as relevant where nothing is said."""

import ir_measures
import numpy as np
import pytest

from pyterrier_asl.evaluation import grades as module
from pyterrier_asl.evaluation.files import measure_files
from pyterrier_asl.evaluation.grades import default_rel, grades_hint, official_of
from pyterrier_asl.measures.names import official_rel


@pytest.fixture
def known(monkeypatch):
    """A collection of ir_datasets whose makers take a grade of 2 for relevant."""
    monkeypatch.setattr(module, "official_measures", lambda _: ["nDCG@10", "RR(rel=2)"])


def test_the_rel_of_a_known_collection_is_the_default(known):
    assert official_of("irds:known") == [ir_measures.nDCG @ 10, ir_measures.RR(rel=2)]
    assert default_rel("irds:known") == 2 and default_rel("irds:known", 1) == 1
    assert official_of({"q": {"d": 1}}) == [] and default_rel({"q": {"d": 1}}) == 1
    assert official_rel([ir_measures.nDCG @ 10]) is None


def test_one_hint_with_the_number_of_documents(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 3\nq 0 c 0\nq 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n")

    def hint(*measures, rel=None):
        return measure_files(str(tmp_path / "qrels"), [tmp_path / "run"], measures, rel=rel).hint

    assert hint("AP").startswith("2 of 4 judged documents have a grade from 1 to below 2")
    assert hint("AP", rel=1) == hint("AP(rel=2)", "RR") == hint("nDCG") == ""


def test_no_hint_where_grades_do_not_exceed_one():
    assert grades_hint(np.array([0.0, 1.0])) == grades_hint(np.array([])) == ""
    assert "1 of 3" in grades_hint(np.array([0.0, 1.5, 2.0]))
