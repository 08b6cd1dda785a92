"""The measures of this package, one file each, registered with ir_measures."""

from ._base import PluginMeasure as PluginMeasure
from .asl import ASL as ASL
from .asl import nASL as nASL
from .lexip import LexiP as LexiP
from .rareness import AP_Rareness as AP_Rareness
from .rareness import P_Rareness as P_Rareness
from .tbg import TBG as TBG
