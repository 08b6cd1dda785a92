"""Causes of a difference between two runs that are not the systems: ids, queries, scores, labels.

:mod:`.find` looks for each cause. The other modules test for causes by comparing the two runs with
each other and with the qrels, at the level :data:`.cause.ALPHA`.
"""
