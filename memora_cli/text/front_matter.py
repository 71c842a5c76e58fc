"""Writes a note as Markdown with YAML front matter, so that it reads back the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

_UNSAFE = re.compile(r'[<>:"/\\|?*#^\[\]\x00-\x1f\x7f]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
NAME_BYTES = 120  # of a file name without its ending; file systems take 255, and sync tools add to names


def compose(fields: Mapping[str, Any], body: str) -> str:
    """The text of a Markdown file."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        # Quoted where a line of the value could be taken for the end of the front matter, or would be folded.
        style = '"' if any(not char.isprintable() for char in text) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)

    def dump(*, allow_unicode: bool) -> str:
        return yaml.dump(dict(fields), Dumper=Dumper, allow_unicode=allow_unicode, sort_keys=False, width=10**9)

    front = dump(allow_unicode=True)
    if unicodedata.normalize("NFC", front) != front:  # a mark would join the last letter of an escape before it
        front = dump(allow_unicode=False)
    return f"---\n{front}---\n{body}\n"


def file_name(text: str) -> str:
    """The text as a file name without ending that every system takes; empty when nothing of it is left."""
    name = " ".join(_UNSAFE.sub(" ", unicodedata.normalize("NFC", text)).split())
    name = "".join(char for char in name if char.isprintable()).strip(" .")
    while len(name.encode("utf-8", "replace")) > NAME_BYTES:
        name = name[:-1]
    name = name.strip(" .")
    return f"_{name}" if _RESERVED.match(name) or name.startswith("-") else name
