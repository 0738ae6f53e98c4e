"""llama.cpp behind the Decoder protocol; only this package, `heads` and `automatic` import the
library."""
