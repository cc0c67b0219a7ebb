"""Indexes served over the Model Context Protocol: the command ``ragloom mcp``."""
