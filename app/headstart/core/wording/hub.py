"""Problems with the hub, downloads and installed models: what happened, and what to do."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "download-no-network": (
        "There is no connection to the hub.",
        "The download goes on when the network is back.",
    ),
    "hub-no-network": (
        "There is no connection to Hugging Face.",
        "Try again when the network is back.",
    ),
    "download-cut": (
        "The connection was cut.",
        "It goes on where it was.",
    ),
    "download-stalled": (
        "The connection stalled.",
        "It is made again.",
    ),
    "download-other-size": (
        "{name} came with another size than the hub says.",
        "If a network wants you to log in first, do that in a browser; it is tried again.",
    ),
    "download-elsewhere": (
        "Another program is downloading the same file.",
        "When it is done, the file is used from there.",
    ),
    "download-disk-full": (
        "The disk is nearly full: {needed:size} more is needed, and {free:size} is free.",
        "Free some space, then resume. The part that has arrived is kept.",
    ),
    "download-disk": (
        "The disk reported: {reason}.",
        (
            "Check the disk and the folder's permissions, then resume. The part that has arrived "
            "is kept."
        ),
    ),
    "download-differs": (
        "{name} was fetched whole, and differs from the file that the hub describes.",
        "The file on the server may be damaged: try again later, or choose another one.",
    ),
    "download-internal": (
        "Internal error: {error}.",
        "Resume it, or start with --debug and report the log.",
    ),
    "repository-name": (
        "{name} is not the name of a repository.",
        "Names look like owner/name.",
    ),
    "repository-path": (
        "The repository has a file whose name leads elsewhere: {name}.",
        "It is not downloaded.",
    ),
    "hub-busy": (
        "The hub is asked too often at the moment.",
        "It is asked again in a while; with a token of your own there is more room.",
    ),
    "hub-trouble": (
        "The hub reports an error (status {status}).",
        "Downloads try again in a while; search again later.",
    ),
    "hub-no-answer": (
        "The hub's answer could not be read ({reason}).",
        "Check proxies and certificates, or try again later.",
    ),
    "hub-answer-too-long": (
        "The hub's answer is longer than any list of models.",
        "Check the address of the hub (HF_ENDPOINT), or try again later.",
    ),
    "hub-no-sense": (
        "The hub's answer about {name} makes no sense.",
        "Check the address of the hub (HF_ENDPOINT), or try again later.",
    ),
    "hub-offline-mode": (
        "The network is switched off for the hub (HF_HUB_OFFLINE).",
        "Start Headstart without this variable to search and download.",
    ),
    "hub-gated": (
        "{repo} is gated: its owners want you to accept their licence first.",
        "Open its page, accept the licence there, then enter a token of your account here.",
    ),
    "hub-needs-token": (
        "{repo} wants to know who asks.",
        "Enter a token of your Hugging Face account.",
    ),
    "hub-token-unknown": (
        "Hugging Face does not know this token.",
        "Copy it once more from your account's settings, or make another one there.",
    ),
    "hub-forbidden": (
        "Your token may not read {repo}.",
        "Check on its page that your account has access, and that the token may read it.",
    ),
    "hub-repository-gone": (
        "There is no repository {repo}, or it is private.",
        "Check the name; for a private one enter a token of your account.",
    ),
    "hub-file-gone": (
        "{repo} has no file {name} any more.",
        "Search for the model again: its owner may have renamed it.",
    ),
    "hub-refused": (
        "The hub refused to answer about {repo} (status {status}).",
        "Try again later.",
    ),
    "file-over-http": (
        "{name} is larger than {limit:size}: the hub does not serve that over plain HTTP.",
        "Choose a variant in several files, or download it with Hugging Face's own tool.",
    ),
    "recommended-gone": (
        "The file of {name} that is recommended is not in {repo} any more.",
        "Choose another file of it.",
    ),
    "starter-stays": (
        "{name} came with Headstart.",
        "It stays as long as Headstart is installed.",
    ),
    "remove-with-ollama": (
        "{name} belongs to Ollama, which shares its files between models.",
        "Remove it with “ollama rm”.",
    ),
    "not-removed": (
        "{name} could not be removed: {reason}.",
        "Check the folder's permissions, and whether another program uses it.",
    ),
    "recommended-balance": ("Recommended: small and nearly as good as the original", ""),
    "recommended-small": ("Recommended: small models keep more of their quality like this", ""),
    "recommended-largest": ("Recommended: the best that fits this computer", ""),
}
