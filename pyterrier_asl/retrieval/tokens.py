"""Tokenisers of text into index terms: words, stopwords, stemmer."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

# Runs of letters and digits of any script; "_" is a word character to `re`, not to a reader.
_WORD = re.compile(r"[^\W_]+")

#: The 33 English stopwords that Lucene, Elasticsearch and Anserini remove by default. A short list
#: is enough for BM25, which gives a term in half of the documents no weight.
# fmt: off
LUCENE_STOPWORDS: tuple[str, ...] = (
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they",
    "this", "to", "was", "will", "with",
)
# fmt: on


class WordTokeniser:
    """Lower-cased runs of letters and digits, without stopwords, stemmed by Snowball.

    Args:
        stemmer: a Snowball stemmer's name, such as ``'porter'``, ``'english'`` (Porter's
            revision of it) or ``'german'``; None for none. See ``Stemmer.algorithms()``.
        stopwords: ``'lucene'`` for :data:`LUCENE_STOPWORDS`, None for none, or a list of words.
            Words are compared with it before stemming.
        normal_form: the Unicode normal form of texts and queries, so that letters with accents are
            equal however they are written; None for none.

    Raises:
        ValueError: for an unknown stemmer or list of stopwords.

    Examples:
        >>> tokeniser = WordTokeniser(stemmer="porter")
        >>> tokeniser.tokens("The scattering of Radio-Waves")
        ['scatter', 'radio', 'wave']
        >>> WordTokeniser(stemmer=None, stopwords=None).tokens("The waves")
        ['the', 'waves']
    """

    def __init__(
        self,
        *,
        stemmer: str | None = "porter",
        stopwords: str | Iterable[str] | None = "lucene",
        normal_form: str | None = "NFC",
    ) -> None:
        self.stemmer, self.normal_form = stemmer, normal_form
        self.stopwords = tuple(map(self._plain, _stopwords(stopwords)))
        self._stop = frozenset(self.stopwords)
        self._stem = _stem_by(stemmer)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings to restore this tokeniser."""
        own = {"stemmer": self.stemmer, "stopwords": list(self.stopwords)}
        return {"name": "words", **own, "normal_form": self.normal_form}

    def _plain(self, text: str) -> str:
        form: Any = self.normal_form
        return (unicodedata.normalize(form, text) if form else text).lower()

    def words(self, text: str) -> list[str]:
        """All words of a text, lower-cased, as :meth:`term` takes them."""
        return _WORD.findall(self._plain(text))

    def term(self, word: str) -> str | None:
        """The index term of a word; None for a stopword."""
        return None if word in self._stop else self._stem(word)

    def tokens(self, text: str) -> list[str]:
        """The index terms of a text, in order, with repetitions."""
        return [term for term in map(self.term, self.words(text)) if term is not None]

    def query_terms(self, query: str) -> dict[str, float]:
        """The index terms of a query and their frequencies, in order of occurrence."""
        return {term: float(count) for term, count in Counter(self.tokens(query)).items()}

    def __repr__(self) -> str:
        stopwords: Any = "lucene" if self.stopwords == LUCENE_STOPWORDS else len(self.stopwords)
        return f"WordTokeniser(stemmer={self.stemmer!r}, stopwords={stopwords!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordTokeniser) and self.settings == other.settings

    def __hash__(self) -> int:
        return hash((self.stemmer, self.stopwords, self.normal_form))

    def __reduce__(self) -> tuple[Any, ...]:
        # The stemmer is a C object, which cannot be pickled.
        settings = {name: value for name, value in self.settings.items() if name != "name"}
        return (partial(type(self), **settings), ())


def _stopwords(stopwords: str | Iterable[str] | None) -> tuple[str, ...]:
    if stopwords == "lucene":
        return LUCENE_STOPWORDS
    if isinstance(stopwords, str):
        raise ValueError(
            f"there is no list of stopwords {stopwords!r}: pass 'lucene', None, or a list"
        )
    return () if stopwords is None else tuple(stopwords)


def _stem_by(stemmer: str | None) -> Callable[[str], str]:
    """The function from a word to its stem."""
    if stemmer is None:
        return str
    import Stemmer

    try:
        return Stemmer.Stemmer(stemmer).stemWord  # type: ignore[no-any-return]
    except KeyError:
        names = ", ".join(sorted(Stemmer.algorithms()))
        raise ValueError(f"there is no stemmer {stemmer!r}: pass None or one of {names}") from None
