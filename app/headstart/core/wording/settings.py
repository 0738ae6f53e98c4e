"""Settings: the title of each with its explanation, and the names of its values.

`Struct.field` is the setting; `:label` stands beside a check box, `:special` for the minimum value,
`:unit` after a number, and `=value` names a choice.
"""

from __future__ import annotations

SETTINGS: dict[str, tuple[str, str]] = {
    "EngineSettings.backend": (
        "Backend",
        "Runs GGUF files and MLX folders: llama.cpp alone, or MLX for folders",
    ),
    "EngineSettings.backend=auto": ("Automatic", ""),
    "EngineSettings.backend=llama.cpp": ("llama.cpp alone", ""),
    "EngineSettings.backend=mlx": ("MLX too", ""),
    "EngineSettings.context_length": ("Context length", "Tokens, at least {least}; 0 is automatic"),
    "EngineSettings.context_length:special": ("automatic", ""),
    "EngineSettings.threads": ("Threads", "0 is one per physical core"),
    "EngineSettings.threads:special": ("automatic", ""),
    "EngineSettings.kv_type": (
        "KV cache type",
        (
            "f16 is fastest; bf16 makes speculation bit-exact on a processor; q8_0 takes half "
            "the memory"
        ),
    ),
    "EngineSettings.gpu_layers": ("GPU layers", "-1 is automatic; 0 uses none"),
    "EngineSettings.gpu_layers:special": ("automatic", ""),
    "EngineSettings.exact": (
        "Exact",
        (
            "Drafts and reuses only where the output is bit-identical with and without; each "
            "model is tested once"
        ),
    ),
    "EngineSettings.exact:label": ("draft and reuse only where no bit changes", ""),
    "EngineSettings.flash_attention": (
        "Flash attention",
        "Automatic: on, unless a graphics card was measured to be slower with it",
    ),
    "EngineSettings.flash_attention=auto": ("Automatic", ""),
    "EngineSettings.flash_attention=on": ("On", ""),
    "EngineSettings.flash_attention=off": ("Off", ""),
    "EngineSettings.window_cache": (
        "Sliding-window cache",
        "Layers with a sliding window keep their window, or the whole context",
    ),
    "EngineSettings.window_cache=auto": ("Automatic", ""),
    "EngineSettings.window_cache=whole": ("Whole context", ""),
    "EngineSettings.window_cache=window": ("Window only", ""),
    "EngineSettings.check_memory": (
        "Check memory",
        "Refuse models that do not fit into memory, and offer a context that does",
    ),
    "EngineSettings.check_memory:label": ("refuse models that do not fit", ""),
    "EngineSettings.batch": ("Batch", "Tokens prefilled at once, at least 128; 0 is automatic"),
    "EngineSettings.batch:special": ("automatic", ""),
    "Settings.language": ("Language", "Of the window, from the next start on"),
    "Settings.theme": ("Theme", "Follows the system by default"),
    "Settings.theme=system": ("Same as system", ""),
    "Settings.theme=light": ("Light", ""),
    "Settings.theme=dark": ("Dark", ""),
    "Settings.text_font": ("Text font", "Bundled or system's"),
    "Settings.text_font=auto": ("Automatic", ""),
    "Settings.text_font=inter": ("Inter", ""),
    "Settings.text_font=system": ("System font", ""),
    "Settings.text_size": ("Text size", "Of the whole window, in percent"),
    "Settings.text_size:unit": ("%", ""),
    "Settings.column_width": ("Column width", "Of the messages"),
    "Settings.column_width=narrow": ("Narrow", ""),
    "Settings.column_width=medium": ("Medium", ""),
    "Settings.column_width=wide": ("Wide", ""),
    "Settings.line_spacing": ("Line spacing", "Of the messages"),
    "Settings.line_spacing=tight": ("Tight", ""),
    "Settings.line_spacing=normal": ("Normal", ""),
    "Settings.line_spacing=loose": ("Loose", ""),
    "Settings.system_prompt": ("System prompt", "For chats without one of their own"),
    "Settings.when_full": (
        "When the context is full",
        "Stop, or leave out the oldest turns but keep the system prompt",
    ),
    "Settings.when_full=stop": ("Stop", ""),
    "Settings.when_full=drop_oldest": ("Leave out the oldest turns", ""),
    "Settings.thinking": (
        "Thinking",
        "Reasoning before the reply, for models that have it; automatic leaves it to the model",
    ),
    "Settings.thinking=auto": ("Automatic", ""),
    "Settings.thinking=off": ("Off", ""),
    "Settings.thinking=on": ("On", ""),
    "Settings.thinking=low": ("Low", ""),
    "Settings.thinking=medium": ("Medium", ""),
    "Settings.thinking=high": ("High", ""),
    "Settings.thinking=max": ("Maximum", ""),
    "Settings.show_origins": ("Highlight drafted text", "Colours each token by its origin"),
    "Settings.announce_replies": (
        "Announce replies",
        "Screen readers say them sentence by sentence while they are written, and their end",
    ),
    "Settings.long_paste": (
        "Attach long pasted text",
        "From this length on; {pressed:Ctrl+Shift+V} pastes it into the message all the same",
    ),
    "Settings.long_paste:special": ("never", ""),
    "Settings.long_paste:unit": ("{count:plural one=character|other=characters}", ""),
    "Settings.trash_days": (
        "Keep deleted chats",
        "In the trash; afterwards their text is overwritten and cannot be restored",
    ),
    "Settings.trash_days:special": ("not at all", ""),
    "Settings.trash_days:unit": ("{count:plural one=day|other=days}", ""),
    "Settings.stats_shown": (
        "Figures under a reply",
        "The others show when the pointer is over them",
    ),
    "Settings.stats_shown=speed": ("Speed and gain", ""),
    "Settings.stats_shown=all": ("More figures", ""),
    "Settings.stats_shown=none": ("None", ""),
    "LibrarySettings.other_programs": (
        "Models of other programs",
        "Of LM Studio, Ollama and GPT4All, used where they are",
    ),
    "LibrarySettings.other_programs:label": ("of LM Studio, Ollama, GPT4All", ""),
    "LibrarySettings.parallel": ("Downloads at a time", "The others wait for their turn"),
    "LibrarySettings.limit_mb": (
        "Download speed",
        "Of all downloads together; 0 is as fast as possible",
    ),
    "LibrarySettings.limit_mb:special": ("no limit", ""),
    "LibrarySettings.limit_mb:unit": ("MB/s", ""),
    "LibrarySettings.unload_minutes": (
        "Unload idle models",
        "After this time without a reply; 0 keeps them loaded",
    ),
    "LibrarySettings.unload_minutes:special": ("never", ""),
    "LibrarySettings.unload_minutes:unit": ("{count:plural one=minute|other=minutes}", ""),
    "ServerSettings.on": ("Local server", "Other programs use your models through it"),
    "ServerSettings.port": (
        "Port",
        "1234 is LM Studio’s and 11434 Ollama’s: some programs look there",
    ),
    "ServerSettings.model": (
        "Model for programs",
        "Answers where a program names no installed one",
    ),
    "ServerSettings.any_model": (
        "Load models by name",
        "A program that names another installed model gets that one",
    ),
    "ServerSettings.draft": ("Drafting for programs", ""),
    "ServerSettings.network": (
        "Other computers too",
        "Everybody in your network who has the key can use your models",
    ),
    "ServerSettings.origins": (
        "Web pages that may ask",
        "Their addresses, such as app://obsidian.md",
    ),
    "ServerSettings.keep_prompts": (
        "Keep programs’ prompts on disk",
        "After a restart nothing of them is processed again",
    ),
    "ServerSettings.share_window": (
        "Share computed chats with programs",
        (
            "Faster where they send the same text, but they can find out what your kept chats and "
            "folders contain. Private chats are never shared"
        ),
    ),
    "PrefixSettings.on_disk": (
        "Prompt cache on disk",
        "Saves recomputing after a restart",
    ),
    "PrefixSettings.most_gb": ("Max disk space", "Never more than a quarter of the free space"),
    "PrefixSettings.most_gb:unit": ("GB", ""),
    "PrefixSettings.memory_mb": (
        "Max memory",
        "For records outside a loaded model's context; 0 is automatic",
    ),
    "PrefixSettings.memory_mb:special": ("automatic", ""),
    "PrefixSettings.memory_mb:unit": ("MB", ""),
    "PrefixSettings.prefill_ahead": (
        "Prefill ahead",
        "While you type, and after a reply; costs battery, pauses when it is low",
    ),
    "PrefixSettings.prefill_ahead:label": ("while you type, and after a reply", ""),
    "Sampling.temperature": ("Temperature", "0 always takes the likeliest token"),
    "Sampling.top_p": ("Top-p", "Likeliest tokens up to this sum; 1 off"),
    "Sampling.top_k": ("Top-k", "Only this many of the likeliest; 0 off"),
    "Sampling.top_k:special": ("off", ""),
    "Sampling.min_p": ("Min-p", "At least this share of the best; 0 off"),
    "Sampling.repeat_penalty": ("Repeat penalty", "1 is off"),
    "Sampling.presence_penalty": ("Presence penalty", "0 is off"),
    "Sampling.max_tokens": ("Longest reply", "Max tokens of one reply; 0 is no limit"),
    "Sampling.max_tokens:special": ("no limit", ""),
    "Speculation.enabled": (
        "Drafting",
        "Several tokens at once, where that is faster",
    ),
    "Speculation.draft": (
        "Choose the draft automatically",
        "For each model the installed draft that gained most; off: no draft model",
    ),
    "Speculation.prompt_lookup": (
        "Reuse repeated text",
        "Drafts copies of earlier text, without a model",
    ),
    "Speculation.depth_mode": (
        "Draft depth",
        ("Automatic: measured, and stopped where it is slower"),
    ),
    "Speculation.depth": ("Fixed depth", "Tokens drafted before each verification"),
    "Speculation.min_probability": (
        "Minimum draft probability",
        "The draft stops before a token less probable than this; 0 is automatic",
    ),
    "Speculation.min_probability:special": ("automatic", ""),
    "Speculation.earlier_chats": (
        "Use earlier chats for drafting",
        (
            "Text that the model wrote before, in this and other chats, is tried first; private "
            "chats neither give nor get anything"
        ),
    ),
    "UpdateSettings.look": (
        "Look for updates",
        "Asks one address once a day for the newest version; sends nothing else",
    ),
    "UpdateSettings.look:label": ("ask once a day", ""),
    "UpdateSettings.address": (
        "Address of updates",
        "A small JSON file with the newest version and its page",
    ),
    "automatic-layers": (
        "Automatic: as many as {cards} has memory for; all of a draft before that.",
        "",
    ),
    "automatic-no-card": (
        "No graphics card was found: the processor computes every layer.",
        "",
    ),
    "automatic-no-gpu-build": (
        "This llama.cpp was built without a GPU: the processor computes every layer.",
        "",
    ),
    "automatic-without-mlx": (
        "Automatic: llama.cpp. MLX is not installed; it is for Apple Silicon.",
        "",
    ),
    "automatic-mlx": (
        "Automatic: MLX for MLX folders, llama.cpp for GGUF files.",
        "",
    ),
    "automatic-mlx-elsewhere": (
        "Automatic: llama.cpp. MLX would run here too, many times slower.",
        "",
    ),
    "automatic-context": (
        (
            "Automatic: the length it was trained for, at most {most:,} tokens and as far as "
            "memory allows: all of it is taken at once."
        ),
        "",
    ),
    "automatic-threads": (
        (
            "Automatic: up to {threads}, one for each fast core that this program may use; fewer "
            "while other programs keep cores busy. A number is always used as it is. For llama.cpp."
        ),
        "",
    ),
    "automatic-kv-type": (
        ("Changing it discards cached prompts: each chat is processed once more. For llama.cpp."),
        "",
    ),
    "automatic-exact": (
        (
            "For llama.cpp on a processor: bf16 keys and values and flash attention, whatever is "
            "chosen here."
        ),
        "",
    ),
    "automatic-attention": (
        ("Here it is on. For llama.cpp. A change has each chat processed once more."),
        "",
    ),
    "automatic-attention-tried": (
        (
            "Here it is tried once for each model, and off where that is a tenth faster. For "
            "llama.cpp. A change has each chat processed once more."
        ),
        "",
    ),
    "automatic-window-cache": (
        (
            "Automatic: the window where that saves half a gigabyte. The whole context takes more "
            "memory, and less work where an earlier message is edited. For llama.cpp."
        ),
        "",
    ),
    "automatic-batch": (
        (
            "Automatic: {chunk}, the size of a stored chunk. Larger needs a larger buffer, and a "
            "stop may take longer to be heard. For llama.cpp."
        ),
        "",
    ),
}
