"""Atomized search length, lexicographic precision, rareness and time-biased gain for PyTerrier."""

__version__ = "0.1.0"
