"""Assessment of judges, people, crowds and machines: agreement, human range, audits by people."""
