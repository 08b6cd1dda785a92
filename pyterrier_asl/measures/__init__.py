"""What is measured: one file a measure, each known to ir_measures by its name."""

from ._base import PluginMeasure
from .asl import ASL, nASL
from .lexip import LexiP
from .rareness import AP_Rareness, P_Rareness
from .tbg import TBG

__all__ = [
    "ASL",
    "TBG",
    "AP_Rareness",
    "LexiP",
    "P_Rareness",
    "PluginMeasure",
    "nASL",
]
