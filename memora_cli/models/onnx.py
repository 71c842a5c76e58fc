"""Runs a model folder with ONNX Runtime: text in, one row of numbers a text out."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from memora_cli.errors import ModelUnusable
from memora_cli.models.folder import MODEL, REMEDY, TOKENIZER, ModelFolder
from memora_cli.models.verified import verify_once

MOST_WORKERS = 8
GROUP = 10  # texts that are sorted by length; a group is begun before the next, which may find no time
# A token is at most 100 letters (longer words become one unknown token), so nothing past this can reach the window.
LETTERS_PER_TOKEN = 101

Text = str | tuple[str, str]


class OnnxModel:
    """A session and its tokenizer.

    Each text runs by itself, on one thread, and texts run side by side. So there is no padding, and what stands
    beside a text in a call cannot change its numbers (dynamic int8 scales activations by the whole batch).
    """

    def __init__(self, folder: ModelFolder) -> None:
        verify_once(folder)
        self.folder = folder
        self._tokenizer = _load_tokenizer(folder)
        self._session = _load_session(folder)
        self._inputs = tuple(put.name for put in self._session.get_inputs())

    def run(self, texts: Sequence[Text], seconds: float = inf) -> NDArray[np.float32]:
        """The model's output for each text or pair: shape (len(texts), …), all finite. Raises ModelUnusable.

        The rows of texts that could not be begun in that many seconds, later ones first, are NaN.
        """
        until = time.perf_counter() + seconds
        encodings = self._tokenizer.encode_batch_fast([self._clip(text) for text in texts])
        order = _longest_first(encodings)

        def forward(place: int) -> NDArray[np.float32] | None:
            return self._forward(encodings[place]) if time.perf_counter() < until else None

        workers = min(_cores(), len(encodings))
        if workers <= 1:
            done = [forward(place) for place in order]
        else:
            with ThreadPoolExecutor(workers) as pool:
                done = list(pool.map(forward, order))
        read = [row for row in done if row is not None]
        if not read:
            return np.full((len(texts),), np.nan, np.float32)
        if not all(np.isfinite(row).all() for row in read):
            raise ModelUnusable(f"model {self.folder.name}: it gave numbers that are not finite; {REMEDY}")
        output = np.full((len(texts), *read[0].shape[1:]), np.nan, np.float32)
        for place, row in zip(order, done, strict=True):
            if row is not None:
                output[place] = row[0]
        return output

    def _forward(self, encoding: Encoding) -> NDArray[np.float32]:
        arrays = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        if not encoding.ids:  # a text without a token the model knows, where no special tokens stand around it
            arrays = {"input_ids": [0], "attention_mask": [1], "token_type_ids": [0]}
        feed = {name: np.array([arrays[name]], np.int64) for name in self._inputs}
        try:
            output: NDArray[np.float32] = self._session.run(None, feed)[0]
        except Exception as error:  # ONNX Runtime raises classes of its own that share no base
            raise ModelUnusable(f"model {self.folder.name}: it failed on a text ({error}); {REMEDY}") from error
        return output

    def _clip(self, text: Text) -> Text:
        """The text without what cannot reach the window, and without lone surrogates, which no tokenizer takes."""
        if isinstance(text, tuple):
            return self._clip_one(text[0]), self._clip_one(text[1])
        return self._clip_one(text)

    def _clip_one(self, text: str) -> str:
        return text[: self.folder.max_length * LETTERS_PER_TOKEN].encode("utf-8", "replace").decode("utf-8")


def _longest_first(encodings: Sequence[Encoding]) -> list[int]:
    """The places of the texts, group by group, in each the longest first, so that no worker ends long after another."""
    places = range(len(encodings))
    return sorted(places, key=lambda place: (place // GROUP, -len(encodings[place].ids)))


def _load_tokenizer(folder: ModelFolder) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(folder.path / TOKENIZER))
    except Exception as error:  # the tokenizers package raises bare Exception
        raise ModelUnusable(f"model {folder.name}: {TOKENIZER} cannot be loaded ({error}); {REMEDY}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(folder.max_length)
    return tokenizer


def _load_session(folder: ModelFolder) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The export has fused the graph already; doing it again at every start would triple the time to load.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        return onnxruntime.InferenceSession(str(folder.path / MODEL), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ModelUnusable(f"model {folder.name}: {MODEL} cannot be loaded ({error}); {REMEDY}") from error


def _cores() -> int:
    """Cores this process may use, at most MOST_WORKERS."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(allowed, MOST_WORKERS)
