"""Converting published BERT weights to a quantised GGUF file.

Owns the conversion of the default model: safetensors and a WordPiece
vocabulary in, one Q8_0 GGUF file out. Needs the `semantic` extra (gguf, numpy,
llama-cpp-python); downloads nothing.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from knowrepo.errors import ModelError
from knowrepo.index.models import ModelSpec

_LAYERS, _HEADS, _FEED_FORWARD, _EPSILON = 6, 12, 1536, 1e-12


def build(spec: ModelSpec, weights: Path, vocabulary: Path, scratch: Path) -> Path:
    """Return the path of the quantised model in ``scratch``."""
    if find_spec("gguf") is None:
        raise ModelError(
            "building a model needs gguf, numpy and llama-cpp-python",
            hint="install them: `pip install 'knowrepo[semantic]'`",
        )
    from knowrepo.index.embed import quantise_to_q8

    plain = scratch / "plain.gguf"
    _write_gguf(spec, weights, vocabulary, plain)
    quantised = scratch / spec.file
    quantise_to_q8(plain, quantised)
    return quantised


def _write_gguf(spec: ModelSpec, weights: Path, vocabulary: Path, target: Path) -> None:
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(str(target), "bert")
    writer.add_name(spec.name)
    writer.add_license(spec.licence)
    writer.add_block_count(_LAYERS)
    writer.add_context_length(spec.window)
    writer.add_embedding_length(spec.dimension)
    writer.add_feed_forward_length(_FEED_FORWARD)
    writer.add_head_count(_HEADS)
    writer.add_layer_norm_eps(_EPSILON)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    _add_vocabulary(writer, vocabulary.read_text(encoding="utf-8").split("\n"))
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, _LAYERS)
    for name, tensor in _tensors(weights):
        if name.startswith("pooler.") or name.endswith("position_ids"):
            continue  # sentence embeddings are the mean of the tokens
        stem = name.removesuffix(".weight").removesuffix(".bias")
        mapped = names.get_name(stem)
        if mapped is None:
            raise ModelError(f"{weights}: unexpected tensor {name}")
        is_table = "position_embeddings" in name or "token_type_embeddings" in name
        half = tensor.ndim == 2 and not is_table
        writer.add_tensor(
            mapped + name[len(stem) :], tensor.astype(np.float16 if half else np.float32)
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer: Any, pieces: list[str]) -> None:
    import gguf

    while pieces and not pieces[-1]:
        pieces.pop()
    # llama.cpp marks the beginning of a word; WordPiece marks its continuation.
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    tokens = [
        piece if piece in special or piece.startswith("[unused")
        else piece[2:] if piece.startswith("##")
        else "\u2581" + piece
        for piece in pieces
    ]  # fmt: skip
    kinds = [
        gguf.TokenType.CONTROL if piece in special
        else gguf.TokenType.UNUSED if piece.startswith("[unused")
        else gguf.TokenType.NORMAL
        for piece in pieces
    ]  # fmt: skip
    index = {piece: number for number, piece in enumerate(pieces)}
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_type_count(2)
    writer.add_bos_token_id(index["[CLS]"])
    writer.add_eos_token_id(index["[SEP]"])
    writer.add_sep_token_id(index["[SEP]"])
    writer.add_unk_token_id(index["[UNK]"])
    writer.add_pad_token_id(index["[PAD]"])
    writer.add_mask_token_id(index["[MASK]"])


def _tensors(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (name, array) of a safetensors file, whose header is JSON of known length."""
    import numpy as np

    with path.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(length))
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
    types = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        yield name, data[start:end].view(types[entry["dtype"]]).reshape(entry["shape"])
