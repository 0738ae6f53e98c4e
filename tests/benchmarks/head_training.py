"""Trains an EAGLE-3 head for SmolLM2 on its own text, in numpy, for the benchmark of heads: some
minutes on 2 cores, kept in the benchmarks' cache.

What is trained is a head without history: its attention is made to look at its own place only
(queries and keys are one projection of what comes in, scaled until nothing else counts), so that
each token is a row of a plain network: the target's states and the next token in, the token after
that out. The loss is cross-entropy over the commonest tokens, for two tokens ahead, the second from
the head's own state. The wide model has the same states with zeros behind them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from headstart.core.settings.schema import EngineSettings, Sampling
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from tests.models.heads import write_eagle3

# single precision, which numpy's types do not follow through sums
Array = npt.NDArray[Any]
Weights = dict[str, Array]

TAPS = (2, 15, 29)
VOCABULARY = 8192
REPLIES, LENGTH = 420, 300
EPOCHS, BATCH, RATE = 3, 512, 1.5e-3
_EPSILON = 1e-5

TOPICS = (
    "rivers", "a bank account class", "tea", "prime numbers", "Lisbon", "sleep", "a small shop",
    "foxes", "the moon", "a library database", "bread", "friendship", "a text file", "winter",
    "running", "a harbour", "plants", "money", "a stack of books", "the human heart",
)  # fmt: skip
FORMS = (
    "Write a short text about {}.", "Explain {} to a child, step by step.",
    "List ten facts about {}.", "Write a Python program that has to do with {}, with comments.",
    "Write a story about {}.", "What should a beginner know about {}?",
    "Write a C function that has to do with {}.", "Compare two views of {}.",
    "Give me practical advice about {}.", "Describe {} in three paragraphs.",
)  # fmt: skip


@dataclass(slots=True)
class Samples:
    """Tokens in a row, the target's states of each, and where each reply ends."""

    tokens: npt.NDArray[np.int32]
    rows: npt.NDArray[np.float16]
    ends: list[int]


