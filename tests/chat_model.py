"""A chat model of a few hundred kilobytes: random weights, a letter a token."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

_WIDTH, _LAYERS, _HEADS, _FEED = 32, 2, 2, 64
CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content']"
    " + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIAL = ("<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>")


def make_chat_model(
    path: Path, *, window: int = 8192, template: str = CHATML, broken: bool = False
) -> Path:
    """Write a model of the llama architecture; a ``broken`` one computes no numbers."""
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(window)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(_LAYERS)
    writer.add_feed_forward_length(_FEED)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    if template:
        writer.add_chat_template(template)
    size = _add_vocabulary(writer)
    numbers = np.random.default_rng(7)

    def tensor(name: str, *shape: int) -> None:
        values = numbers.standard_normal(shape, dtype=np.float32) * 0.3
        writer.add_tensor(name, values * np.float32("nan") if broken else values)

    tensor("token_embd.weight", size, _WIDTH)
    tensor("output.weight", size, _WIDTH)
    writer.add_tensor("output_norm.weight", np.ones(_WIDTH, dtype=np.float32))
    for layer in range(_LAYERS):
        block = f"blk.{layer}"
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}.{norm}.weight", np.ones(_WIDTH, dtype=np.float32))
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensor(f"{block}.{part}.weight", _WIDTH, _WIDTH)
        tensor(f"{block}.ffn_gate.weight", _FEED, _WIDTH)
        tensor(f"{block}.ffn_up.weight", _FEED, _WIDTH)
        tensor(f"{block}.ffn_down.weight", _WIDTH, _FEED)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vocabulary(writer: gguf.GGUFWriter) -> int:
    kinds = gguf.TokenType
    tokens = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    types = [kinds.UNKNOWN, *[kinds.CONTROL] * 4, *[kinds.BYTE] * 256]
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_space_prefix(False)
    return len(tokens)
