"""Robertson feedback, on real runs and collections."""

import pandas as pd
import pyterrier as pt

from pyterrier_asl.retrieval.feedback import RobertsonPRF
from pyterrier_asl.retrieval.index import TermIndex


def test_reaches_documents_that_the_query_did_not(vaswani):
    """On vaswani feedback raises recall, and an Experiment runs the whole pipeline."""
    index = TermIndex.from_irds("vaswani", verbose=False)
    bm25 = index.bm25()
    topics = [(q.query_id, q.text) for q in vaswani.queries_iter()]
    qrels = [(q.query_id, q.doc_id, q.relevance) for q in vaswani.qrels_iter()]
    table = pt.Experiment(
        [bm25, bm25 >> RobertsonPRF(index) >> bm25],
        pd.DataFrame(topics, columns=["qid", "query"]),
        pd.DataFrame(qrels, columns=["qid", "docno", "label"]),
        ["recall_1000", "num_q"],
        names=["bm25", "prf"],
    ).set_index("name")
    assert table["num_q"].tolist() == [93, 93]
    assert table["recall_1000"]["prf"] > table["recall_1000"]["bm25"] > 0.7
