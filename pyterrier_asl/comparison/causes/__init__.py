"""Causes of a difference between two runs that are not the systems: ids, queries, scores, labels.

:mod:`.find` asks each cause in turn; every other module holds the tests of some causes. A test
compares the two runs with each other and with the qrels, and has the false alarm rate
:data:`.pair.ALPHA` under the model that it names.
"""
