"""A run with constant scores is ordered by ids, and gives a warning."""

import warnings

import pytest

from pyterrier_asl import ASL, evaluate
from pyterrier_asl.evaluation.evaluation import Evaluation

QRELS = {q: {"d0": 1} for q in ("q", "r")}
CONSTANT = {q: {f"d{i}": 0.0 for i in range(12)} for q in QRELS}
FALLING = {q: {f"d{i}": 12.0 - i for i in range(12)} for q in QRELS}
FEW = {q: {f"d{i}": 0.0 for i in range(3)} for q in QRELS}
NOTE = "x has the same score for all documents of 2 of 2 queries"


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda run: evaluate({"x": run}, QRELS, "AP"), NOTE),
        (lambda run: ASL.calc_aggregate(QRELS, run), NOTE.replace("x", "the run", 1)),
    ],
)
def test_it_is_said_once(ask, says):
    with pytest.warns(UserWarning, match=says) as caught:
        ask(CONSTANT)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=f".*{says}")
        ask(FALLING), ask(FEW)


def test_a_file_is_said_to_have_them(tmp_path):
    lines = [f"{q} Q0 {d} {i} 1 t\n" for q in CONSTANT for i, d in enumerate(CONSTANT[q])]
    (tmp_path / "x.run").write_text("".join(lines))
    with pytest.warns(UserWarning, match=NOTE):
        evaluate([tmp_path / "x.run"], QRELS, "AP")


def test_a_backend_that_cannot_is_an_error():
    runs = {"x": FALLING, "y": FALLING}
    for backend in ("multiprocessing", "sequential", "nope"):
        for given in (runs, Evaluation.of(runs, QRELS)):
            with pytest.raises(ValueError, match=f"backend '{backend}' cannot measure.* 'ray'"):
                evaluate(given, QRELS, "AP", jobs=2, backend=backend)
