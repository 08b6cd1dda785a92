"""Atomized search length, lexicographic precision, rareness and time-biased gain for PyTerrier.

Importing this package registers its measures with ir_measures, so that they work in
``pt.Experiment(..., eval_metrics=[ASL, LexiP])`` next to AP and nDCG. Large dependencies are
imported on first use.
"""

import lazy_loader

from .measures import provider as provider  # registers the measures and the provider

__version__ = "0.1.0"

# The public names and where they come from are listed in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
