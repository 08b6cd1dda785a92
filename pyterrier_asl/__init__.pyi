from .assessment.audit import Audit, audit
from .assessment.audit_plan import plan_audit
from .assessment.compare_judges import JudgeReport, judges
from .comparison.compare import compare
from .comparison.result import RunComparison
from .evaluation.evaluate import evaluate
from .evaluation.explanation import Explanation, explain
from .evaluation.labellings import bounds
from .evaluation.preferences import preference_matrix, preferences
from .evaluation.relevant_documents import search_lengths
from .evaluation.scores import read_scores
from .evaluation.ties import ties
from .experiment.experiment import Experiment
from .experiment.trace import Trace, trace
from .io.label_files import read_labels
from .io.qrels import read_qrels
from .io.runs import read_run, read_runs
from .judging.qrels import Qrels, merge_labels
from .leaderboard.ranks import ranks
from .leaderboard.result import Leaderboard
from .measures.asl import ASL, nASL
from .measures.lengths import DocLengths
from .measures.lexip import LexiP
from .measures.pool import RarenessPool
from .measures.rareness import AP_Rareness, P_Rareness
from .measures.tbg import TBG
from .reporting import report
from .retrieval.feedback import RobertsonPRF
from .retrieval.index import TermIndex
from .tuning import KFoldRandomSearch, RandomSearch, Stage, StagedSearch, bm25_stages
from .unjudged.holes import Holes, holes

__version__: str

__all__ = [
    "ASL",
    "AP_Rareness",
    "Audit",
    "DocLengths",
    "Experiment",
    "Explanation",
    "Holes",
    "JudgeReport",
    "KFoldRandomSearch",
    "Leaderboard",
    "LexiP",
    "P_Rareness",
    "Qrels",
    "RandomSearch",
    "RarenessPool",
    "RobertsonPRF",
    "RunComparison",
    "Stage",
    "StagedSearch",
    "TBG",
    "TermIndex",
    "Trace",
    "audit",
    "bm25_stages",
    "bounds",
    "compare",
    "evaluate",
    "explain",
    "holes",
    "judges",
    "merge_labels",
    "nASL",
    "plan_audit",
    "preference_matrix",
    "preferences",
    "ranks",
    "read_labels",
    "read_qrels",
    "read_run",
    "read_runs",
    "read_scores",
    "report",
    "search_lengths",
    "ties",
    "trace",
]
