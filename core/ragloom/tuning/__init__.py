"""Measure, compare and tune a space on its own documents: no judgments and no other model are needed."""
