from ragloom import Document, SourceError


class RstLoader:
    suffixes = frozenset({".rst"})
    fingerprint = "rst-example-1"

    def load(self, source, content):
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise SourceError(f"not UTF-8 at byte {error.start}") from error
        return Document(
            uri=source.uri,
            text=text,
            media_type="text/x-rst",
            metadata={"loaded_by": "ragloom-rst-example"},
        )
