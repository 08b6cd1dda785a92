"""The papers' tables and figures, from any runs and qrels: one file a question.

Each is a function of this package, imported when it is first used:

>>> from pyterrier_asl.analysis import ties
>>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
>>> ties(runs, {"q": {"d": 1, "e": 1}})["ties"].tolist()
[0, 1]
"""

import lazy_loader

# The public names and where they come from are listed in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
