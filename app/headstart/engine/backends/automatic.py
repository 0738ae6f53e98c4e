"""Values of automatic engine settings on this computer, in words. A worker thread: asking llama.cpp
what it was built for imports it."""

from __future__ import annotations

from headstart.engine.backends import select


def explain() -> dict[str, str]:
    """By the name of a field of `EngineSettings`: what automatic is, or what a choice costs."""
    import llama_cpp as lib

    from headstart.engine.backends.cores import automatic_threads
    from headstart.engine.backends.llama_cpp.context import CHUNK
    from headstart.engine.backends.llama_cpp.devices import cards

    found = cards()
    if found:
        names = " and ".join(card.name for card in found)
        layers = f"Automatic: as many as {names} has memory for; all of a draft before that."
    elif lib.llama_supports_gpu_offload():
        layers = "No graphics card was found: the processor computes every layer."
    else:
        layers = "This llama.cpp was built without a GPU: the processor computes every layer."
    attention = "on"
    if found:
        attention = "tried once for each model, and off where that is a tenth faster"
    if not select.has_mlx():
        backend = "Automatic: llama.cpp. MLX is not installed; it is for Apple Silicon."
    elif select.on_apple_silicon():
        backend = "Automatic: MLX for MLX folders, llama.cpp for GGUF files."
    else:
        backend = "Automatic: llama.cpp. MLX would run here too, many times slower."
    threads = automatic_threads()
    return {
        "backend": backend,
        "context_length": "Automatic: what the model was trained for, at most 32,768 tokens and "
        "as far as memory allows: all of it is taken at once.",
        "threads": f"Automatic: up to {threads}, one for each fast core that this program may use; "
        "fewer while other programs keep cores busy. A number is always used as it is. For "
        "llama.cpp.",
        "kv_type": "Another choice reads chats once more: what was kept fits the old one only. "
        "For llama.cpp.",
        "exact": "For llama.cpp on a processor: bf16 keys and values and flash attention, whatever "
        "is chosen here. Each model is tried once when it is loaded.",
        "gpu_layers": layers,
        "flash_attention": f"Automatic: {attention}. For llama.cpp. Like the KV cache type, a "
        "change makes chats be processed once more.",
        "window_cache": "Automatic: the window where that saves half a gigabyte. The whole context "
        "takes more memory, and less work where an earlier message is edited. For llama.cpp.",
        "batch": f"Automatic: {CHUNK}, the size of a stored chunk. Larger needs a larger buffer, "
        "and a stop may take longer to be heard. For llama.cpp.",
    }
