"""The package works without features that older releases of PyTerrier lack."""

import pandas as pd
import pyterrier as pt

from pyterrier_asl import RobertsonPRF
from pyterrier_asl.retrieval.index import TermIndex

DOCUMENTS = [{"docno": f"d{i}", "text": f"radio wave{i} scatter"} for i in range(9)]


def test_retrieval_without_context_in_validation(monkeypatch):
    """Errors of PyTerrier 1.0 do not name the transformer with the wrong input."""
    whole = pt.validate.any
    monkeypatch.setattr(pt.validate, "any", lambda inp, warn=False: whole(inp, warn=warn))
    index = TermIndex.from_documents(DOCUMENTS, verbose=False)
    bm25 = index.bm25()
    pipeline = bm25 >> RobertsonPRF(index, fb_docs=2, fb_terms=3) >> bm25
    found = pipeline(pd.DataFrame({"qid": ["1"], "query": ["wave3"]}))
    assert found["docno"].iloc[0] == "d3"
