"""Tests, corrections, intervals, agreement and rank correlation."""
