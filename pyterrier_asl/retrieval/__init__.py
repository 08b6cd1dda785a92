"""Retrieval without Java (TermIndex), feedback, and the same over Terrier."""
