"""Runs and qrels from files and frames, and tables and files that are written."""
