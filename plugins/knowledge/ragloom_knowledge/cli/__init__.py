"""``ragloom knowledge``."""

from ragloom_knowledge.cli import agents, lessons, queries, staging
from ragloom_knowledge.cli._group import knowledge

__all__ = ["agents", "knowledge", "lessons", "queries", "staging"]
