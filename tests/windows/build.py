"""The name of llama.cpp's build here, which is part of the key of kept states: with our kernels."""

from __future__ import annotations

import json
import sys

from headstart.engine.backends.llama_cpp.library import build_name


def main() -> int:
    name = build_name()
    right = "with kernels" in name
    print(json.dumps([right, name]))
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
