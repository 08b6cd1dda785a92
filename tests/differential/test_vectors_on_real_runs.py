"""The worked examples, on real runs and collections."""

import ir_measures

from pyterrier_asl import ASL


def qrels(docs):
    return {"q": dict.fromkeys(docs, 1)}


def test_the_best_neural_run_of_dl20(data):
    """Table 1 of the paper prints ASL 215 and ASL@g1-10 6 for this run."""
    qrels = list(ir_measures.read_trec_qrels(str(data / "dl20-passage" / "qrels.txt")))
    path = data / "dl20-passage" / "runs" / "input.p_d2q_rm3_duo.gz"
    measures = [ASL, ASL(missing="after"), ASL(missing="eq3"), ASL(g=10)]
    values = ir_measures.calc_aggregate(measures, qrels, ir_measures.read_trec_run(str(path)))
    print({str(measure): round(values[measure], 3) for measure in measures})
    assert [round(values[measure], 3) for measure in measures] == [214.505, 214.505, 214.335, 5.655]
