"""Display: untrusted text cannot act on a terminal, and stays legible."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.text.display import visible, visible_line

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "␛]8;;http://x␛\\link␛]8;;␛\\"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("a\x9b31m", "a\\u009b31m"),
        ("a\rb\x00\x7f\x08", "a␍b␀␡␈"),
        ("user\u202etxt.exe", "user\\u202etxt.exe"),
        ("a\u2066b\u2069\u200e\u061c", "a\\u2066b\\u2069\\u200e\\u061c"),
        ("a\u2028b\u2029c\u200bd\ufeff", "a\\u2028b\\u2029c\\u200bd\\ufeff"),
        ("lone \udce9", "lone \\udce9"),
        ("hidden \U000e0041", "hidden \\U000e0041"),
        ("pay\u200dpal", "pay\\u200dpal"),
    ],
)
def test_what_could_act_or_hide_is_shown(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "[x] list[str] [/items] src/[id].tsx [link=x]",
        "tab\tand\nline",
        "žluťoučký ½ ✓ 日本語",
        "می\u200cخواهم",
        "ന\u0d4d\u200d",
        "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    ],
)
def test_ordinary_text_is_shown_as_typed(text):
    assert visible(text) == text


def test_one_line_has_single_spaces():
    assert visible_line(" a\n\n\tb\r\n  c\x1b ") == "a b c␛"


@given(st.text(st.characters()))
def test_nothing_that_acts_is_left(text):
    shown = visible(text)
    assert not [char for char in shown if unicodedata.category(char) in {"Cc", "Zl", "Zp", "Cs"} and char not in "\n\t"]
    assert not set(BIDI) & set(shown)
    shown.encode()
    assert visible(shown) == shown


@given(st.text(st.characters()))
def test_one_line_is_one_line(text):
    line = visible_line(text)
    assert not set("\n\t\r\v\f\x85\u2028\u2029") & set(line)
    assert "  " not in line
