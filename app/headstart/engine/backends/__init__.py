"""The only package that imports model libraries: llama.cpp and MLX behind the Decoder protocol.

OpenMP reads the spin time of its threads when it is loaded, so it is set before any backend is
imported.
"""

import os

# libgomp's default spins for milliseconds: with another program on a core the threads of a forward
# spin while the one they wait for has no core (2 cores, 1 busy process: 2 to 60 tok/s with the
# default, 30 to 46 with this; no difference without other programs)
os.environ.setdefault("GOMP_SPINCOUNT", "2000")
