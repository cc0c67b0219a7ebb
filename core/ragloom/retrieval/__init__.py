"""From a query to hits: ranking, fusion, the gate, and the check against the disk."""
