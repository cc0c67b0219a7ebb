"""A loader for .rst files, as a stranger would write it."""

from ragloom import Provider, hookimpl


@hookimpl
def ragloom_loaders():
    return [Provider(name="rst", summary="reStructuredText", create=_make)]


def _make(options):
    from ragloom_rst_example.loader import RstLoader

    return RstLoader()
