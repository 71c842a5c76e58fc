r"""A person's own line for each record: `{field}` stands for a value, `\t` and `\n` for tab and line feed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from memora_cli.errors import Usage
from memora_cli.render.terminal import say
from memora_cli.text.display import visible_line

ESCAPES = {r"\t": "\t", r"\n": "\n", r"\\": "\\"}
_ESCAPE = re.compile(r"\\.")


@dataclass(frozen=True, slots=True)
class Piece:
    """Text as it is, and the field after it with its format, "" for none."""

    text: str
    field: str = ""
    spec: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """A template that was read; `fill` makes the line of one record."""

    pieces: tuple[Piece, ...]

    def fill(self, record: Mapping[str, Any]) -> str:
        """The line: texts on one line and safe for a terminal, lists with commas, nothing for null.

        Raises `Usage` for a format that does not fit its value.
        """
        return "".join(
            piece.text + (_value(record[piece.field], piece) if piece.field else "") for piece in self.pieces
        )


def read_template(text: str, fields: Collection[str]) -> Template:
    """The template; a field may have a format, as `{score:.3f}`. Raises `Usage`, which lists the fields."""
    known = f"the fields are {', '.join(fields)}"
    pieces = []
    try:
        for literal, field, spec, conversion in Formatter().parse(text):
            if field is not None and (field not in fields or conversion or "{" in (spec or "")):
                raise Usage(f"--format knows no {{{field}{'!' + conversion if conversion else ''}}}: {known}")
            pieces.append(Piece(_ESCAPE.sub(_escape, literal), field or "", spec or ""))
    except ValueError as error:
        raise Usage(f"--format cannot be read, {error}: write {{field}}, and {{{{ for a brace; {known}") from error
    return Template(tuple(pieces))


def print_records(records: Iterable[Mapping[str, Any]], template: str) -> None:
    """One line for each record."""
    made: Template | None = None
    for record in records:
        made = made or read_template(template, record)
        say(made.fill(record))


def _escape(match: re.Match[str]) -> str:
    return ESCAPES.get(match[0], match[0])


def _value(value: object, piece: Piece) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    try:
        return format(visible_line(value) if isinstance(value, str) else value, piece.spec)
    except (ValueError, TypeError):
        raise Usage(f'--format cannot print {piece.field} as "{piece.spec}"') from None
