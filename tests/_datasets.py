"""Datasets of ir_datasets from rows of tests: none of its own is on every machine."""

from types import SimpleNamespace
from typing import Any

import ir_datasets
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericDoc, TrecQrel


class Dataset(BaseQrels, BaseQueries, BaseDocs):
    """Qrels as dicts, rows of queries, texts of documents, and what is documented."""

    def __init__(self, qrels: dict, queries: list, docs: dict[str, str], **documented: Any) -> None:
        self.qrels, self.queries, self.documented = qrels, queries, documented
        self.docs = {docno: GenericDoc(docno, text) for docno, text in docs.items()}

    def qrels_iter(self):
        rows = ((qid, doc, grade) for qid, of in self.qrels.items() for doc, grade in of.items())
        return (TrecQrel(*row, "0") for row in rows)

    def qrels_cls(self):
        return TrecQrel

    def queries_iter(self):
        return iter(self.queries)

    def queries_cls(self):
        return type(self.queries[0])

    def docs_iter(self):
        return iter(self.docs.values())

    def docs_cls(self):
        return GenericDoc

    def docs_count(self):
        return len(self.docs)

    def docs_store(self):
        docs = self.docs
        return SimpleNamespace(get_many=lambda ids: {i: docs[i] for i in ids if i in docs})

    def documentation(self):
        return self.documented


def register(monkeypatch: Any, name: str, *given: Any, **documented: Any) -> None:
    """Registers a dataset; for the arguments see :class:`Dataset`."""
    dataset = ir_datasets.Dataset(Dataset(*given, **documented))
    monkeypatch.setitem(ir_datasets.registry._registered, name, dataset)
