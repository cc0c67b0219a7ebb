"""Measure retrieval on judged collections: quality, what the gate lets through, and latency."""
