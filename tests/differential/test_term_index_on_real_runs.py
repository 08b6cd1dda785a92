"""TermIndex, on real runs and collections."""

import re
from collections import Counter

from pyterrier_asl.retrieval.index import TermIndex


def test_indexes_an_ir_dataset(vaswani, tmp_path):
    index = TermIndex.from_irds(
        "irds:vaswani", path=tmp_path / "vaswani", stemmer=None, stopwords=None
    )
    assert index.num_docs == vaswani.docs_count()
    words = Counter()
    for doc in vaswani.docs_iter():
        words.update(re.findall("[a-z0-9]+", doc.text.lower()))  # vaswani is ASCII
    for word in ("waves", "the", "magnetron"):
        begin, end = index.array("term_offsets")[index.term_id(word) :][:2]
        assert index.array("posting_tfs")[begin:end].sum() == words[word] > 0
    assert index.metadata["source"] == "irds:vaswani"
