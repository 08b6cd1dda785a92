"""Leaderboards with intervals of ranks over topics, unjudged documents, judges, collections."""
