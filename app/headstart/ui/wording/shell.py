"""Texts of commands, header, notices and palette."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "not-saved-yet": "Not saved yet: {count:n change|changes}.",
    "saved-by-itself": "It is tried again by itself, and kept until then.",
    "try-now": "Try now",
    "all-saved": "Everything is saved now.",
    "close-unsaved": "Close and lose {count:n change|changes}?",
    "close-anyway": "Close anyway",
    "stay": "Stay",
    "prompt-of-server": "{prompt} ({server})",
    "resource-of-server": "{resource} ({server})",
    "argument-about": "{name}: {about}",
    "attach-files": "Files…",
    "server-asks": "{server} asks",
    "server-asks-about": (
        "{server}, a tool server, gets your answer. Do not enter passwords or keys here."
    ),
    "server-asks-address": "It wants you to open this address at {host} in your browser.",
    "decline": "Decline",
    "send-answer": "Send",
    "open-in-browser": "Open in the browser",
    "value-needed": "{field} is needed.",
    "value-length": "{field} is too short or too long.",
    "value-range": "{field} is too small or too large.",
    "branches-of-chat": "Branches of this chat",
    "prompts-and-presets": "Prompts and presets…",
    "guide": "Guide",
    "rename": "Rename",
    "delete": "Delete",
    "open": "Open it",
    "your-answer-holds-for-server": (
        "Your answer holds for the server “{name}” until its address changes."
    ),
    "have-value-answer": "Have {value} answer?",
    "consent-here": (
        "Another program on this computer answers, at {host}. It receives chats with this model "
        "and decides itself what it does with them."
    ),
    "send-chats-with-model-to": "Send chats with this model to {host}?",
    "text-of-such-chats-leaves": "The text of such chats leaves this computer. {way}",
    "connection-encrypted": "The connection is encrypted.",
    "connection-not-encrypted-others-on": (
        "The connection is not encrypted: others on the network could read it."
    ),
    "send": "Send",
    "why-there-two-tides-day": "Why are there two tides a day?",
    "explained-in-five-sentences": "explained in five sentences",
    "why-there-two-tides-day-explain": (
        "Why are there two tides a day? Explain it in five sentences."
    ),
    "how-do-i-answer-rent": "How do I answer a rent rise?",
    "polite-letter-to-landlord": "a polite letter to the landlord",
    "write-polite-letter-to-my": (
        "Write a polite letter to my landlord. It answers a rent increase, asks how the new rent "
        "was worked out, and asks for two weeks to think about it."
    ),
    "what-do-my-notes-ask": "What do my notes ask me to do?",
    "to-do-list-from-text": "a to-do list, from text or a file",
    "make-to-do-list-of": (
        "Make a to-do list of what these notes ask me to do, the most urgent first:\n\n"
    ),
    "can-you-rename-photos-by": "Can you rename photos by date?",
    "short-python-script": "a short Python script",
    "write-short-python-script-renames": (
        "Write a short Python script that renames the photos in a folder by the date on which they "
        "were taken."
    ),
    "nothing-in-chat-saved-deleted": (
        "Nothing in this chat is saved. It is deleted when you close it, or Headstart."
    ),
    "count-branches-of-chat": "{count:,} branches of this chat",
    "private": "Private",
    "private-chat": "A private chat",
    "on-short": "on {short}",
    "text-sent-to-host": "Text is sent to {host}",
    "drafting-gain": "Drafting {gain}",
    "drafting": "Drafting",
    "name-drafts": "{name} drafts",
    "drafting-told": "Drafting: {told}",
    "another-program-on-computer-answers-host": "Another program on this computer answers: {host}.",
    "text-of-chat-leaves-computer": "The text of this chat leaves this computer: {host} gets it.",
    "nothing-in-chat-saved-here": (
        "Nothing in this chat is saved here, but its text is sent to {host}."
    ),
    "in-message": "In the message",
    "among-messages": "Among messages",
    "in-list-of-chats": "In the list of chats",
    "chats": "Chats",
    "window": "Window",
    "new-line": "New line",
    "stop-reply-and-send-now": "Stop the reply and send now",
    "earlier-questions": "Earlier questions",
    "prompts-and-commands": "Prompts and commands",
    "paste-into-message": "Paste a long text into the message",
    "next-and-previous-message": "Next and previous message",
    "actions-of-message": "Actions of the message",
    "copy-selection": "Copy the selection",
    "copy-as-markdown-2": "Copy it as Markdown",
    "select-everything": "Select everything",
    "first-and-last-message": "First and last message",
    "open-and-write": "Open, and write",
    "choose-several": "Choose several",
    "shift-or-ctrl-with-click": "Shift or Ctrl with a click",
    "date-and-clipboard-filled-in": (
        "{{{{date}}}} and {{{{clipboard}}}} are filled in; you are asked for every other "
        "{{{{name}}}}."
    ),
    "prompts-and-presets-2": "Prompts and presets",
    "prompts": "Prompts",
    "presets": "Presets",
    "new-what": "{what:select prompt=New prompt|other=New preset}",
    "text": "Text",
    "left-files-were-left-out": "{left:,} files were left out: {most_files:,} come in at once",
    "whats-new-in-headstart": "What’s new in Headstart",
    "changes-newest-version-first": "Changes, the newest version first",
    "open-page": "Open its page",
    "whats-new-2": "What’s new…",
    "version-version": "This is version {version}.",
    "do-not-show-again": "Do not show this again",
    "suggested-action": "Suggested action",
    "dismiss-notice": "Dismiss this notice",
    "begin-again": "Begin again",
    "begin-all": "Begin everything",
    "nothing-begins": (
        "Nothing begins by itself in safe mode: folders, the mirror, servers and downloads wait."
    ),
    "undo": "Undo",
    "model-runs-on-computer-and": "The model runs on this computer, and your text stays here.",
    "nothing-in-chat-saved-neither": (
        "Nothing in this chat is saved, neither its text nor its prompt cache. It is deleted when "
        "you close it, or Headstart."
    ),
    "new-private-chat": "New private chat",
    "what-would-you-like-to": "What would you like to know?",
    "private-chat-2": "Private chat",
    "name-headstart": "{name} – Headstart",
    "installed-installed": "{installed} installed",
    "chats-messages-models-settings-help": "Chats, messages, models, settings, help",
    "results": "Results",
    "no-results": "No results.",
    "message": "Message",
    "chat": "Chat",
    "setting": "Setting",
    "help": "Help",
    "command": "Command",
    "model": "Model",
    "system-prompt-of-chat-has": (
        "The system prompt of this chat has places to fill in; they stay as they are now."
    ),
    "name-has-places-to-fill": "“{name}” has places to fill in.",
    "save-message-as-prompt": "Save this message as a prompt…",
    "save-as-preset": "Save as a preset",
    "saved-type-name-in-message": "Saved: type /{name} in a message",
    "save-as-prompt": "Save as a prompt",
    "saved-as-preset-name": "Saved as a preset: {name}",
    "name": "Name",
    "save": "Save",
    "starter-tiny-model-to-try": "{starter} is a tiny model to try out.",
    "name-share-of-size": "{name}, {share:.0%} of {size:size}",
    "try-again": "Try again",
    "resume": "Resume",
    "rest-left": "{rest:time} left",
    "pause": "Pause",
    "internal-error-happened": "An internal error happened.",
    "download-finished": "Download finished",
    "title-installed": "{title} is installed.",
    "could-not-download-title": "Could not download {title}.",
    "could-not-download-title-2": "Could not download {title}",
    "count-exported-to": "{count:n chat|chats} exported to {path}",
    "exported-to": "Exported to {path}",
    "names-of": "{what:select prompt=Prompts|other=Presets}",
    "about-prompts": "Texts for messages. Type / in a message to use one.",
    "about-presets": (
        "A system prompt, with the settings of the chat that it was saved from. A chat keeps the "
        "values that its variables had when it began."
    ),
    "name-of": "{what:select prompt=Name of the prompt|other=Name of the preset}",
    "answers-here": "{name} answers: another program on this computer, at {host}.",
    "answers-on-host": "{name} answers on {host}: your text goes there.",
    "nothing-saved-here": "Nothing in this chat is saved here.",
    "downloading": "{count:plural one=downloading|other=# downloads}, {share:.0%}",
    "downloads-stopped": "{count:n download|downloads} stopped",
    "good-for-computer": "Good for this computer:",
    "get-model": "Get {name}, {size:.1f} GB",
    "other-models": "Other models",
    "asking-for": "Asking for {name}…",
    "stopped": "stopped",
    "paused": "paused",
    "checking": "checking",
    "use-context-and-kv": "Use {context:,} tokens and {kv}",
    "use-context": "Use {context:,} tokens",
    "deleted-chat": "Deleted “{title}”",
    "deleted-chats": "Deleted {count:n chat|chats}",
    "archived": "Archived {count:n chat|chats}",
    "deleted-messages": "Deleted {count:n message|messages}",
    "unloaded": "{name} was unloaded to make room for {other}",
    "backed-up": "Backed up: {size:size} to {path}",
    "saved-to": "Saved to {path}",
    "signed-in": "Signed in to Hugging Face as {account}",
    "token-removed": "Token removed",
    "getting": "Getting {titles:list}",
    "installed": "{title} is installed",
    "deleted-model": "Deleted {name}: {size:size} freed",
    "drafts-faster": "{name} drafts: {gain}",
    "gain-with-draft": "{gain} with {draft}.",
    "change": "Change",
    "used-for-new-chats": "{name} is installed. New chats use it.",
    "use-in-this-chat": "Use it in this chat",
    "archived-chat": "archived",
}
