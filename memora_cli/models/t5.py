"""Reads times with a T5: a question and the day it is asked on go in, two dates come out.

The contract for whoever trains the weights is `prompt` (what the model is given) and `parse_range` (what it may
answer). The prompt shows three examples in the form in which it wants the answer, as the published system does, so
that an instruction-tuned T5 such as google/flan-t5-small answers it without further training. Needs the extra
`memora-cli[models]`.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from memora_cli.errors import ModelUnusable
from memora_cli.models.extra import first_line, quiet
from memora_cli.values import Window

FAMILY = ("t5", "mt5", "umt5", "longt5")  # as `model_type` in config.json; Flan-T5 and ByT5 call themselves t5
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
TOKENIZERS = ("tokenizer.json", "spiece.model")
HUB_FILES = (
    CONFIG,
    WEIGHTS,
    *TOKENIZERS,
    "added_tokens.json",
    "generation_config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
)

LONGEST_QUESTION = 400  # characters: the prompt then stays within the 512 tokens that T5s were trained on
MAX_NEW_TOKENS = 32  # an answer has 23 characters, and a byte-level T5 takes one token for each and one to end
HUB_TIMEOUT = 10.0  # seconds
RANGE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}) to ([0-9]{4}-[0-9]{2}-[0-9]{2})")

REMEDY = 'give time_parser "t5:" and the folder or hub name of a T5, or set it to "rules"'
SAVE = "save the model again with save_pretrained() of transformers"


def prompt(text: str, at: datetime) -> str:
    """What the model is given, on one line: the day of `at`, three examples, the question and an equals sign.

    White space in the question is collapsed and the question cut at `LONGEST_QUESTION` characters. The expected
    answer is what `parse_range` takes, or "none".
    """
    question = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())[:LONGEST_QUESTION]
    last_year = f"{at.year - 1:04d}"
    return (
        f"Today is {at:%A}, {at.date().isoformat()}. Give the dates that a question names, or none. "
        f"trips in May 2023 = 2023-05-01 to 2023-05-31; last year = {last_year}-01-01 to {last_year}-12-31; "
        f"how do I bake bread = none; {question} ="
    )


def parse_range(output: str, zone: tzinfo | None) -> tuple[datetime, datetime] | None:
    """The half-open range that "YYYY-MM-DD to YYYY-MM-DD" means in `zone`; None for anything else.

    Both days are within the range, which ends at the midnight after the second. They must exist, and be in order.
    """
    if not (match := RANGE.fullmatch(output)):
        return None
    try:
        first, last = (date.fromisoformat(day) for day in match.groups())
        start = datetime.combine(first, time(), zone)
        end = datetime.combine(last + timedelta(days=1), time(), zone)
        # Times are stored and compared in UTC, which at either end of the calendar may have no such moment.
        start.astimezone(UTC), end.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return (start, end) if first <= last else None


class T5TimeParser:
    """A TimeParser that asks a T5, which is loaded at the first question.

    `name` is a folder made by `save_pretrained()`, or else the name of a model on the hub, which is downloaded once
    and from then on read from the hub's cache without a look at the network.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self, text: str, at: datetime) -> tuple[Window, ...]:
        """The one span that the model finds in the text, in the zone of `at`, or none. Raises ModelUnusable.

        The span's words are the whole text: the model does not say which of them it went by.
        """
        if not text.strip():
            return ()
        span = parse_range(self._answer(prompt(text, at)).strip(), at.tzinfo)
        return () if span is None else (Window(*span, text, "range"),)

    def _answer(self, question: str) -> str:
        tokenizer, model = self._loaded
        try:
            with quiet():
                tokens = tokenizer(question, return_tensors="pt", verbose=False)
                # Greedy: the same question on the same day has one answer.
                written = model.generate(
                    input_ids=tokens["input_ids"],
                    attention_mask=tokens["attention_mask"],
                    max_new_tokens=MAX_NEW_TOKENS,
                    do_sample=False,
                    num_beams=1,
                )
                return str(tokenizer.decode(written[0], skip_special_tokens=True, clean_up_tokenization_spaces=False))
        except Exception as error:  # whatever a tokenizer and a model that do not belong together end in
            _unusable(self.name, f"it cannot answer ({first_line(error)})", REMEDY, error)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The tokenizer and the model."""
        folder = Path(self.name).expanduser()
        if self.name and folder.is_dir():
            _require_files(self.name, folder)
            _require_extra(self.name)
        elif not self.name or self.name.startswith((".", "~", "/")) or folder.is_absolute():
            _unusable(self.name, "there is no such folder", REMEDY)
        else:
            _require_extra(self.name)
            folder = _fetch(self.name)
            _require_files(self.name, folder)
        return _load(self.name, folder)


def _load(name: str, folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    with quiet():
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
        except Exception as error:  # damaged files end in any error, a plain Exception among them
            _unusable(name, f"its tokenizer cannot be read ({first_line(error)})", SAVE, error)
        try:
            model, report = AutoModelForSeq2SeqLM.from_pretrained(
                str(folder),
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
            )
        except Exception as error:  # as above
            _unusable(name, f"its weights cannot be read ({first_line(error)})", SAVE, error)
    # transformers would fill them with random numbers and only warn.
    if missing := sorted(report["missing_keys"]):
        _unusable(name, f"{WEIGHTS} lacks {len(missing)} weights of a T5 that writes, such as {missing[0]}", SAVE)
    return tokenizer, model


def _require_extra(name: str) -> None:
    try:
        import torch  # noqa: F401  # transformers does not complain of its absence until a model is loaded
        import transformers  # noqa: F401
    except (ImportError, OSError) as error:  # OSError: a library that torch needs cannot be opened
        what = f"it needs torch and transformers ({first_line(error)})"
        _unusable(name, what, "pip install 'memora-cli[models]' brings them", error)


def _require_files(name: str, folder: Path) -> None:
    """Refuse what is not a T5, not whole, or pickled, before anything heavy is imported."""
    try:
        config: Any = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except OSError as error:
        _unusable(name, f"{CONFIG} cannot be read ({error.strerror})", SAVE, error)
    except ValueError as error:
        _unusable(name, f"{CONFIG} is not JSON", SAVE, error)
    family = config.get("model_type") if isinstance(config, dict) else None
    if family not in FAMILY:
        _unusable(name, f"it is a model of type {family!r}, not a T5 ({', '.join(FAMILY)})", REMEDY)
    _require_weights(name, {path.name for path in folder.iterdir()})
    if not any((folder / file).is_file() for file in TOKENIZERS):
        _unusable(name, f"it has no tokenizer ({' or '.join(TOKENIZERS)})", SAVE)


def _require_weights(name: str, files: set[str]) -> None:
    if WEIGHTS in files:
        return
    if pickled := sorted(file for file in files if file.endswith((".bin", ".pt", ".pth", ".ckpt"))):
        what = f"its weights are only in {pickled[0]}, a pickle, which could run code and is not opened"
        _unusable(name, what, f"{SAVE}, which writes {WEIGHTS}")
    if any(file.startswith("model-") and file.endswith(".safetensors") for file in files):
        _unusable(name, f"its weights are in several files and one {WEIGHTS} is needed", "choose a smaller T5")
    _unusable(name, f"it has no {WEIGHTS}", SAVE)


def _fetch(name: str) -> Path:
    """The hub model's folder in the hub's cache, downloaded when it is not there whole."""
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HFValidationError, LocalEntryNotFoundError
    from huggingface_hub.errors import RepositoryNotFoundError as UnknownName

    try:
        folder = Path(snapshot_download(name, allow_patterns=list(HUB_FILES), local_files_only=True))
        # An interrupted download leaves a folder too.
        got = {file for file in HUB_FILES if (folder / file).exists()}
        if got >= {CONFIG, WEIGHTS} and got & {*TOKENIZERS}:
            return folder
    except LocalEntryNotFoundError:
        pass
    except HFValidationError as error:
        _unusable(name, "there is no such folder, and the model hub has no such names", REMEDY, error)
    try:
        # This request is made once; those of a download are retried for half a minute when there is no network.
        siblings = HfApi().model_info(name, timeout=HUB_TIMEOUT).siblings or []
        _require_weights(name, {file.rfilename for file in siblings})
        return Path(snapshot_download(name, allow_patterns=list(HUB_FILES)))
    except ModelUnusable:
        raise
    except GatedRepoError as error:
        _unusable(
            name, "the model hub gives it only to people who accepted its terms", "log in with `hf auth login`", error
        )
    except UnknownName as error:
        _unusable(name, "there is no such folder, and no such model on the hub", REMEDY, error)
    except Exception as error:  # the hub's client has changed its HTTP library, and its errors with it, before
        what = f"there is no such folder, and the model hub cannot be reached ({first_line(error)})"
        _unusable(name, what, "go online for the first use, or give the folder of a T5", error)


def _unusable(name: str, what: str, remedy: str, cause: Exception | None = None) -> NoReturn:
    raise ModelUnusable(f"T5 {name!r}: {what}; {remedy}") from cause
