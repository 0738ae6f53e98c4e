"""llama.cpp behind the Decoder protocol; its only importers are here, in `heads` and in `trial`."""
