"""Texts of the composer."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "prompt-progress": "Reading: {share:.0%}",
    "prompt-read-once": "The documents and messages before yours are processed, once",
    "chip-of-source": "Searches {name}",
    "ask-every": "Ask every document…",
    "ask-every-tip": "Has each document read whole for one question",
    "source-tip": "{source} is searched for each question. Click to change that.",
    "folders-and-files": "Folders and files",
    "tools": "Tools",
    "chip-of-server": "{server} · {tools:n tool|tools} · {tokens:n token|tokens}",
    "chip-of-new-server": "{server} · starts with the next message",
    "chip-tip": "{server} lends its tools to this chat. Click to change that.",
    "tools-of-chat": "Tools that the model may call in this chat",
    "tools-on": "{count:n tool|tools}",
    "tools-cost": "They take {count:n token|tokens} of each prompt",
    "tools-about-cost": "They take about {count:n token|tokens} of each prompt",
    "gets-images-name-only-model": (
        "It gets the image’s name only. A model with a projector file sees images."
    ),
    "pages-pictures-have-no-text": "Pages that are pictures have no text that a model could read.",
    "model-cannot-see": "{blind} cannot see it",
    "name-open-or-choose-pages": "{name}: open it, or choose pages",
    "encoding-of-name-name2": "Encoding of {name}: {name2}",
    "file-does-not-say-how": (
        "The file does not say how its letters are encoded.\nIf they look wrong, choose another "
        "encoding."
    ),
    "encoding": "Encoding",
    "remove-name": "Remove {name}",
    "enter-sends-shift-enter-starts": "Enter sends · {pressed:Shift+Enter} starts a new line",
    "enter-sends-after-reply": "Enter sends it after this reply · {pressed:Ctrl+Enter} at once",
    "prompts-or-type-in-message": "Prompts; or type / in a message",
    "message": "Message",
    "attach": "Attach",
    "attach-files-to-message": "Attach files to the message",
    "prompts": "Prompts",
    "processed-while-you-typed": "Processed while you typed",
    "ask-anything": "Ask anything",
    "stop-writing": "Stop writing",
    "send-message": "Send the message",
    "stop-writing-esc": "Stop writing (Esc)",
    "send-enter": "Send (Enter)",
    "tokens-processed": "{tokens:n token|tokens} processed",
    "words-goes-to-host-when": "{words}: goes to {host} when you send it",
    "text-documents-and-images-txt": (
        "Text, documents and images (*.txt *.md *.pdf *.docx *.html *.htm *.csv *.tsv *.json *.xml "
        "*.py *.js *.ts *.c *.h *.cpp *.rs *.go *.java *.sh *.log *.png *.jpg *.jpeg *.webp *.gif "
        "*.bmp *.tif *.tiff);;All files (*)"
    ),
    "attach-files": "Attach files",
    "save-copy": "Save a copy",
    "as-many-as-fit": "As many as fit",
    "all": "All",
    "none": "None",
    "use-these": "Use these",
    "cancel": "Cancel",
    "no-text-only-picture": "no text, only a picture",
    "begins-with": "Begins with",
    "tokens": "Tokens",
    "waiting-message-number-words": "Waiting message {number}: {words}",
    "send-waiting-messages": "Send waiting messages",
    "next": "Next",
    "then-number": "Then, {number}",
    "edit-message": "Edit this message",
    "do-not-send-message": "Do not send this message",
    "used-of-size": "{used:tokens} of {size:tokens}",
    "too-many": "{used:tokens} of {size:tokens}: too many",
    "context-used-of-size-tokens": "Context: {used:,} of {size:,} tokens",
    "context": "Context",
    "prompts-and-commands": "Prompts and commands",
    "does-not-fit": (
        "This message is too long for the model: {tokens:,} tokens, and there is room for "
        "{limit:,}."
    ),
    "chat-does-not-fit": (
        "With this message, the chat is too long for the model: {tokens:,} tokens, and there is "
        "room for {limit:,}."
    ),
    "may-not-fit": (
        "This message is probably too long for the model: about {tokens:tokens} tokens, and there "
        "is room for {limit:tokens}."
    ),
    "choose-what-fits": "Choose what fits…",
    "leave-out-earlier": "Leave out earlier messages",
    "another-model": "Another model…",
    "choose-of": "Choose {unit:select page=pages|other=parts} of {name}",
    "show-with-words": "Show {unit:select page=pages|other=parts} with these words",
    "one-of-them": "{unit:select page=Page|other=Part}",
    "all-of": "{unit:select page=Pages|other=Parts} of {name}",
    "numbers-of": "Numbers of {unit:select page=pages|other=parts}",
    "chosen": "{chosen}, about {tokens:,} tokens",
    "chosen-and-room": "{chosen}, about {tokens:,} tokens; there is room for {room:,}",
    "shorten": (
        "{used:,} of {size:,} tokens of the context; shorten to {limit:,} to leave room for a reply"
    ),
    "used-of-context": (
        "{used:,} of {size:,} tokens of the context: used with this message, of the model's context"
    ),
    "chosen-pages": "{count:n page|pages}",
    "chosen-parts": "{count:n part|parts}",
}
