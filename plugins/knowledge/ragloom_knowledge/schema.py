"""The tables: the staging table of Decision 68, with counts, and a record of checkpoints.

What must hold is in the database itself, so that it holds for whoever writes to it.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from ragloom_knowledge.types import LONGEST

metadata: Final = sa.MetaData()
_GREATEST: Final = 2**31 - 1  # that PostgreSQL's integer holds

lessons: Final = sa.Table(
    "knowledge_staging",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("entry_type", sa.String(50), nullable=False),
    sa.Column("project_id", sa.String(LONGEST["project"]), nullable=False),
    sa.Column("agent_type", sa.String(LONGEST["agent_type"]), nullable=False),
    sa.Column("task_type", sa.String(LONGEST["task_type"])),
    sa.Column("technology", sa.String(LONGEST["technology"])),
    sa.Column("failure_description", sa.Text),
    sa.Column("error_message", sa.Text),
    sa.Column("solution_steps", sa.Text),
    sa.Column("gate_type", sa.String(LONGEST["gate_type"])),
    sa.Column("human_feedback", sa.Text),
    sa.Column("revision_approach", sa.Text),
    sa.Column("approved_approach", sa.Text),
    sa.Column("applies_to", sa.Text),
    sa.Column("success_verified", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("embedded", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("timestamp", sa.DateTime, nullable=False, server_default=sa.func.current_timestamp()),
    sa.Column("embedded_at", sa.DateTime),
    sa.Column("signature", sa.String(32), nullable=False),
    sa.Column("variant", sa.Integer, nullable=False, server_default="0"),
    sa.Column("successes", sa.Integer, nullable=False, server_default="0"),
    sa.Column("uses", sa.Integer, nullable=False, server_default="0"),
    sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("superseded_by", sa.String(36)),
    sa.UniqueConstraint("entry_type", "signature", "variant", name="uq_knowledge_same_lesson"),
    sa.CheckConstraint(
        "(entry_type = 'failure_solution' AND failure_description IS NOT NULL) OR "
        "(entry_type = 'gate_rejection' AND gate_type IS NOT NULL) OR "
        "(entry_type = 'gate_approval' AND gate_type IS NOT NULL)",
        name="ck_knowledge_fields_of_type",
    ),
    sa.CheckConstraint(
        "NOT success_verified OR solution_steps IS NOT NULL OR revision_approach IS NOT NULL OR "
        "approved_approach IS NOT NULL",
        name="ck_knowledge_verified_has_solution",
    ),
    sa.CheckConstraint("NOT embedded OR success_verified", name="ck_knowledge_only_verified"),
    sa.CheckConstraint(
        "NOT embedded OR embedded_at IS NOT NULL", name="ck_knowledge_embedded_when"
    ),
    sa.CheckConstraint(
        f"0 <= successes AND successes <= uses AND uses <= {_GREATEST}", name="ck_knowledge_counts"
    ),
    sa.CheckConstraint(f"variant BETWEEN 0 AND {_GREATEST}", name="ck_knowledge_variant"),
    sa.Index("idx_knowledge_staging_project", "project_id"),
    sa.Index("idx_knowledge_staging_embedded", "embedded"),
)

learnt_again: Final = sa.Table(
    "knowledge_learnt_again",
    metadata,
    sa.Column("lesson_id", sa.String(36), primary_key=True),
    sa.Column("project_id", sa.String(LONGEST["project"]), primary_key=True),
)
"""Which other projects captured a lesson: it is staged for each of them."""

checkpoints: Final = sa.Table(
    "knowledge_checkpoints",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("project_id", sa.String(LONGEST["project"]), nullable=False),
    sa.Column("checkpoint_type", sa.String(50), nullable=False),
    sa.Column("lessons", sa.Integer, nullable=False),
    sa.Column("timestamp", sa.DateTime, nullable=False),
    sa.CheckConstraint(
        "checkpoint_type IN ('phase_completion', 'project_completion', 'cancellation', 'manual')",
        name="ck_knowledge_checkpoint_type",
    ),
)

written: Final = sa.Table(
    "knowledge_format",
    metadata,
    sa.Column("format", sa.Integer, primary_key=True),
    sa.Column("release", sa.String(40), nullable=False),
)
"""The format of the tables, and the release that made them: one row."""

FORMAT: Final = 1

for _table in metadata.tables.values():
    for _column in _table.columns:
        if isinstance(_column.type, sa.String) and _column.type.length:  # SQLite looks at no length
            _name = f"ck_{_table.name}_{_column.name}_length"
            _fits = sa.func.length(_column) <= sa.literal_column(str(_column.type.length))
            _table.append_constraint(sa.CheckConstraint(_fits, name=_name))
