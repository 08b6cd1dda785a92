"""Runs compared with a baseline."""
