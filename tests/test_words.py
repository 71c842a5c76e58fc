"""Words: what is the same word, what the index holds, what a question asks."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora_cli.text import stopwords
from memora_cli.text.words import (
    fold,
    identifier_forms,
    is_stop_word,
    normalise,
    query_words,
    search_text,
    stem,
    tokens,
    written_words,
)

ANY_TEXT = st.text(st.characters(), max_size=80)
LANGUAGES = [
    "ENGLISH",
    "GERMAN",
    "FRENCH",
    "SPANISH",
    "ITALIAN",
    "PORTUGUESE",
    "DUTCH",
    "RUSSIAN",
    "GREEK",
    "ARABIC",
    "HINDI",
]


def found(query: str, note: str) -> bool:
    """Whether at least one word of the query is in what the index holds for the note."""
    return bool(set(query_words(query)) & set(search_text(note).split()))


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("nul\x00", "nul\ufffd"),
        ("latin \udce9", "latin \ufffd"),
        ("cafe\u0301", "café"),
        ("日本語 ✓", "日本語 ✓"),
    ],
)
def test_stored_text_is_nfc_with_plain_line_ends_and_no_damaged_characters(typed, stored):
    assert normalise(typed) == stored


@given(ANY_TEXT)
def test_normalising_is_idempotent_and_always_encodes(text):
    once = normalise(text)
    once.encode()
    assert normalise(once) == once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("zlutoucky", "žluťoučký"),
        ("café", "cafe\u0301"),
        ("STRASSE", "straße"),
        ("Łódź", "lodz"),
        ("smørrebrød", "smorrebrod"),
        ("ﬁle", "file"),
        ("ＡＢＣ", "abc"),
        ("ΟΔΟΣ", "οδός"),
        ("Ёлка", "елка"),
        ("می\u200cخواهم", "میخواهم"),
        ("soft\u00adhyphen", "softhyphen"),
        ("İstanbul", "istanbul"),
    ],
)
def test_spellings_of_the_same_word_fold_to_one(one, other):
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("की", "का"), ("น้ำ", "นา"), ("كَتَبَ", "كُتِبَ"), ("が", "か")])
def test_vowel_signs_of_other_scripts_are_not_taken_for_accents(one, other):
    assert fold(one) != fold(other)


@given(ANY_TEXT)
def test_folding_is_idempotent(text):
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't panic, it's 50%!", ["don", "t", "panic", "it", "s", "50"]),
        ("C++ me@example.org", ["c", "me", "example", "org"]),
        ("使用Python编程3次", ["使用", "python", "编程", "3", "次"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("1\ufe0f\u20e3 ❤\ufe0f", ["1"]),
        ("*** ( ! )", []),
    ],
)
def test_tokens_are_runs_of_letters_marks_and_digits(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("real-time", "a real-time clock"),
        ("realtime", "a real-time clock"),
        ("DEC-0054", "see DEC-0054"),
        ("zoom.us", "https://zoom.us/j/1"),
        ("GB/s", "9 GB/s"),
        ("don't panic", "Don't panic"),
        ("C++", "learn C++"),
        ("50%", "50% off"),
        ("me@example.org", "write to me@example.org"),
        ('"unclosed', "an unclosed quote"),
        ("pizza (", "pizza"),
        ("AND", "this and that"),
        ("NEAR(", "near the lake"),
        ("title:x", "title: x"),
        ("atomic_write_json", "def atomic_write_json(path):"),
        ("atomicwritejson", "atomic_write_json"),
        ("write_json", "atomic_write_json"),
        ("username", "getUserName"),
        ("getUserName", "get_user_name"),
        ("getUserName", "get-user-name"),
        ("get_user_name", "getUserName"),
        ("18n", "i18n"),
        ("response", "getHTTPResponse"),
        ("3.11.2", "Python 3.11.2"),
        ("召回", "中文关键词召回效果不好"),
        ("缺席 召回", "中文关键词召回效果不好"),
        ("猫", "黒猫が好き"),
        ("학교", "학교에서 만나요"),
        ("ไทย", "ภาษาไทย"),
        ("zlutoucky", "žluťoučký kůň"),
        ("cafe\u0301", "café"),
    ],
)
def test_a_note_that_holds_the_text_is_found(query, note):
    assert found(query, note)


def test_the_whole_identifier_weighs_more_than_its_parts():
    exact, parts = search_text("atomic_write_json").split(), search_text("write atomic json").split()
    words = query_words("atomic_write_json")
    assert sum(word in exact for word in words) > sum(word in parts for word in words)


def test_an_identifier_gives_each_further_form_once():
    held = search_text("get_user_name getUserName i18n").split()
    assert held.count("getuser") == 2
    assert held.count("i18n") == 1


@pytest.mark.parametrize("blob", ["550e8400-e29b-41d4-a716-446655440000", "aB" * 500, "deadBEEF" * 20])
def test_hashes_and_blobs_do_not_swell_the_index(blob):
    assert identifier_forms(blob) == ()


@pytest.mark.parametrize(
    "text",
    [
        "can I reach Maria",
        "могу ли я позвать Марию",
        "μπορώ να βρω τη Μαρία",
        "هل يمكن أن أجد مريم",
        "क्या मैं मारिया से मिल सकता हूँ",
    ],
)
def test_function_words_never_void_a_question(text):
    assert any(not is_stop_word(word) for word in query_words(text))


def test_a_question_of_function_words_only_still_has_words():
    assert query_words("What is this?") == ("what", "is", "this")


def test_a_question_finds_what_it_finds_without_its_function_words():
    assert set(query_words("reach Maria")) <= set(query_words("can I reach Maria"))


def test_a_long_question_loses_function_words_first():
    words = query_words(
        "what was the name of the restaurant that we went to after the opera with Jana and Petr in Brno last May"
    )
    assert len(words) == 12
    assert {"name", "restaurant", "went", "after", "opera", "jana", "petr", "brno", "last"} <= set(words)


def test_then_a_long_question_loses_what_no_note_holds_and_the_commonest():
    counts = {"alpha": 1, "beta": 900, "gamma": 0, "delta": 5}
    assert query_words("alpha beta gamma delta", counts.__getitem__, limit=2) == ("alpha", "delta")


def test_words_keep_their_order_and_come_once():
    assert query_words("Tea, tea and more TEA") == ("tea", "and", "more")


@pytest.mark.parametrize("name", LANGUAGES)
def test_stop_words_are_folded_tokens(name):
    words = getattr(stopwords, name)
    assert 30 <= len(words) <= 160
    assert all(tokens(word) == [word] for word in words)


@pytest.mark.parametrize("word", ["car", "ai", "son", "not", "os", "mit", "uber", "ella"])
def test_english_words_names_and_terms_are_no_stop_words(word):
    assert not is_stop_word(word)


@pytest.mark.parametrize(
    ("one", "other"),
    [("cats", "cat"), ("running", "run"), ("worked", "works"), ("filing", "files"), ("studies", "study")],
)
def test_simple_forms_of_a_word_have_one_stem(one, other):
    assert stem(one) == stem(other)


@given(ANY_TEXT)
def test_composed_and_decomposed_text_are_the_same_to_the_index(text):
    assert search_text(unicodedata.normalize("NFC", text)) == search_text(unicodedata.normalize("NFD", text))


@given(ANY_TEXT)
def test_a_text_asked_as_a_question_finds_itself_by_every_word(text):
    assert set(query_words(text, limit=1000)) <= set(search_text(text).split())


@given(ANY_TEXT)
def test_a_question_with_a_letter_or_digit_has_words_and_never_too_many(text):
    words = query_words(text)
    assert bool(words) == bool(tokens(text))
    assert len(words) <= 12


@given(st.from_regex(r"[a-z]{1,6}([A-Z][a-z]{1,6}|_[a-z]{1,6}|[0-9]{1,3}){1,6}", fullmatch=True))
def test_an_identifier_is_found_in_any_spelling(identifier):
    assert "".join(tokens(identifier)) in search_text(identifier).split()


@given(ANY_TEXT)
def test_written_words_are_ordered_ranges_of_the_text(text):
    spans = [span for _, _, inside in written_words(text) for span in inside]
    assert all(start < end for start, end in spans)
    assert spans == sorted(spans)
