"""A note's text as Markdown on a terminal: nothing of it is lost, and nothing of it acts."""

from __future__ import annotations

from collections.abc import Iterable

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.markdown import Markdown

from memora_cli.text.display import visible


def markdown(text: str) -> Markdown:
    """The text drawn by Rich, which would leave out HTML and pictures: both stay as they were typed, so do lines.

    Links show their address, and none can be clicked: a note may come from anywhere.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).disable("image")
    drawn = Markdown("", code_theme="ansi_dark", hyperlinks=False)
    drawn.parsed = parser.parse(visible(text))
    _keep_lines(drawn.parsed)
    return drawn


def _keep_lines(tokens: Iterable[Token]) -> None:
    for token in tokens:
        if token.type == "softbreak":
            token.type, token.tag = "hardbreak", "br"
        _keep_lines(token.children or ())
