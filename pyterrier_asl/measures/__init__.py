"""The measures of this package, one file each, registered with ir_measures."""

from . import standard as standard
from ._base import PluginMeasure
from .asl import ASL, nASL
from .lexip import LexiP
from .rareness import AP_Rareness, P_Rareness
from .tbg import TBG

__all__ = ["ASL", "TBG", "AP_Rareness", "LexiP", "P_Rareness", "PluginMeasure", "nASL"]
