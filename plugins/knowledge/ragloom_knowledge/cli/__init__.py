"""``ragloom knowledge``."""

from ragloom_knowledge.cli import lessons, queries, staging
from ragloom_knowledge.cli._group import knowledge

__all__ = ["knowledge", "lessons", "queries", "staging"]
