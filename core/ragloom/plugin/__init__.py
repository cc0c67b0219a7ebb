"""The plugin host, and the registry of what plugins provide."""
