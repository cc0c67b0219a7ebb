"""From files to an index: the index run, the store, and crash recovery."""
