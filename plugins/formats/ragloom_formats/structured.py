"""Passages as data: JSON for a program, XML for a model."""

from __future__ import annotations

import json

from ragloom import Context, Json
from ragloom.context import closest_json, shown_titles, titles_line, xml_attribute, xml_text


class JsonFormatter:
    """One object: ``passages``, each with path, lines, relevance, headings and text; ``reason``.

    A passage that goes on in its file is ``truncated``.

    Without passages ``closest`` is the closest one's place, null where there is none.
    """

    def render(self, context: Context) -> str:
        """See :meth:`ragloom.Formatter.render`; an empty list and the reason for no citations.

        The headings are all those that lead to the passage, whatever it begins with itself.
        """
        passages: list[Json] = [
            {
                "path": citation.path,
                "start_line": citation.lines.start,
                "end_line": citation.lines.end,
                "relevance": round(citation.relevance, 4),
                "headings": list(citation.headings),
                "text": citation.text,
                **({"truncated": True} if citation.truncated else {}),
            }
            for citation in context.citations
        ]
        content: dict[str, Json] = {"passages": passages, "reason": context.reason}
        if not passages:
            content["closest"] = closest_json(context)
        try:
            text = json.dumps(content, ensure_ascii=False)
            text.encode()
        except UnicodeEncodeError:  # a file name that is not UTF-8 has lone surrogates
            text = json.dumps(content)
        return text + "\n"


class XmlFormatter:
    """``<passages>`` of ``<passage index path lines relevance headings>``: well-formed XML 1.0.

    A parser gives back every passage letter for letter, except for characters that XML cannot hold
    (most control characters, lone surrogates), which become U+FFFD. Only ``&``, ``<``, carriage
    returns and the ``>`` of ``]]>`` are escaped, so that code stays readable.
    """

    def render(self, context: Context) -> str:
        """See :meth:`ragloom.Formatter.render`; for no citations an empty element with the reason."""
        citations = context.citations
        if not citations:
            return f'<passages reason="{xml_attribute(context.reason)}"/>\n'
        rendered = ["<passages>\n"]
        for number, (citation, titles) in enumerate(
            zip(citations, shown_titles(citations), strict=True), start=1
        ):
            attributes = {
                "index": str(number),
                "path": citation.path,
                "lines": f"{citation.lines.start}-{citation.lines.end}",
                "relevance": f"{citation.relevance:.2f}",
                **({"headings": titles_line(titles)} if titles else {}),
                **({"truncated": "true"} if citation.truncated else {}),
            }
            written = "".join(
                f' {name}="{xml_attribute(value)}"' for name, value in attributes.items()
            )
            text = xml_text(citation.text)
            rendered.append(f"<passage{written}>{text}</passage>\n")
        return f"{''.join(rendered)}</passages>\n"
