"""The release, which files that another one may meet name beside the number of their format."""

__version__ = "0.1.0"
