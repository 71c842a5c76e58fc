"""Calls that are refused are refused in one line, in one style, with exit code 2 and nothing on standard output."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("serch", "x"), "no such command 'serch', did you mean 'search'; see memora --help"),
        (("search", "--limt", 3), "no such option: --limt (possible options: --at, --limit); see memora search --help"),
        (("--bogus",), "no such option: --bogus; see memora --help"),
        (("show",), "missing argument 'ID'; see memora show --help"),
        (("list", "-n", "abc"), "'-n' / '--limit' should be a valid integer; see memora list --help"),
        (("list", "-n", -3), "'-n' / '--limit' should be greater than or equal to 0; see memora list --help"),
        (("list", "-n"), "option '-n' requires an argument; see memora list --help"),
        (("supersede", 1, 2, 3), "got unexpected extra argument(s) (3); see memora supersede --help"),
    ],
)
def test_a_call_that_is_not_understood_is_answered_in_one_line(memora, arguments, said):
    ended = memora(*arguments, code=2)
    assert (ended.out, ended.err) == ("", f"memora: {said}\n")


def test_what_was_typed_cannot_play_tricks_on_the_terminal(memora):
    ended = memora("list", "\x1b[31m", "b\nc", code=2)
    assert "\x1b" not in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_bare_call_shows_the_help(memora):
    ended = memora(code=2)
    assert "Commands:" in ended.err
    assert "Traceback" not in ended.err


def test_a_command_keeps_its_own_exit_code(memora):
    memora("search", "-e", "nothing", "--no-rerank", code=1)
    memora("--version", code=0)
    memora("search", "--help", code=0)
