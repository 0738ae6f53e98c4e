"""Texts of the settings page."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "knowledge": "Knowledge",
    "remove-name": "Remove {name}",
    "sources": "Folders and files",
    "searched-files": "Searched for passages",
    "about-sources": (
        "They stay where they are and are read on this computer only. A chat searches those"
        " that are switched on in its panel, or that you name with # in a message."
    ),
    "add-folder-ellipsis": "Add folder…",
    "add-files-ellipsis": "Add files…",
    "search-files-ellipsis": "Search files…",
    "choose-source-folder": "Choose a folder",
    "choose-source-files": "Choose files",
    "no-sources": "None yet. Add a folder of documents, notes or code.",
    "read-again": "Begin to read {source} again",
    "remove-source": "Remove {source} from the searched folders?",
    "files-stay": (
        "Its files stay. Its text is deleted from the index; passages in chats stay there."
    ),
    "large-folder": "Read {files:n file|files} ({size:size})?",
    "add-it": "Read them",
    "meaning": "Meaning",
    "about-meaning": (
        "An embedding model finds passages that say the same in other words. It runs on "
        "this computer while no reply is written."
    ),
    "compare-meanings": "Compare meanings",
    "small-embedder": "Get all-MiniLM-L6-v2 (25 MB)…",
    "find-embedder": "Find another one…",
    "meaning-off": "Off: passages are found by their words.",
    "meaning-missing": "No embedding model is installed, so passages are found by their words.",
    "meaning-later": "Used as soon as there are files and an embedding model.",
    "meaning-share": "{model}: {share:.0%} of the passages",
    "index": "Index",
    "index-size": "Size on disk",
    "index-has": "{size:size}. It can be deleted at any time: the files are read again.",
    "make-again": "Make again",
    "make-index-again": "Make the index again?",
    "about-making-again": "All files are read again. Searches find less until then.",
    "more-about-knowledge": "More about knowledge…",
    "tool-servers": "Tool servers",
    "about-tool-servers": (
        "Programs that lend tools to models: files, databases, browsers, trackers. They start when "
        "a chat that uses them sends a message, never before."
    ),
    "mcp-servers": "MCP servers",
    "no-tool-servers": "None yet. Add one, or import those of another program.",
    "add-server-ellipsis": "Add…",
    "import-ellipsis": "Import…",
    "add-tool-server": "Add a tool server",
    "change-tool-server": "Change the tool server",
    "about-tool-server-entry": (
        "A command is run on this computer, with your rights. Add only what you trust."
    ),
    "command": "Command",
    "sample-command": "npx -y @modelcontextprotocol/server-filesystem ~/Documents",
    "or-address": "Or address",
    "working-folder": "Working folder",
    "your-home-folder": "your home folder",
    "headers": "Headers",
    "environment-variables": "Environment variables",
    "add-variable": "Add a variable",
    "remove-variable": "Remove this variable",
    "variable-name": "Name of the variable",
    "variable-value": "Value of the variable",
    "value": "Value",
    "secret": "Secret",
    "start": "Start",
    "restart": "Restart",
    "details": "Details…",
    "start-server": "Start {server}",
    "stop-server": "Stop {server}",
    "details-of-server": "Details of {server}",
    "remove-server": "Remove {server}",
    "server-off": "Not running",
    "server-starting": "Starting…",
    "server-ready": "Running",
    "server-ended": "Ended",
    "server-tools": "{tools:n tool|tools}, about {tokens:n token|tokens} in each prompt",
    "tool": "Tool",
    "tokens": "Tokens",
    "count": "{count:,}",
    "tools-take": (
        "A chat with this server has about {count:n token more|tokens more} in each prompt."
    ),
    "three-tools": "Three tools instead of all",
    "about-three-tools": (
        "The model gets tools that search, describe and call the others. This takes little of the "
        "context, and a step more for each new tool."
    ),
    "log": "Log",
    "log-empty": "The server has written nothing.",
    "remove-tool-server": "Remove “{name}”?",
    "chats-lose-its-tools": (
        "Its chats lose its tools. Secrets that you entered for it are removed, too."
    ),
    "import-tool-servers": "Import tool servers",
    "about-import-tools": (
        "Each command is shown as it would run. Nothing starts until a chat uses it."
    ),
    "looking-for-tools": "Looking for the files of other programs…",
    "no-tools-found": (
        "No other program on this computer has tool servers. Choose a file, or paste a text."
    ),
    "choose-file": "Choose a file…",
    "choose-tools-file": "Choose a file with tool servers",
    "paste": "Paste",
    "pasted": "Pasted",
    "found-in": "{program}: {path}",
    "tool-left-out": "{name} is left out. {why}",
    "with-variables": "With {names:list}",
    "off-there": "Switched off there.",
    "has-gaps": "Fill in {names:list} after the import.",
    "add-count": "Add {count}",
    "has-open-secret": (
        "Its command holds what looks like a key. It would lie in the settings file, and stand in "
        "each question."
    ),
    "local-server": "Local server",
    "about-local-server": (
        "Coding agents and other programs use the models of this computer through it. What they "
        "send again is not processed again, not even after a restart."
    ),
    "copy-address": "Copy the address",
    "show-key": "Show the key",
    "copy-key": "Copy the key",
    "new-key": "New key",
    "new-key-question": "Make a new key?",
    "new-key-ends": "Programs that have the old one are refused until they get the new one.",
    "only-this-computer": "Programs on this computer can use it; other computers cannot.",
    "other-computers": ("Everybody in your network who has the key can use it, at {address}."),
    "programs": "Programs",
    "set-up": "Set up…",
    "set-up-program": "Set up {program}",
    "set-up-file": "Put this into {place}. If the file is there already, add it.",
    "set-up-terminal": "Paste this into a terminal.",
    "set-up-python": "With the package openai:",
    "set-up-text": "Text to copy",
    "set-up-zed": "Zed asks for the key in its agent settings: {key}",
    "copy": "Copy",
    "copied": "Copied.",
    "close": "Close",
    "test-runs": "A short question is asked, as this program would…",
    "test-answer": "It works. The answer: {text}",
    "more-about-server": "More about programs",
    "requests": "Requests",
    "no-requests": "No program has asked yet.",
    "request-totals": (
        "{count:n request|requests}, {share} of {tokens:n token|tokens} reused: {saved:time} saved."
    ),
    "clear": "Clear",
    "access": "Access",
    "model-of-new-chats": "The model of new chats",
    "not-available": "{name} (not available)",
    "draft-automatic": "Automatic",
    "draft-none": "None",
    "kept-prompts": "{count:n session|sessions} on disk, {size} MB",
    "request-time": "Time",
    "request-program": "Program",
    "request-state": "State",
    "request-tokens": "Tokens",
    "request-reused": "Reused",
    "request-first": "First token",
    "request-speed": "Tokens/s",
    "request-why": "Why processed again",
    "request-processing": "Processing {percent} %",
    "request-begins": "Processing",
    "request-waiting": "Waiting",
    "request-loading": "Loading",
    "request-writing": "Writing",
    "request-paused": "Paused for you",
    "request-done": "Done",
    "request-stopped": "Stopped",
    "request-gone": "Hung up",
    "request-failed": "Failed",
    "request-all-reused": "nothing",
    "request-new": "new text",
    "request-nothing-before": "nothing before it",
    "request-sources": (
        "{reused:n token|tokens} reused, {memory:,} from memory and {disk:,} from disk; "
        "{processed:,} processed"
    ),
    "request-drafts": "{accepted:,} of {verified:,} draft tokens accepted",
    "tools": "Tools",
    "tools-allowed": "Allowed without asking",
    "tools-allowed-about": "Tools for which you chose “Always”, in all chats.",
    "tools-none-allowed": "None: each chat asks before the first use of a tool.",
    "tools-ask-again": "Ask again",
    "tools-ask-again-for": "Ask again before using {tool}",
    "tools-own": "Switching tools on",
    "tools-own-about": (
        "Each chat has its own switches: under Tools in the panel beside it. A new chat has none."
    ),
    "more-about-tools": "More about tools",
    "air-scatters-short-waves-of": (
        "Air scatters short waves of light more than long ones, so blue reaches you from every "
        "side."
    ),
    "why-sky-blue": "Why is the sky blue?",
    "theme-title": "Theme: {title}",
    "sample-of-text": "A sample of the text",
    "appearance": "Appearance",
    "reading": "Reading",
    "language": "Language",
    "language-of-system": "Same as system ({name})",
    "language-restart": "The window changes with the next start.",
    "restart-now": "Restart now",
    "text-size": "Text size",
    "code-always-jetbrains-mono": "Code is always JetBrains Mono",
    "replies": "Replies",
    "colours-what-draft-wrote-and": "Colours what a draft wrote, and what was repeated",
    "about-cache": (
        "Results of processing a chat are kept, so that it goes on at once after a restart, in "
        "another branch, or with another model."
    ),
    "prompt-cache": "Prompt cache",
    "sizes-and-clearing": "Sizes and clearing…",
    "kept-on-disk": "Prompts on disk",
    "about-drafting": (
        "A small model, extra layers of the model, or repeats in the text draft the next words; "
        "the model checks all of them at once. Replies are the same, and faster; drafting pauses "
        "where it gains nothing."
    ),
    "drafting": "Drafting",
    "in-all-chats": "In all chats",
    "no-model-loaded-next-one": "No model is loaded: the next one gets these settings.",
    "loaded-model-has-these-settings": "The loaded model has these settings.",
    "model-has-old-settings": (
        "The loaded model still has the old settings. It is loaded again with the next message, or "
        "now; chats stay as they are."
    ),
    "expert": "Expert",
    "engine": "Engine",
    "load-now": "Load now",
    "sampling-of-new-chats": "Sampling of new chats",
    "automatic-suits-nearly-everybody-after": (
        "Automatic suits nearly everybody. After a change, speeds are measured again."
    ),
    "about-mirror": (
        "Each chat is also kept there as a Markdown file. Your own changes in the folder are never "
        "overwritten or deleted; private chats are never written."
    ),
    "about-backup": (
        "One file with all chats, files and settings, made while you go on. Restoring brings back "
        "what is missing and keeps what is newer."
    ),
    "copies-of-chats-made-every": (
        "Copies of the chats are made every day (the last five), and before each update of them."
    ),
    "daily-copy": "daily copy",
    "before-update": "before an update",
    "before-repair": "before a repair",
    "files": "Files",
    "chats-in-files": "Chats in files",
    "mirror-as-markdown": "Mirror as Markdown",
    "stop": "Stop",
    "begin-again": "Begin again",
    "existing-files-kept": "Existing files are kept",
    "choose-folder": "Choose folder…",
    "backups": "Backups",
    "backup-progress": "Progress of the backup",
    "automatic-copies": "Automatic copies",
    "restore-copy": "Restore this copy…",
    "folder-for-mirror": "A folder for the mirror",
    "back-up": "Back up",
    "backups-suffix": "Backups (*{suffix})",
    "restore-from-backup": "Restore from a backup",
    "import-and-export": "Import and export",
    "folder-of-mirror": "Folder of the mirror",
    "back-up-and-restore": "Back up and restore",
    "no-folder": "No folder",
    "backed-up-size-to-path": "Backed up: {size:size} to {path}",
    "backups-suffix-zip-db": "Backups (*{suffix} *.zip *.db)",
    "all-files": "All files (*)",
    "import-chats": "Import chats…",
    "import-folder": "Import a folder…",
    "export-all-chats": "Export all chats…",
    "back-up-now": "Back up now…",
    "restore-from-file": "Restore from a file…",
    "automatic-advice": "Automatic: the advice of the model’s makers",
    "general": "General",
    "new-chats": "New chats",
    "messages": "Messages",
    "system-prompt-of-chats-without": "System prompt of chats without one of their own",
    "instructions": "Instructions for every model",
    "0-exact-1-inventive-advice": "0 is exact, 1 inventive. {advice}",
    "system-prompt": "System prompt",
    "about-folders": (
        "Downloads go to the cache of Hugging Face’s own tools, which share them. Models in these "
        "folders are used where they are."
    ),
    "only-for-gated-and-private": (
        "Only for gated and private models. A token stays in the system's keychain and is sent to "
        "Hugging Face, nowhere else."
    ),
    "models": "Models",
    "memory": "Memory",
    "folders": "Folders",
    "folders-where-models-looked-for": "Folders where models are looked for",
    "add-folder": "Add folder…",
    "remove-from-list": "Remove from the list",
    "downloads": "Downloads",
    "hugging-face": "Hugging Face",
    "add-folder-with-models": "Add a folder with models",
    "folders-with-models": "Folders with models",
    "account": "Account",
    "back-to-chats": "Back to chats",
    "search-settings": "Search settings",
    "search": "Search",
    "settings": "Settings",
    "no-settings-found": "No settings found.",
    "help": "Help",
    "about-headstart": "About Headstart",
    "nothing-else-leaves": (
        "Nothing else leaves this computer: no usage figures, no crash reports, no requests for "
        "pictures in a text. Nothing listens to other programs unless the local server is on."
    ),
    "network-models": "when you search for them or download them; Hugging Face sees which ones.",
    "servers": "Servers",
    "network-servers": "in chats with a server’s model, after you allowed it; the chat goes there.",
    "updates": "Updates",
    "once-day-only-where-switched": (
        "once a day, only where it is switched on; one address, nothing but the question."
    ),
    "links": "Links",
    "network-links": "in replies, when you click them; your browser opens them.",
    "privacy": "Privacy",
    "deleted-chats": "Deleted chats",
    "recently-deleted": "Recently deleted…",
    "network-use": "Use of the network",
    "more-about-privacy": "More about privacy",
    "about-servers": (
        "Any server with the OpenAI chat API can answer instead of Headstart: vLLM, SGLang, "
        "llama.cpp’s server, LM Studio, Ollama. Text for a server on another computer goes there; "
        "Headstart asks once for each server."
    ),
    "looking-for-programs-answer-here": "Looking for programs that answer here…",
    "no-servers-here": (
        "No other program answers here now. Ollama, LM Studio, llama.cpp, vLLM, Jan and KoboldCpp "
        "are found while their servers run."
    ),
    "your-servers": "Your servers",
    "add": "Add…",
    "change": "Change…",
    "test": "Test",
    "remove": "Remove",
    "on-computer": "On this computer",
    "look-again": "Look again",
    "name": "Name",
    "any-name": "any name",
    "address": "Address",
    "key": "Key",
    "kept-in-systems-keychain-never": (
        "kept in the system's keychain, never in a file of Headstart's"
    ),
    "certificate-file": "Certificate file",
    "certificate-signed-your-own-servers": "the certificate that signed your own server's",
    "choose": "Choose…",
    "timeout": "Timeout",
    "seconds-without-data-ten-times": (
        "seconds without data; ten times as long before the first word"
    ),
    "send-texts-to-edited-as": "Send texts to be edited as a prediction",
    "about-predictions": (
        "Sends a text that you want changed once more, as a prediction: OpenAI’s servers and some "
        "others then reply sooner. Some charge for wrong predictions."
    ),
    "certificate": "Certificate",
    "choose-certificate": "Choose a certificate",
    "certificates-pem-crt-cer-all": "Certificates (*.pem *.crt *.cer);;All files (*)",
    "servers-answer-chats": "Servers that answer chats",
    "use-name": "Use {name}",
    "not-allowed-yet": "not allowed yet",
    "no-servers-yet": "No servers yet",
    "asking": "Asking…",
    "add-server": "Add a server",
    "change-server": "Change a server",
    "leave-empty-to-keep-current": "leave empty to keep the current key",
    "save": "Save",
    "cancel": "Cancel",
    "remove-name-and-key": "Remove “{name}” and its key?",
    "chats-stay-they-need-another": "Its chats stay; they need another model to go on.",
    "seconds-unit": "s",
    "shortcuts": "Shortcuts",
    "look-now": "Look now",
    "address-begins-with-https": "An address begins with https://.",
    "signed-in-as-name": "Signed in as {name}.",
    "token-removed": "Token removed.",
    "count-more": "{more:,} more",
    "kind-answers": "It answers ({kind}) and offers {names:list}.",
    "answers": "It answers and offers {names:list}.",
    "count-models": "{count:n model|models}",
    "none": "none",
}
