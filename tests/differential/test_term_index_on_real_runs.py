"""TermIndex, on real runs and collections."""

from __future__ import annotations

from collections import Counter

from pyterrier_asl.retrieval.index import TermIndex


def test_indexes_an_ir_dataset(vaswani, tmp_path):
    index = TermIndex.from_irds(
        "irds:vaswani", path=tmp_path / "vaswani", stemmer=None, stopwords=None
    )
    assert index.num_docs == vaswani.docs_count()
    words = Counter()
    for doc in vaswani.docs_iter():
        words.update(word for word in doc.text.lower().split() if word.isalnum())
    for word in ("waves", "the", "magnetron"):
        assert index.postings(word).tfs.sum() >= words[word] > 0
    assert index.metadata["source"] == "irds:vaswani"
