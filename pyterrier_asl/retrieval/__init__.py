"""Retrieval and feedback over a TermIndex, without Java, and over Terrier."""
