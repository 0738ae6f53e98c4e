"""The only room that imports model libraries: llama.cpp and MLX behind the Decoder protocol.

OpenMP reads how long a thread spins before it sleeps when it is loaded, so that is set here, before
any backend is imported.
"""

import os

# libgomp's default spins for milliseconds: with another program on a core the threads of a forward
# spin while the one that they wait for has no core (2 cores, 1 busy process: 2 to 60 tok/s with the
# default, 30 to 46 with this; without other programs there is no difference)
os.environ.setdefault("GOMP_SPINCOUNT", "2000")
