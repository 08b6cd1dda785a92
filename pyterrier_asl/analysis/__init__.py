"""The papers' tables and figures, from any runs and qrels: one file a question."""