def own_text(model: Path, replies: int = REPLIES) -> Samples:
    """What the model writes, half of it greedily, with the states of all its tokens."""
    decoder = LlamaCppDecoder(model, EngineSettings(context_length=1024).as_run)
    decoder.states.keep(TAPS)
    tokens: list[int] = []
    rows: list[npt.NDArray[np.float16]] = []
    ends: list[int] = []
    for number in range(replies):
        topic, form = TOPICS[number % len(TOPICS)], FORMS[number // len(TOPICS) % len(FORMS)]
        asked = f"<|im_start|>user\n{form.format(topic)}<|im_end|>\n<|im_start|>assistant\n"
        text = _encode(decoder, asked)
        sampling = Sampling(temperature=0.0 if number % 2 else 0.8)
        sampler = decoder.sampler(sampling, number)
        decoder.truncate(0)
        decoder.forward(text, [len(text) - 1])
        rows.append(decoder.states.rows(0, len(text)).astype(np.float16))
        for _ in range(LENGTH):
            token = sampler.draw(0, len(text))
            text.append(token)
            decoder.forward([token], [0])
            rows.append(decoder.states.rows(0, 1).astype(np.float16))
            if decoder.is_end(token):
                break
        sampler.close()
        tokens += text
        ends.append(len(tokens))
    decoder.close()
    return Samples(np.array(tokens, np.int32), np.concatenate(rows), ends)


def _encode(decoder: LlamaCppDecoder, text: str) -> list[int]:
    special = {token.text: token.id for token in decoder.facts.special_tokens}
    found: list[int] = []
    for piece in (
        text.replace("<|im_end|>", "\0<|im_end|>\0")
        .replace("<|im_start|>", "\0<|im_start|>\0")
        .split("\0")
    ):
        found += [special[piece]] if piece in special else decoder.encode(piece) if piece else []
    return found


class Net:
    """The head as rows of a plain network; all matrices are `outputs x inputs`."""

    def __init__(self, embedding: Array, output: Array, norm: Array, seed: int = 1) -> None:
        """`embedding`: of all tokens; `output`, `norm`: of the tokens that are drafted, and the
        target's last norm."""
        self.random = np.random.default_rng(seed)
        width = embedding.shape[1]
        self.width = width
        self.embedding, self.output, self.norm = embedding, output, norm
        forward = 3 * width
        self.weights: Weights = {
            # to begin with, what goes into the target's last layer
            "fc": np.concatenate(
                [np.zeros((width, 2 * width), np.float32), np.eye(width, dtype=np.float32)], 1
            ),
            "value": self._normal(width, 2 * width, 0.3),
            "gate": self._normal(forward, width),
            "up": self._normal(forward, width),
            "down": self._normal(width, forward, 0.3),
        }
        self._moments = {name: (np.zeros_like(one), np.zeros_like(one))
                         for name, one in self.weights.items()}  # fmt: skip
        self._steps = 0

    def _normal(self, rows: int, columns: int, gain: float = 1.0) -> Array:
        made = self.random.standard_normal((rows, columns), np.float32)
        return made * np.float32(gain / math.sqrt(columns))

    # --- forwards -------------------------------------------------------------------------

    def step(self, state: Array, tokens: npt.NDArray[np.int32]) -> dict[str, Array]:
        """From states (as the head keeps them) and the tokens after them to its own states and
        normed outputs; with what the way back needs."""
        w = self.weights
        embedded, _ = _normed(np.asarray(self.embedding[tokens], np.float32))
        normed, scale = _normed(state)
        joined = np.concatenate([embedded, normed], 1)
        summed = state + joined @ w["value"].T
        inner, inner_scale = _normed(summed)
        gate, up = inner @ w["gate"].T, inner @ w["up"].T
        sigmoid: Array = (1 / (1 + np.exp(-gate))).astype(np.float32)
        hidden = gate * sigmoid * up
        own = summed + hidden @ w["down"].T
        last, last_scale = _normed(own)
        return {
            "joined": joined, "normed": normed, "scale": scale, "inner": inner,
            "inner_scale": inner_scale, "gate": gate, "up": up, "sigmoid": sigmoid,
            "hidden": hidden, "own": own, "last": last, "last_scale": last_scale,
        }  # fmt: skip

    def logits(self, kept: dict[str, Array]) -> Array:
        return (kept["last"] * self.norm) @ self.output.T

    # --- and back -------------------------------------------------------------------------

    def back(
        self, kept: dict[str, Array], of_logits: Array, of_own: Array, grads: Weights
    ) -> Array:
        """Add to `grads`; returns the gradient of the state that went in."""
        w = self.weights
        of_last = (of_logits @ self.output) * self.norm
        of_own = of_own + _normed_back(of_last, kept["last"], kept["last_scale"])
        grads["down"] += of_own.T @ kept["hidden"]
        of_hidden = of_own @ w["down"]
        swish = kept["gate"] * kept["sigmoid"]
        of_up = of_hidden * swish
        slope = kept["sigmoid"] * (1 + kept["gate"] * (1 - kept["sigmoid"]))
        of_gate = of_hidden * kept["up"] * slope
        grads["gate"] += of_gate.T @ kept["inner"]
        grads["up"] += of_up.T @ kept["inner"]
        of_inner = of_gate @ w["gate"] + of_up @ w["up"]
        of_summed = of_own + _normed_back(of_inner, kept["inner"], kept["inner_scale"])
        grads["value"] += of_summed.T @ kept["joined"]
        of_normed = of_summed @ w["value"][:, self.width :]
        found: Array = of_summed + _normed_back(of_normed, kept["normed"], kept["scale"])
        return found

    def update(self, grads: Weights, rate: float) -> None:
        """Adam (Kingma and Ba 2015)."""
        self._steps += 1
        for name, grad in grads.items():
            first, second = self._moments[name]
            first += 0.1 * (grad - first)
            second += 0.02 * (grad * grad - second)
            step = first / (1 - 0.9**self._steps)
            size = np.sqrt(second / (1 - 0.98**self._steps)) + 1e-8
            self.weights[name] -= np.float32(rate) * step / size


def _normed(rows: Array) -> tuple[Array, Array]:
    scale: Array = 1 / np.sqrt((rows * rows).mean(1, keepdims=True) + np.float32(_EPSILON))
    return rows * scale, scale


def _normed_back(grad: Array, normed: Array, scale: Array) -> Array:
    found: Array = scale * (grad - normed * (grad * normed).mean(1, keepdims=True))
    return found


def _cross_entropy(logits: Array, wanted: npt.NDArray[np.int32]) -> tuple[float, float, Array]:
    """Loss, share that is right, gradient; rows whose token is not drafted (-1) do not count."""
    known = wanted >= 0
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    chances = shifted / shifted.sum(1, keepdims=True)
    rows = np.flatnonzero(known)
    picked = chances[rows, wanted[rows]]
    right = float((chances[rows].argmax(1) == wanted[rows]).mean()) if len(rows) else 0.0
    chances[rows, wanted[rows]] -= 1
    chances[~known] = 0
    count = max(1, len(rows))
    return float(-np.log(picked + 1e-9).mean()), right, chances / np.float32(count)


def train(net: Net, samples: Samples, places: npt.NDArray[np.int32]) -> None:
    """`places`: a token's row in the head's output, -1 for those that are not drafted."""
    tokens = samples.tokens
    last = np.zeros(len(tokens), bool)
    for end in samples.ends:
        last[max(0, end - 3) : end] = True
    usable = np.flatnonzero(~last)
    rng = np.random.default_rng(2)
    total = EPOCHS * (len(usable) // BATCH)
    done, began = 0, perf_counter()
    for epoch in range(EPOCHS):
        figures = []
        for batch in _batches(rng.permutation(usable)):
            rate = RATE * min(1.0, (done + 1) / 50) * (1 - done / total)
            figures.append(_learn(net, samples, places, batch, rate))
            done += 1
        loss, one, two = np.mean(figures, 0)
        print(f"  epoch {epoch + 1}: loss {loss:.2f}, right {one:.2f} then {two:.2f}, "
              f"{perf_counter() - began:.0f} s", flush=True)  # fmt: skip


def _batches(order: npt.NDArray[np.intp]) -> Iterator[npt.NDArray[np.intp]]:
    for at in range(0, len(order) - BATCH + 1, BATCH):
        yield order[at : at + BATCH]


def _learn(
    net: Net,
    samples: Samples,
    places: npt.NDArray[np.int32],
    batch: npt.NDArray[np.intp],
    rate: float,
) -> tuple[float, float, float]:
    tokens, rows = samples.tokens, samples.rows[batch].astype(np.float32)
    state = rows @ net.weights["fc"].T
    first = net.step(state, tokens[batch + 1])
    second = net.step(first["own"], tokens[batch + 2])
    loss, right, of_first = _cross_entropy(net.logits(first), places[tokens[batch + 2]])
    _, right_second, of_second = _cross_entropy(net.logits(second), places[tokens[batch + 3]])
    grads = {name: np.zeros_like(one) for name, one in net.weights.items()}
    nothing = np.zeros_like(state)
    of_own = net.back(second, 0.5 * of_second, nothing, grads)
    of_state = net.back(first, of_first, of_own, grads)
    grads["fc"] += of_state.T @ rows
    net.update(grads, rate)
    return loss, right, right_second


def save(net: Net, model: Path, target: Path, width: int, drafted: npt.NDArray[np.int64]) -> Path:
    """As an EAGLE-3 file for a target whose states have `width` numbers, of which the first ones
    are SmolLM2's."""
    own = net.width
    fc = np.zeros((own, 3 * width), np.float32)
    for index in range(3):
        fc[:, index * width : index * width + own] = net.weights["fc"][:, index * own :][:, :own]
    # queries and keys: what comes in, as far as it can be told from that of other places
    look = net.random.standard_normal((own, 2 * own)).astype(np.float32) / np.float32(8)
    ones = np.ones(own, np.float32)
    weights: Weights = {
        "fc.weight": fc,
        "output_norm.weight": net.norm,
        "blk.0.attn_norm.weight": ones,
        "blk.0.attn_norm_2.weight": ones,
        "blk.0.attn_q.weight": look,
        "blk.0.attn_k.weight": look,
        "blk.0.attn_v.weight": net.weights["value"],
        "blk.0.attn_output.weight": np.eye(own, dtype=np.float32),
        "blk.0.ffn_norm.weight": ones,
        "blk.0.ffn_gate.weight": net.weights["gate"],
        "blk.0.ffn_up.weight": net.weights["up"],
        "blk.0.ffn_down.weight": net.weights["down"],
    }
    tables = {"token_embd.weight": net.embedding, "output.weight": net.output}
    kind = gguf.GGMLQuantizationType.Q8_0
    return write_eagle3(model, target, weights, TAPS, width, drafted, tables, kind)


def make_head(model: Path, targets: dict[Path, int]) -> None:
    """Train once, and write a head for each target: its path, and the width of its states."""
    print("  the model writes the text that its head learns from", flush=True)
    samples = own_text(model)
    counts = np.bincount(samples.tokens)
    drafted = np.sort(np.argsort(-counts, kind="stable")[:VOCABULARY]).astype(np.int64)
    reader = gguf.GGUFReader(model)
    tensors = {tensor.name: tensor for tensor in reader.tensors}

    def weight(name: str) -> Array:
        tensor = tensors[name]
        found = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        return np.asarray(found, np.float32)

    embedding = weight("token_embd.weight")
    output = weight("output.weight") if "output.weight" in tensors else embedding
    places = np.full(len(embedding), -1, np.int32)
    places[drafted] = np.arange(len(drafted))
    net = Net(embedding, np.ascontiguousarray(output[drafted]), weight("output_norm.weight"))
    train(net, samples, places)
    for path, width in targets.items():
        save(net, model, path, width, drafted)
