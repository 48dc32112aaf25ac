"""A bare loop of llama-cpp-python: what embedding costs with nothing of ours around it.

Run as `python -m knowrepo.bench.bare MODEL SETTINGS THREADS`. For each line of standard input,
a JSON list of texts, it embeds them one by one and writes the seconds that this took. It is
a process of its own since llama.cpp may crash it: see the note on AMX in `index.llama`.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

SETTINGS = ("best", "default", "default-repacked")
"""The best that we know; those of the class; and these with weights repacked as it likes."""


def main(arguments: list[str]) -> int:
    """Load the model with the settings, then embed what comes."""
    path, settings, threads = arguments[0], arguments[1], int(arguments[2])
    model = _loaded(path, settings, threads)
    model.embed("the first costs more")
    for line in sys.stdin:
        texts = json.loads(line)
        wall, cpu = time.perf_counter(), time.process_time()
        for text in texts:
            model.embed(text, normalize=True)
        spent = [time.perf_counter() - wall, time.process_time() - cpu]
        sys.stdout.write(json.dumps(spent) + "\n")
        sys.stdout.flush()
    return 0


def _loaded(path: str, settings: str, threads: int) -> Any:
    import llama_cpp

    if settings != "default-repacked":
        _keep_weights_as_they_are(llama_cpp.llama_cpp)
    if settings != "best":
        return llama_cpp.Llama(path, embedding=True, verbose=False)
    probe = llama_cpp.Llama(path, vocab_only=True, verbose=False)
    window = int(
        probe.metadata.get(f"{probe.metadata['general.architecture']}.context_length", 512)
    )
    return llama_cpp.Llama(
        path, embedding=True, verbose=False, n_ctx=window, n_batch=window, n_ubatch=window,
        n_threads=threads, n_threads_batch=threads, flash_attn=True,
    )  # fmt: skip


def _keep_weights_as_they_are(binding: Any) -> None:
    """Switch off what the class `Llama` cannot, and what crashes some virtual machines."""
    original = binding.llama_model_default_params

    def without_repacking() -> Any:
        settings = original()
        settings.use_extra_bufts = False
        return settings

    binding.llama_model_default_params = without_repacking


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
