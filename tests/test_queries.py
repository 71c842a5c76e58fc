"""The promises of words: whatever is typed is searched, in any script, spelling and case, and never an error."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from conftest import NOW
from fakes import ask, found, listed, open_at
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memora_cli.errors import EmptyQuery
from memora_cli.values import Draft, Filters

SPACES = itertools.count()

# What is typed, and a note that holds it.
TYPED = {
    "real-time": "The dashboard is updated in real-time by the server",
    "DEC-0054": "DEC-0054 was decided without me",
    "zoom.us": "Join at zoom.us tomorrow",
    "GB/s": "The disk reads 3 GB/s and not more",
    "don't panic": "The cover says don't panic",
    "C++": "He still writes C++ at night",
    "50%": "The jacket costs 50% less",
    "me@example.org": "Write to me@example.org instead",
    '"unclosed': 'He said "unclosed and left',
    "pizza (": "We had pizza (with olives)",
    "AND": "The gate is an AND of two wires",
    "NEAR(": "NEAR( is an operator of a search engine",
    "title:x": "The header title:x is ignored",
    "atomic_write_json": "Call atomic_write_json(path, value) instead",
    "username": "getUserName() returns nothing",
    "召回": "中文关键词召回效果不好",
    "zlutoucky": "Příliš žluťoučký kůň",
    "žluťoučký": "Příliš žluťoučký kůň",
    "smørrebrød": "Lunch was smorrebrod again",
    "i18n": "The i18n of the menu is missing",
    "東京": "私は東京に住んでいます",
    "서울": "서울에서 만나요",
    "ΑΘΗΝΑ": "Η Αθήνα είναι μεγάλη",
    "собака": "Собака лает",
    "हिन्दी": "मैं हिन्दी बोलता हूँ",
    "مدرسة": "المدرسة مدرسة كبيرة",
    "STRASSE": "Die Straße ist gesperrt",
    "🦊 fox": "A fox crossed the road",
    "NOT fox": "A fox crossed the road",
    "fox OR": "A fox crossed the road",
    "fox*": "A fox crossed the road",
    "^fox": "A fox crossed the road",
    "{fox} + -fox": "A fox crossed the road",
    "fox\x00": "A fox crossed the road",
    "-v": "Run it with -v to see more",
    "--help": "The flag --help prints the manual",
}

SEVERAL = {"AND", "NOT fox", "-v"}  # other notes hold these words too


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """All these notes, with the real embedder."""
    with open_at(tmp_path_factory.mktemp("queries") / "memora.db") as opened:
        opened.add_all([Draft(text) for text in dict.fromkeys(TYPED.values())], NOW)
        yield opened


@pytest.fixture(scope="module")
def notepad(tmp_path_factory):
    """A memory for tests that take a space of their own."""
    with open_at(tmp_path_factory.mktemp("notepad") / "memora.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def ids(memory):
    return {note.body: note.id for note in memory.notes(Filters())}


@pytest.mark.parametrize("typed", list(TYPED))
def test_what_is_typed_finds_the_note_that_holds_it(memory, ids, typed):
    trace = ask(memory, typed, NOW)
    assert listed(trace, "keyword")[0] == ids[TYPED[typed]] or typed in SEVERAL
    assert ids[TYPED[typed]] in found(trace)
    assert trace.degraded == ()


@pytest.mark.parametrize("typed", list(TYPED))
def test_what_is_typed_finds_the_note_that_holds_it_without_an_index_too(memory, ids, typed):
    assert ids[TYPED[typed]] in listed(ask(memory, typed, NOW, backend="like"), "keyword")


@pytest.mark.parametrize("typed", ["", " ", "*", "?!", "\t\n", "()", "—", "...", '"', "\x00", "'", "🦊", "%", "_"])
def test_a_query_without_a_letter_or_digit_is_an_empty_query(memory, typed):
    with pytest.raises(EmptyQuery):
        ask(memory, typed, NOW)


@settings(deadline=None, max_examples=120)
@given(
    st.text(st.characters())
    | st.text("\"'()*:^-+%_\\[]{}#@&|~ \x00\ud800aAnNdDrR中é")
    | st.text(st.characters(), min_size=500)
)
@example("in 99999999999999999999 BC")
@example("A" + "\u0301" * 500)
def test_no_query_string_is_an_error(memory, typed):
    for backend in ("auto", "like"):
        try:
            trace = ask(memory, typed, NOW, rerank=False, backend=backend)
        except EmptyQuery:
            assert not any(
                unicodedata.category(character)[0] in "LN" for character in unicodedata.normalize("NFC", typed)
            )
        else:
            assert trace.degraded == ()


@pytest.mark.parametrize("backend", ["auto", "like"])
@pytest.mark.parametrize(
    "typed",
    ["fox " * 5000, "中" * 3000, "last spring " * 200, "(" * 5000 + "fox"],
    ids=["words", "cjk", "times", "marks"],
)
def test_a_very_long_query_is_no_error(memory, typed, backend):
    assert ask(memory, typed, NOW, backend=backend).degraded == ()


@pytest.mark.parametrize("backend", ["auto", "like"])
def test_a_query_of_one_very_long_word_is_no_error(memory, backend):
    assert ask(memory, "x" * 100_000, NOW, backend=backend).degraded == ()


@pytest.mark.parametrize("typed", ["\ud800 a", "[[a\udfff]]", "#a\ud800", "fox @b\udcff"])
def test_half_a_surrogate_pair_in_a_query_is_no_error(memory, typed):
    assert ask(memory, typed, NOW).degraded == ()


@pytest.mark.parametrize(
    "typed",
    ["on 9999-12-31", "since 0000-00-00 until 9999-12-31", "on 0001-01-01", "in 10000 days", "in 9999999 years"],
)
def test_a_query_that_names_the_end_of_the_calendar_is_no_error(memory, typed):
    ask(memory, typed, NOW)


@settings(deadline=None, max_examples=25)
@given(st.text(st.characters(), min_size=1, max_size=60))
def test_the_reranker_reads_any_query(memory, typed):
    try:
        trace = ask(memory, f"fox {typed}", NOW)
    except EmptyQuery:
        return
    assert trace.degraded == ()


@settings(deadline=None, max_examples=60)
@given(st.text(min_size=1, max_size=40).filter(str.strip))
def test_any_text_with_a_word_is_found_by_itself(notepad, typed):
    notepad.space = f"space-{next(SPACES)}"
    notepad.add(Draft("something else 0"), NOW, embed=False)
    number = notepad.add(Draft(typed), NOW, embed=False).id
    for backend in ("auto", "like"):
        try:
            trace = ask(notepad, typed, NOW, rerank=False, backend=backend)
        except EmptyQuery:
            return
        assert number in listed(trace, "keyword")


@pytest.mark.parametrize("backend", ["auto", "like"])
def test_a_word_that_is_nowhere_beside_one_that_is_loses_nothing(memory, ids, backend):
    for typed, text in (("召回 不存在", TYPED["召回"]), ("fox qqqqqq", TYPED["fox*"]), ("효과 서울", TYPED["서울"])):
        assert ids[text] in listed(ask(memory, typed, NOW, backend=backend), "keyword")


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_every_normal_form_finds_every_normal_form(memora, form):
    memora("add", unicodedata.normalize("NFD", "le café crème"), "--no-embed")
    memora("add", unicodedata.normalize("NFC", "un café noir"), "--no-embed")
    memora("add", "thé", "--topic", unicodedata.normalize("NFD", "Café"), "--no-embed")
    typed = unicodedata.normalize(form, "CAFÉ")
    assert set(memora("search", typed, "--ids").out.split()) == {"1", "2", "3"}
    assert memora("search", "thé", "--topic", typed, "--ids").out.split() == ["3"]
    assert "café crème" in memora("search", typed).out


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("reach Maria", "can I reach Maria"),
        ("Мария телефон", "как мне найти телефон Мария"),
        ("Αθήνα", "τι είναι η Αθήνα"),
        ("مدرسة", "ما هي مدرسة"),
        ("हिन्दी", "क्या है हिन्दी"),
        ("Hund", "was macht der Hund bei uns"),
    ],
)
@pytest.mark.parametrize("backend", ["auto", "like"])
def test_function_words_never_void_a_query(memora, short, long, backend):
    memora("add", f"Note: {short}", "--no-embed")
    memora("add", "nothing of that", "--no-embed")
    for typed in (short, long):
        assert memora("search", typed, "--backend", backend, "--ids").out.split()[0] == "1"


def test_a_query_of_function_words_alone_is_searched(memora):
    memora("add", "to be or not to be", "--no-embed")
    assert memora("search", "to be or not", "--ids").out == "1\n"


def test_of_a_long_question_the_words_that_tell_most_are_kept(memora):
    for number in range(5):
        memora("add", f"the system of the machine with the part {number}", "--no-embed")
    memora("add", "Rumpelstiltskin", "--no-embed")
    filler = "what is the part of the system that was in the machine with which we have had all of these problems for"
    value = memora("explain", f"{filler} so long Rumpelstiltskin", "--json").json
    assert len(value["words"]) <= 12
    assert "rumpelstiltskin" in value["words"]
    assert 6 in [hit["id"] for hit in value["strategies"]["keyword"]]


@pytest.mark.parametrize("typed", ["100%", "a_b", "50% off", "snake_case_name", "%a%"])
def test_the_wildcards_of_like_are_text(memora, typed):
    memora("add", "1000 xab snakeXcaseXname offer", "--no-embed")
    number = memora("add", f"value: {typed} a 100 50", "--no-embed").out.strip()
    trace = memora("explain", typed, "--backend", "like", "--json").json
    assert trace["strategies"]["keyword"][0]["id"] == int(number)


@pytest.mark.parametrize("typed", ["_", "%", "%%", "a%b", "_x_"])
def test_a_wildcard_in_a_query_matches_nothing_more(memora, typed):
    memora("add", "completely different", "--no-embed")
    outcome = memora("search", typed, "--backend", "like", "--ids", code=None)
    assert outcome.out == ""
    assert outcome.code in (0, 2)


def test_a_word_that_is_part_of_another_word_is_found_by_like_and_weighs_by_its_place(memora):
    memora("add", "nothing", "--title", "coffee", "--no-embed")
    memora("add", "nothing else", "--topic", "coffee", "--no-embed")
    memora("add", "a coffee", "--no-embed")
    hits = memora("explain", "coffee", "--backend", "like", "--json").json["strategies"]["keyword"]
    assert [(hit["id"], hit["score"]) for hit in hits] == [(1, 10.0), (2, 5.0), (3, 1.0)]


def test_the_index_too_weighs_title_before_topic_before_text(memora):
    for number in range(8):
        memora("add", f"filler {number}", "--no-embed")
    memora("add", "a coffee and some more", "--no-embed")
    memora("add", "some other words here", "--topic", "coffee", "--no-embed")
    memora("add", "some other words there", "--title", "coffee", "--no-embed")
    hits = memora("explain", "coffee", "--json").json["strategies"]["keyword"]
    assert [hit["id"] for hit in hits] == [11, 10, 9]


def test_a_topic_of_several_words_is_matched_whole_by_like(memora):
    memora("add", "one", "--topic", "catalogue", "--no-embed")
    memora("add", "two", "--topic", "cat", "--no-embed")
    hits = memora("explain", "cat", "--backend", "like", "--json").json["strategies"]["keyword"]
    assert [hit["id"] for hit in hits] == [2]


def test_a_query_may_begin_with_a_dash_after_two_dashes(memora):
    memora("add", "run it with -v", "--no-embed")
    assert memora("search", "--ids", "--", "-v").out == "1\n"
    assert memora("search", "--ids", "--", "--verbose", "-v").out == "1\n"


def test_the_words_of_a_query_may_stand_apart(memora):
    memora("add", "Alice works at Google", "--no-embed")
    options = ("--at", "2025-11-24", "--json")
    assert memora("search", "Alice", "Google", *options).json == memora("search", "Alice Google", *options).json
