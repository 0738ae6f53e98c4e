"""Texts of the chat's own settings."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "whole-documents": "Whole documents",
    "about-whole-documents": (
        "They stand first in each prompt of this chat and are read once: all chats over the same "
        "documents share that."
    ),
    "pin-document": "Add a document…",
    "document-gone": "its text is gone",
    "document-tokens": "about {tokens:n token|tokens}",
    "document-changed": "the file has changed since",
    "document-of-folder": "of the folder",
    "read-again": "Read it again as it is now",
    "read-name-again": "Read {name} again as it is now",
    "unpin": "Take it out",
    "unpin-name": "Take {name} out",
    "knowledge": "Knowledge",
    "no-knowledge": "none",
    "doubtful": "Passages that only resemble a question",
    "doubtful-ask": "Ask",
    "doubtful-give": "Send them",
    "doubtful-leave-out": "Leave them out",
    "search-in": "Search in {name}",
    "about-knowledge": (
        "For each question, passages are looked up in the folders and files that are on. "
        "They are added to the message and stay in it."
    ),
    "folders-and-files": "Folders and files…",
    "tools": "Tools",
    "from-servers": "From tool servers",
    "tool-servers": "Tool servers…",
    "tools-of-server": "Tools of {server}",
    "choose-tools": "Choose tools…",
    "choose-tools-of": "Choose tools of {server}",
    "tool-with-cost": "{tool}, {tokens:n token|tokens}",
    "take-tools": "Use these",
    "tools-not-known": "Its tools are known once it has started, with the next message.",
    "server-cost": "{tools:n tool|tools}, {tokens:n token|tokens} in each prompt.",
    "server-large": (
        "That is {share:.0%} of the context. Choose some of them, or three tools that find the "
        "others."
    ),
    "server-large-somewhere": (
        "That is much of most contexts. Choose some of them, or three tools that find the others."
    ),
    "three-tools": "Three tools instead",
    "three-tools-of": "Three tools instead of all of {server}",
    "server-would-cost": "{tools:n tool|tools} would take {tokens:n token|tokens} of each prompt.",
    "tools-price": (
        "A change of tools has this chat’s {tokens:n token|tokens} processed again with the next "
        "message."
    ),
    "tools-about": (
        "The model may call these in this chat. It asks you before the first use of each."
    ),
    "tools-none": "none",
    "tool-tokens": "{count:n token|tokens} in each prompt.",
    "tool-about-tokens": "About {count:n token|tokens} in each prompt.",
    "tools-cost": "Together they take {count:n token|tokens} of the context.",
    "tools-about-cost": "Together they take about {count:n token|tokens} of the context.",
    "answer-format": "Answer format",
    "json-schema": "JSON Schema",
    "sample-of-answer": "A sample of an answer",
    "free-text": "Free text",
    "json-fits-schema": "JSON that fits a schema",
    "such-answer-would-fit": "Such an answer would fit:",
    "temperature-words": "temperature {words}",
    "creativity": "Creativity",
    "chat-decides-for-itself": "This chat decides it for itself",
    "host-answers": (
        "{host} answers here and decides itself what it caches; each reply shows what it reports. "
        "Settings that it does not take are greyed out."
    ),
    "reset-to-apps-settings": "Reset to the app’s settings",
    "forget-own-settings": "Discard the settings of this chat alone",
    "when-full": "When full",
    "host-does-not-take-setting": "{host} does not take this setting",
    "drafting-details": "Drafting: details",
    "prompt-cache": "Prompt cache",
    "when-context-full": "When the context is full",
    "now": "Now",
    "accepted": "Accepted",
    "tokens-per-round": "Tokens per round",
    "speed": "Speed",
    "why": "Why",
    "accepted-of-verified-share": "{accepted:,} of {verified:,} ({share:.0%})",
    "against-plain-plain-decoding": "{against_plain:.1f}× plain decoding",
    "system-prompt-with-settings-under": "A system prompt with settings, under a name",
    "choose-another-model": "Choose another model",
    "drafting": "Drafting",
    "writes-several-tokens-at-once": "Writes several tokens at once; the text stays the same",
    "context-used": "Context used",
    "chat": "This chat",
    "model": "Model",
    "no-model": "No model",
    "model-words": "Model: {words}",
    "used-of-size-tokens": "{used:tokens} of {size:tokens} tokens",
    "save-as-preset": "Save as a preset…",
    "presets-and-prompts": "Presets and prompts…",
    "off-one-token-after-another": "Off: one token after another",
    "room-for-about-pages-more": "room for about {pages:,} more pages",
    "nearly-full": "nearly full",
    "preset": "Preset",
    "context": "Context",
    "follow-again": "Follow the folder, the model or the app again",
    "private-nothing-of-chat-written": (
        "Private: nothing of this chat is written to disk, neither its text nor what was computed."
    ),
    "nothing-new-kept-on-disk": (
        "Nothing new is kept on disk: switched off in the settings. Clearing removes the rest."
    ),
    "last-token-always-processed": "The last token is always processed.",
    "new-were-new": "{new:,} were new.",
    "tokens-reused-in-last-reply": "Tokens reused in the last reply",
    "chat-on-disk": "This chat on disk",
    "all-chats": "All chats",
    "written-today": "Written today",
    "in-memory": "In memory",
    "keep-on-disk-for-chat": "Keep on disk for this chat",
    "about-keep-on-disk": (
        "Keeps what was computed for this chat, so that a restart does not compute it again. "
        "Switching it off removes it."
    ),
    "sizes-and-clearing": "Sizes and clearing…",
    "known-after-first-reply": "known after the first reply",
    "total-of-budget": "{total:size} of {budget:size}",
    "in-memory-of-memory-budget": "{in_memory:size} of {memory_budget:size}",
    "in-memory-only": "in memory only",
    "values-on-disk": "{values} on disk",
    "chats-share-cached-prompts-clearing": (
        "Chats share cached prompts. Clearing deletes no messages; the next reply processes the "
        "prompt again."
    ),
    "chats-by-size-on-disk": "Chats by size on disk",
    "show-folder": "Show the folder",
    "clear-chat": "Clear it",
    "clear-all": "Clear all",
    "total-of-budget-on-disk": (
        "{total:size} of {budget:size} on disk, {written_today:size} written today, "
        "{in_memory:size} in memory.\n{location}"
    ),
    "chat-2": "Chat, document or program",
    "on-disk": "On disk",
    "clear-these-chats": "Clear these",
    "owner-document": "Document {name}",
    "owner-program": "Program {name}",
    "deleted-chat": "a deleted chat",
    "length-seed-words": "length, seed, words",
    "stop-strings-one-on-each": "Stop strings, one on each line",
    "stop-strings-help": (
        "The reply ends before any of these, one on each line; \\n is a line break"
    ),
    "stop-at": "Stop at",
    "favoured-and-forbidden-words": "Favoured and forbidden words",
    "delve-never-tea-2": "delve = never\ntea = 2",
    "one-word-or-phrase-per": (
        "One word or phrase per line: “sure = 5” (more often), “sure = -5” (less often), “sure = "
        "never”"
    ),
    "words": "Words",
    "length-and-sampling": "Length and sampling",
    "fixed-seed": "Fixed seed",
    "seed-help": "The same seed and text give the same reply",
    "seed": "Seed",
    "tokens-per-second-by-draft": "tokens per second by draft depth, measured with this pair",
    "no-draft-model": "No draft model",
    "automatic": "Automatic",
    "draft-from": "Draft from",
    "draft-depth": "Draft depth",
    "fixed-draft-depth": "Fixed draft depth",
    "minimum-probability": "Minimum probability",
    "highlight-drafted-text": "Highlight drafted text",
    "green-by-draft-model-head": (
        "green: by a draft model, a head or own layers; violet: repeated, or of earlier chats"
    ),
    "speed-on-computer": "Speed on this computer",
    "calibrate": "Calibrate",
    "own-layers-not-in-model": "Own layers – not in this model",
    "choose-draft-model-first": "Choose a draft model first",
    "drafting-off": "Drafting is off",
    "auto": "Auto",
    "fixed": "Fixed",
    "draft-name-not-installed": "{draft_name} – not installed",
    "cancel": "Cancel",
    "calibrating-done-of-total": "calibrating… {done} of {total}",
    "calibrating": "calibrating…",
    "host-does-not-return-token": (
        "{host} does not return token probabilities, so drafts cannot be verified there. vLLM, "
        "SGLang and llama_cpp.server do."
    ),
    "for-servers-model-only-replies": (
        "For a server's model, only replies at temperature 0 are drafted."
    ),
    "own-layers": "its own layers",
    "works-by-text-slower": "works by text, slower",
    "does-not-help-here": "does not help here",
    "acceptance-of-draft-tokens-accepted": "{acceptance:.0%} of draft tokens are accepted",
    "no-installed-draft-would-make": "No installed draft would make this model faster.",
    "not-among-installed-models-replies": (
        "not among the installed models: replies are written without it"
    ),
    "looking-at-installed-models": "looking at the installed models…",
    "no-installed-model-can-draft": "No installed model can draft here. {reasons}.",
    "choose-small-model-drafts-here": (
        "Choose a small model: it drafts here, and {host} checks what it wrote."
    ),
    "small-model-of-same-family": "A small model of the same family makes replies faster.",
    "installed-draft-gained-most-with": "The installed draft that gained most with this model.",
    "not-with-server": "not with this server",
    "repeated-text": "repeated text",
    "earlier-chats": "earlier chats",
    "not-possible-with-server": "Not possible with this server",
    "nothing-drafts-here": "Nothing drafts here",
    "measuring-draft": "Measuring the cost and the gain of this draft while you are not waiting.",
    "processing-chat-in-draft-costs": (
        "Processing this chat in the draft costs more than drafting has saved so far."
    ),
    "calibrating-done-of-total-2": "calibrating, {done} of {total}",
    "not-drafting-yet": "not drafting yet",
    "too-little-known-about-draft": "Too little is known about this draft so far.",
    "right-drafting-pays-from-needed": "{right}; drafting pays from {needed:.0%}.",
    "not-drafting": "not drafting",
    "best-best": "best: {best}",
    "best-off": "best: off",
    "speed-by-draft-depth-not": "Speed by draft depth: not measured yet",
    "not-measured-on-computer-yet": "not measured on this computer yet",
    "system-prompt": "System prompt",
    "instructions": (
        "Instructions for the model in this chat. {{{{date}}}} and {{{{name}}}} are filled in"
    ),
    "drafting-gain": "Drafting: {what}, {gain}",
    "drafting-by": "Drafting: {what}",
    "preset-name": "Preset: {name}",
    "preset-none": "Preset: none",
    "used-of-size-exactly": "{used:,} of {size:,} tokens",
    "change": "change",
    "works": "works",
    "ready": "ready",
    "reusing-earlier-chats": "reusing earlier chats, {depth}",
    "reusing-text": "reusing text, {depth}",
    "speeds-by-depth": "Tokens per second by draft depth: {points}; best: {best}",
    "off": "off",
    "nothing": "nothing",
    "from-disk": "from disk",
    "from-memory": "from memory",
    "count-from-disk": "{count:,} from disk",
    "count-from-memory": "{count:,} from memory",
    "reused-from": "{reused:,} of {prompt:,} tokens reused ({sources}).",
    "reused": "{reused:,} of {prompt:,} tokens reused.",
    "recomputed": "{count:n token was|tokens were} recomputed.",
    "recomputed-why": "{count:n token was|tokens were} recomputed: {reason}.",
    "all-new": "All of it was new.",
    "prefilled-ahead": "{count:,} were prefilled before you asked.",
    "drafts-by-own-layers": "Its own layers draft",
    "drafts-by-name": "{name} drafts",
    "repeated-drafted": "Repeated text is drafted",
    "earlier-drafted": "Earlier chats are drafted from",
    "prompt-costs": "Another system prompt: all {used:,} tokens of this chat are processed again.",
    "prompt-costs-time": (
        "Another system prompt: all {used:,} tokens of this chat are processed again, about "
        "{seconds:time}."
    ),
    "drafts-by": (
        "{source:select own layers=own layers drafting|head=head drafting|other=drafting} {depth}"
    ),
    "depth-unit": "{depth:plural one=token|other=tokens}",
    "exact": "exact",
    "inventive": "inventive",
    "json": "JSON",
    "none": "none",
    "seed-fixed": "fixed",
}
