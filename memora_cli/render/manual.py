"""The manual page in roff: commands and options from the program, exit codes and settings from their tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from memora_cli import __version__
from memora_cli.errors import EXIT_CODES
from memora_cli.render.program import Command, Parameter, Program, Setting, commands, settings
from memora_cli.render.reference import ENVIRONMENT, FILES, IMPORT_LINE, MEANINGS, OUTPUT, SHAPES


def manual(program: Program) -> str:
    """The manual page: the same text for the same program, whatever the day, the machine and its settings."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield '.\\" Generated from the program: see the contributing section of the README.'
    yield f'.TH MEMORA 1 "" "memora {__version__}" "User Commands"'
    # Left-aligned, without hyphenation: options and JSON keys stay whole.
    yield from (".nh", ".ad l", ".SH NAME", f"memora {BACKSLASH}- {_roff('a memory for your notes')}")
    yield from (".SH SYNOPSIS", f"{_bold('memora')} {_roff('[OPTIONS] COMMAND [ARGUMENTS]')}")
    yield from (".SH DESCRIPTION", *_paragraphs((program.help or "",)))
    yield from (".SH OPTIONS", *_options(program))
    yield ".SH COMMANDS"
    for name, command in commands(program):
        yield from _command(name, command)
    yield from (".SH OUTPUT", *_paragraphs(OUTPUT))
    yield ".SH JSON"
    for name, keys in SHAPES.items():
        yield from (".TP", _bold(name), _roff(_keys(keys)))
    line = f"A line of a .jsonl file is one JSON object: {_keys(IMPORT_LINE)} Only the text is needed."
    yield from (".SH IMPORT LINES", *_paragraphs((line,)))
    yield from (".SH EXIT STATUS", *_terms((str(code), meaning) for code, meaning in EXIT_CODES.items()))
    yield from (".SH ENVIRONMENT", *_paragraphs(("A flag wins over a variable, a variable over config.toml.",)))
    yield from _terms((setting.variable, _described(setting)) for setting in settings(program))
    yield from _terms(ENVIRONMENT.items())
    yield from (".SH FILES", *_terms(FILES.items()))
    yield from _paragraphs((f"The keys of config.toml: {', '.join(MEANINGS)}. The weights are a table [weights].",))


def _described(setting: Setting) -> str:
    facts = [f"default {setting.default}"]
    facts += [f"values {setting.values}"] if setting.values else []
    facts += [f"flag {setting.flags}"] if setting.flags else []
    return f"{setting.meaning}; {'; '.join(facts)}"


def _command(name: str, command: Command) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    pieces = [_placeholder(item) if item.required else f"[{_placeholder(item)}]" for item in arguments]
    yield f'.SS "{_roff(" ".join(("memora", name, "[OPTIONS]", *pieces)))}"'
    yield from _paragraphs((command.help or "",))
    yield from _terms((_placeholder(item), item.help or "") for item in arguments)
    yield from _options(command)
    if command.epilog:
        yield from (".PP", "Example:", ".PP", ".nf", ".RS", _roff(example(command)), ".RE", ".fi")


def example(command: Command) -> str:
    """The command line that the end of a command's help shows."""
    return (command.epilog or "").removeprefix("Example:").strip()


def _placeholder(parameter: Parameter) -> str:
    """What stands for a value: the metavar without brackets, else the name in capitals."""
    said: str = parameter.metavar or parameter.name.upper().replace("_", "-")
    return said[1:-1] if said[:1] + said[-1:] in ("[]", "{}") else said


def _options(command: Command) -> Iterator[str]:
    for parameter in command.params:
        if parameter.param_type_name != "option" or parameter.hidden:
            continue
        names = ", ".join(_bold(name) for name in (*parameter.opts, *parameter.secondary_opts))
        value = "" if parameter.is_flag else f" {_italic(_option_placeholder(parameter))}"
        yield from (".TP", names + value, _roff(_option_help(parameter)))
    yield from (".TP", f"{_bold('-h')}, {_bold('--help')}", "Show the help and exit.")


def _option_help(parameter: Parameter) -> str:
    text, default = parameter.help or "", parameter.default
    if parameter.multiple and "several times" not in text:
        text += " May be given several times."
    if default and isinstance(default, str | int) and not isinstance(default, bool):
        text += f" Default: {default}."
    return text


def _option_placeholder(parameter: Parameter) -> str:
    long = next((name for name in parameter.opts if name.startswith("--")), parameter.name)
    return parameter.metavar or long.lstrip("-").replace("-", "_").upper()


def _keys(keys: Mapping[str, str]) -> str:
    return ", ".join(f"{key} ({meaning})" if meaning else key for key, meaning in keys.items()) + "."


def _terms(terms: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in terms:
        yield from (".TP", _bold(term), _roff(meaning))


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (".PP", _roff(" ".join(text.split())))


BACKSLASH = "\\"
SPECIAL = str.maketrans(
    {
        BACKSLASH: r"\e",
        "-": r"\-",
        "'": r"\(aq",
        '"': r"\(dq",
        "^": r"\(ha",
        "~": r"\(ti",
        "`": r"\(ga",
    }
)


def _roff(text: str) -> str:
    """Text that roff prints as it is, in ASCII: nothing in it is a request or an escape."""
    safe = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text.translate(SPECIAL))
    return f"\\&{safe}" if safe.startswith(".") else safe


def _bold(text: str) -> str:
    return rf"\fB{_roff(text)}\fP"


def _italic(text: str) -> str:
    return rf"\fI{_roff(text)}\fP"
