"""The release, which files that another one may meet name beside the number of their format."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__: str = version("ragloom")  # of the tag that it was built from
except PackageNotFoundError:  # source files that nobody installed
    __version__ = "0+unknown"
