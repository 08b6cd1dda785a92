"""The collection of the demo, a PyTerrier dataset: ``pt.get_dataset("asl:demo")``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyterrier as pt

from ..measures.lengths import DocLengths


@dataclass(repr=False, eq=False)  # not frozen: pt.get_dataset wraps its get_topics
class DemoCollection(pt.datasets.Dataset):  # type: ignore[misc]
    """Documents, queries and qrels in memory, as a PyTerrier dataset.

    Attributes:
        name: name of the collection.
        documents: dicts with ``docno`` and ``text``.
        topics: frame of ``qid`` and ``query``.
        qrels: frame of ``qid``, ``docno`` and ``label``.
    """

    name: str
    documents: list[dict[str, str]]
    topics: pd.DataFrame
    qrels: pd.DataFrame

    def get_corpus_iter(self, *, verbose: bool = True) -> Iterator[dict[str, str]]:
        """The documents; ``verbose`` shows a progress bar."""
        return iter(pt.tqdm(self.documents, desc=f"{self.name} documents", disable=not verbose))

    def get_topics(self, variant: str | None = None) -> pd.DataFrame:
        """A copy of the queries; there are no variants."""
        self._check_variant(variant)
        return self.topics.copy()

    def get_qrels(self, variant: str | None = None) -> pd.DataFrame:
        """A copy of the qrels; there are no variants."""
        self._check_variant(variant)
        return self.qrels.copy()

    def __repr__(self) -> str:
        return f"DemoCollection({self.name!r}: {self.summary})"

    def _check_variant(self, variant: str | None) -> None:
        if variant is not None:
            raise ValueError(f"{self.name} has no variant {variant!r}: omit it")

    @property
    def summary(self) -> str:
        """The numbers of documents, queries and relevant documents, in words."""
        return (
            f"{len(self.documents):,} documents, {len(self.topics)} queries, "
            f"{int((self.qrels['label'] > 0).sum()):,} relevant documents"
        )

    def lengths(self) -> DocLengths:
        """The number of words of every document."""
        return DocLengths.from_dict(
            {document["docno"]: len(document["text"].split()) for document in self.documents},
            name=self.name,
        )


class DemoDatasets(pt.datasets.DatasetProvider):  # type: ignore[misc]
    """PyTerrier's provider of the datasets of this package: ``pt.get_dataset("asl:demo")``.

    >>> DemoDatasets().get_dataset("demo")
    DemoCollection('generated-2022': 4,800 documents, 40 queries, 2,408 relevant documents)
    """

    def get_dataset(self, name: str) -> DemoCollection:
        """The generated collection; KeyError for any name but ``demo``."""
        if name != "demo":
            raise KeyError(f"there is no dataset 'asl:{name}': the only one is 'asl:demo'")
        return generated()

    def list_dataset_names(self) -> list[str]:
        """The names of all datasets."""
        return ["demo"]


def generated(*, documents: int = 4800, topics: int = 40, seed: int = 2022) -> DemoCollection:
    """Generates a random collection, the same for the same arguments.

    Each topic has twelve words; two of them are the query. A document on a topic has common words
    and some of the topic's words, but perhaps no word of the query. So feedback can add useful
    terms, and misleading ones, as topics share words.

    Args:
        documents: the number of documents.
        topics: the number of queries.
        seed: seed of the draws.
    """
    random = np.random.default_rng(seed)
    words = np.array(list(_words()))
    common, rare = words[:600], words[600:]
    common_odds = 1 / np.arange(1, len(common) + 1)
    topic_odds = np.array([3, 3, *[1] * 10]) / 16
    topic_words = np.stack([random.choice(rare, 12, replace=False) for _ in range(topics)])
    topic_of = np.where(random.random(documents) < 0.5, random.integers(0, topics, documents), -1)
    texts = []
    for topic in topic_of:
        parts = [
            random.choice(common, random.integers(20, 80), p=common_odds / common_odds.sum()),
            random.choice(rare, 6),
        ]
        if topic >= 0:
            parts.append(random.choice(topic_words[topic], random.integers(2, 6), p=topic_odds))
        texts.append(" ".join(random.permutation(np.concatenate(parts))))
    docnos = [f"d{number}" for number in range(documents)]
    qids = np.array([f"q{number}" for number in range(topics)], object)
    qrels = pd.DataFrame({"qid": qids[topic_of], "docno": docnos, "label": 1})
    return DemoCollection(
        f"generated-{seed}",
        [{"docno": docno, "text": text} for docno, text in zip(docnos, texts)],
        pd.DataFrame({"qid": qids, "query": [" ".join(words[:2]) for words in topic_words]}),
        qrels[topic_of >= 0].reset_index(drop=True),
    )


def _words() -> Iterator[str]:
    """A thousand words with different stems."""
    syllables = [consonant + vowel for consonant in "bdfgklmnpr" for vowel in "aou"]
    for number in range(1000):
        first, rest = divmod(number * 7 % 27000, 900)
        yield syllables[first] + syllables[rest // 30] + syllables[rest % 30] + "k"
