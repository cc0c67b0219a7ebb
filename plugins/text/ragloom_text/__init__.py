"""A ragloom plugin."""
