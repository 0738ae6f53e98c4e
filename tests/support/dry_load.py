"""What llama.cpp would take for a model, by its own account: a load that allocates nothing.

Run as a program, because its log is the only place where the sizes stand:
`python -m tests.support.dry_load FILE CONTEXT KV FLASH WHOLE` prints MiB as JSON.
"""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from headstart.core.models.fit import RECURRENT_SEQUENCES, SEQUENCES, UNDO
from headstart.core.settings.schema import EngineSettings

MIB = 1 << 20
_KV = {"f16": 1, "bf16": 30, "q8_0": 8}
_SIZE = re.compile(r"= +([0-9.]+) MiB")


def dry_load(path: Path, context: int, engine: EngineSettings) -> dict[str, float]:
    """Bytes of `kv`, `state` and `compute`."""
    command = [sys.executable, "-m", "tests.support.dry_load", str(path), str(context)]
    command += [engine.kv_type, str(int(engine.flash))]
    command += [str(int(engine.window_cache != "window"))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: size * MIB for name, size in found.items()}


def _main(path: str, context: int, kv_type: str, flash: bool, whole: bool) -> dict[str, float]:
    import llama_cpp as lib

    said: list[str] = []

    def keep(_level: int, text: bytes, _data: Any) -> None:
        said.append(text.decode("utf-8", "replace"))

    callback = lib.llama_log_callback(keep)
    lib.llama_log_set(callback, ctypes.c_void_p(0))
    of_model = lib.llama_model_default_params()
    of_model.no_alloc, of_model.load_mode = True, 0
    model = lib.llama_model_load_from_file(path.encode(), of_model)
    of_context = lib.llama_context_default_params()
    recurrent = lib.llama_model_is_recurrent(model) or lib.llama_model_is_hybrid(model)
    of_context.n_ctx = context
    of_context.n_seq_max = RECURRENT_SEQUENCES if recurrent else SEQUENCES
    of_context.n_rs_seq = UNDO if recurrent else 0
    of_context.n_batch = of_context.n_ubatch = 256
    of_context.kv_unified, of_context.swa_full = True, whole
    of_context.flash_attn_type = int(flash)
    of_context.type_k = _KV[kv_type]
    of_context.type_v = _KV[kv_type] if flash else _KV["f16"]
    assert model
    assert lib.llama_init_from_model(model, of_context)
    lines = "".join(said).splitlines()

    def total(words: str) -> float:
        return sum(float(_SIZE.findall(line)[0]) for line in lines if words in line)

    return {
        "kv": total("llama_kv_cache: size ="),
        "state": total("RS buffer size"),
        "compute": total("compute buffer size"),
    }


if __name__ == "__main__":
    _path, _context, _kv_type, _flash, _whole = sys.argv[1:]
    print(json.dumps(_main(_path, int(_context), _kv_type, _flash == "1", _whole == "1")))
