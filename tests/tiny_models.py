"""Models of a few kilobytes, built as GGUF files, and what they must answer.

The weights are random and the same in every run. `states` computes in numpy what a
model makes of its tokens, `score` what a reranker says of a pair; architectures as
llama.cpp reads them: `bert` (learnt positions, biases), `nomic-bert` (rotary
positions, gated feed-forward), `nomic-bert-moe` (rotary positions, each second layer
a mixture of experts), and `jina-bert-v2` (attention that fades with distance).
"""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import gguf
import numpy as np

ARCHITECTURES = ("bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2")
WINDOW, WIDTH, HEADS, HIDDEN, LAYERS = 64, 32, 2, 48, 2
EXPERTS, CHOSEN = 4, 2
EPSILON = 1e-5
STEEPEST = 8.0
"""The exponent by which attention fades with distance, over all heads."""
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_SEPARATORS = ["<s>", "<pad>", "</s>", "<unk>", "\u2581"]
_SIGNS = string.ascii_lowercase + string.digits + "_:.?"


def weights(architecture: str) -> dict[str, Any]:
    """Return the tensors of a model by their names in a GGUF file."""
    random = np.random.default_rng(ARCHITECTURES.index(architecture))

    def tensor(*shape: int) -> Any:
        return random.normal(0, 0.3, shape).astype(np.float32)

    found = {"token_embd.weight": tensor(len(_tokens()), WIDTH)}
    if architecture == "bert":
        found["position_embd.weight"] = tensor(WINDOW, WIDTH)
    if _has_biases(architecture):
        found["token_types.weight"] = tensor(2, WIDTH)
    norms = ["token_embd_norm"]
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        norms += [f"{block}.attn_output_norm", f"{block}.layer_output_norm"]
        shapes = {"attn_output": (WIDTH, WIDTH)}
        if _has_biases(architecture):
            shapes |= {f"attn_{name}": (WIDTH, WIDTH) for name in "qkv"}
        else:
            shapes["attn_qkv"] = (3 * WIDTH, WIDTH)
        if _is_mixed(architecture, layer):
            found[f"{block}.ffn_gate_inp.weight"] = tensor(EXPERTS, WIDTH)
            found[f"{block}.ffn_up_exps.weight"] = tensor(EXPERTS, HIDDEN, WIDTH)
            found[f"{block}.ffn_down_exps.weight"] = tensor(EXPERTS, WIDTH, HIDDEN)
        else:
            shapes |= {"ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)}
            if architecture in {"nomic-bert", "jina-bert-v2"}:
                shapes["ffn_gate"] = (HIDDEN, WIDTH)
        for name, shape in shapes.items():
            found[f"{block}.{name}.weight"] = tensor(*shape)
            gated = architecture == "jina-bert-v2" and name in {"ffn_up", "ffn_gate"}
            if _has_biases(architecture) and not gated:
                found[f"{block}.{name}.bias"] = tensor(shape[0])
    for name in norms:
        found[f"{name}.weight"] = 1 + tensor(WIDTH)
        found[f"{name}.bias"] = tensor(WIDTH)
    return found


def head(architecture: str, outputs: int = 1) -> dict[str, Any]:
    """Return the tensors by which a model scores what it read."""
    random = np.random.default_rng(7)
    shapes = {"cls": (outputs, WIDTH)}
    if architecture == "bert":
        shapes = {"cls": (WIDTH, WIDTH), "cls.output": (outputs, WIDTH)}
    found = {}
    for name, shape in shapes.items():
        found[f"{name}.weight"] = random.normal(0, 0.3, shape).astype(np.float32)
        found[f"{name}.bias"] = random.normal(0, 0.3, shape[:1]).astype(np.float32)
    return found


def build_reranker(folder: Path, architecture: str = "bert", **changes: Any) -> Path:
    """Write a model that scores pairs; returns its path."""
    usual = {"pooling": "rank", "types": 1, "head": head(architecture)}
    return build(folder, architecture, **{**usual, **changes})


def build(
    folder: Path,
    architecture: str,
    *,
    pooling: str = "mean",
    types: int = 2,
    head: dict[str, Any] | None = None,
    separators: dict[str, bool] | None = None,
) -> Path:
    """Write a model; returns its path.

    ``separators`` are the flags of a vocabulary like that of XLM-RoBERTa, in place of
    BERT's: which of its marks are put around a text.
    """
    path = folder / f"{architecture}-{pooling}.gguf"
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_name(path.stem)
    writer.add_block_count(LAYERS)
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(EPSILON)
    writer.add_causal_attention(False)
    writer.add_pooling_type(getattr(gguf.PoolingType, pooling.upper()))
    if architecture.startswith("nomic"):
        writer.add_rope_freq_base(10_000)
    if architecture == "nomic-bert-moe":
        writer.add_moe_every_n_layers(2)
        writer.add_expert_count(EXPERTS)
        writer.add_expert_used_count(CHOSEN)
    if separators is None:
        _add_vocabulary(writer, types)
    else:
        _add_separators(writer, separators, types)
    for name, tensor in (weights(architecture) | (head or {})).items():
        writer.add_tensor(name, tensor[:types] if name == "token_types.weight" else tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def states(architecture: str, tokens: list[int]) -> Any:
    """Return the last layer's state of each token, one a row."""
    tensors = weights(architecture)
    state = tensors["token_embd.weight"][tokens]
    if architecture == "bert":
        state = state + tensors["position_embd.weight"][: len(tokens)]
    if _has_biases(architecture):
        state = state + tensors["token_types.weight"][0]
    state = _normed(tensors, "token_embd_norm", state)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        state = state + _attention(tensors, block, state, architecture)
        state = _normed(tensors, f"{block}.attn_output_norm", state)
        state = state + _feed_forward(tensors, block, state)
        state = _normed(tensors, f"{block}.layer_output_norm", state)
    return state


def score(architecture: str, tokens: list[int]) -> float:
    """Return what a reranker says of the tokens of a pair."""
    tensors = head(architecture)
    found = np.tanh(_linear(tensors, "cls", states(architecture, tokens)[0]))
    if "cls.output.weight" in tensors:
        found = _linear(tensors, "cls.output", found)
    return float(found[0])


def _has_biases(architecture: str) -> bool:
    return architecture in {"bert", "jina-bert-v2"}


def _is_mixed(architecture: str, layer: int) -> bool:
    return architecture == "nomic-bert-moe" and layer % 2 == 1


def _tokens() -> list[str]:
    return [*_SPECIAL, *(f"\u2581{sign}" for sign in _SIGNS), *_SIGNS]


def _add_separators(writer: Any, flags: dict[str, bool], types: int) -> None:
    marks = [gguf.TokenType.CONTROL] * 3 + [gguf.TokenType.UNKNOWN, gguf.TokenType.NORMAL]
    tokens = [*_SEPARATORS, *_SIGNS]
    tokens += [f"<unused{n}>" for n in range(len(_tokens()) - len(tokens))]
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([-1.0] * len(tokens))
    writer.add_token_types(marks + [gguf.TokenType.NORMAL] * (len(tokens) - len(marks)))
    writer.add_token_type_count(types)
    writer.add_add_space_prefix(True)
    for name, number in (("bos", 0), ("pad", 1), ("eos", 2), ("sep", 2), ("unk", 3)):
        getattr(writer, f"add_{name}_token_id")(number)
    for name, value in flags.items():
        getattr(writer, f"add_add_{name}_token")(value)


def _add_vocabulary(writer: Any, types: int) -> None:
    kinds = [gguf.TokenType.CONTROL] * len(_SPECIAL) + [gguf.TokenType.NORMAL] * 2 * len(_SIGNS)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(_tokens())
    writer.add_token_types(kinds)
    writer.add_token_type_count(types)
    for name, number in (("pad", 0), ("unk", 1), ("bos", 2), ("eos", 3), ("sep", 3), ("mask", 4)):
        getattr(writer, f"add_{name}_token_id")(number)


def _linear(tensors: dict[str, Any], name: str, value: Any) -> Any:
    return value @ tensors[f"{name}.weight"].T + tensors.get(f"{name}.bias", 0)


def _normed(tensors: dict[str, Any], name: str, value: Any) -> Any:
    centred = value - value.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def _attention(tensors: dict[str, Any], block: str, state: Any, architecture: str) -> Any:
    rotary = architecture.startswith("nomic")
    if rotary:
        parts = np.split(_linear(tensors, f"{block}.attn_qkv", state), 3, axis=-1)
    else:
        parts = [_linear(tensors, f"{block}.attn_{name}", state) for name in "qkv"]
    query, key, value = (part.reshape(len(state), HEADS, -1).swapaxes(0, 1) for part in parts)
    if rotary:
        query, key = _rotated(query), _rotated(key)
    scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
    if architecture == "jina-bert-v2":
        places = np.arange(len(state))
        fading = 2.0 ** (-STEEPEST / HEADS * np.arange(1, HEADS + 1))
        scores = scores - fading[:, None, None] * np.abs(places[:, None] - places)
    mixed = (_softmax(scores) @ value).swapaxes(0, 1).reshape(len(state), -1)
    return _linear(tensors, f"{block}.attn_output", mixed)


def _rotated(value: Any) -> Any:
    half = value.shape[-1] // 2
    angles = np.outer(np.arange(value.shape[1]), 10_000.0 ** (-np.arange(half) / half))
    first, second = value[..., :half], value[..., half:]
    return np.concatenate(
        [
            first * np.cos(angles) - second * np.sin(angles),
            first * np.sin(angles) + second * np.cos(angles),
        ],
        axis=-1,
    )


def _feed_forward(tensors: dict[str, Any], block: str, state: Any) -> Any:
    if f"{block}.ffn_gate_inp.weight" in tensors:
        return np.stack([_experts(tensors, block, token) for token in state])
    up = _linear(tensors, f"{block}.ffn_up", state)
    if f"{block}.ffn_gate.weight" in tensors:
        gate = _linear(tensors, f"{block}.ffn_gate", state)
        smooth = f"{block}.ffn_down.bias" in tensors
        up = up * (_gelu(gate) if smooth else gate / (1 + np.exp(-gate)))
    else:
        up = _gelu(up)
    return _linear(tensors, f"{block}.ffn_down", up)


def _experts(tensors: dict[str, Any], block: str, token: Any) -> Any:
    shares = _softmax(_linear(tensors, f"{block}.ffn_gate_inp", token))
    up, down = tensors[f"{block}.ffn_up_exps.weight"], tensors[f"{block}.ffn_down_exps.weight"]
    chosen = np.argsort(-shares)[:CHOSEN]
    return sum(shares[expert] * (down[expert] @ _gelu(up[expert] @ token)) for expert in chosen)


def _softmax(value: Any) -> Any:
    grown = np.exp(value - value.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def _gelu(value: Any) -> Any:
    return value / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * value**3)))
