"""Makes untrusted text safe and legible on a terminal: what could act or hide is shown."""

from __future__ import annotations

import re

# The numbers of characters that would move the cursor, reorder text or show nothing.
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HIDDEN = (0x00AD, 0x180E, 0x200B, 0x2028, 0x2029, *range(0x2060, 0x2066), *range(0x206A, 0x2070), 0xFEFF)
_SPECIAL = (*range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080), *range(0xD800, 0xE000))

_VISIBLE: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_VISIBLE[0x7F] = "\u2421"
_VISIBLE.update({code: f"\\u{code:04x}" for code in (*range(0x80, 0xA0), *_BIDI, *_HIDDEN)})
_VISIBLE.update({code: f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}" for code in _SPECIAL})

# Joiners are kept where a script or an emoji needs them, after a character that is neither ASCII nor a joiner.
_STRAY_JOINER = re.compile("(?<![^\x00-\x7f\u2000-\u206f])[\u200c\u200d]")
# The flags of England, Scotland and Wales are spelled with characters that otherwise hide text.
_FLAG = re.compile("(\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f)")


def visible(text: str) -> str:
    """The text with control, bidirectional and hidden characters in visible form; only LF and TAB stay as they are."""
    if text.isascii() and text.isprintable():
        return text
    text = _STRAY_JOINER.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    pieces = _FLAG.split(text)
    return "".join(piece if at % 2 else piece.translate(_VISIBLE) for at, piece in enumerate(pieces))


def visible_line(text: str) -> str:
    """The same on one line: every run of white space is one space, none at the ends."""
    return visible(re.sub(r"[ \t\n\r\f\v\u00a0]+", " ", text).strip(" "))
