"""Lengths of documents, on real runs and collections."""

import ir_measures
import pyarrow as pa
import pytest

from pyterrier_asl import TBG, DocLengths


def look_up(lengths, *docnos):
    return lengths.look_up(pa.array(docnos, type=pa.large_string())).tolist()


def test_words_of_a_collection(vaswani):
    lengths = DocLengths.from_irds("vaswani")
    documents = {doc.doc_id: len(doc.text.split()) for doc in vaswani.docs_iter()}
    assert len(lengths) == len(documents) == 11429
    assert look_up(lengths, *documents) == list(documents.values())
    assert TBG(lengths="irds:vaswani") == TBG(lengths=lengths)
    assert ir_measures.parse_measure(str(TBG(lengths=lengths))) == TBG(lengths=lengths)


def test_words_counted_on_another_version_of_a_collection(vaswani):
    with pytest.raises(ValueError, match="another version"):
        TBG(lengths="irds:vaswani-00000000")


def test_progress_is_silent_without_a_terminal(vaswani, capfd):
    DocLengths.from_irds("vaswani")
    assert "words of" not in capfd.readouterr().err
