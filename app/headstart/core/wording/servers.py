"""Problems with servers: what happened, and what to do."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "answer-too-long": (
        "{host} sends more than a reply can have.",
        "The text so far is kept. If this happens always, no model answers there.",
    ),
    "answer-unreadable": (
        "{host} sent something that is not part of a chat.",
        (
            "The text so far is kept; “Continue” tries again. If this happens always, it is not "
            "a server with the OpenAI chat API."
        ),
    ),
    "cannot-be-reached": (
        "{host} cannot be reached.",
        "Is the server running, and the address right?",
    ),
    "certificate-not-verified": (
        "The certificate of {host} cannot be verified: it may be somebody else.",
        (
            "If it is your own server, choose the certificate that signed its own under"
            " Settings, Servers."
        ),
    ),
    "certificate-unusable": (
        "The certificate file {certificate} of “{name}” cannot be used.",
        "Choose another one under Settings, Servers.",
    ),
    "connection-ended": (
        "{host} ended the connection in the middle of the reply.",
        "The text so far is kept; “Continue” goes on from there.",
    ),
    "connection-failed": (
        "The connection to {host} failed: {reason}.",
        "Try again.",
    ),
    "host-unknown": (
        "There is no computer with the name {host}, or no network.",
        "Check the network and the address under Settings, Servers.",
    ),
    "key-refused": (
        "{host} does not accept the key{said}.",
        "Enter the right one under Settings, Servers.",
    ),
    "no-answer": (
        "{host} does not answer.",
        "Is it switched on, and in this network? Try again.",
    ),
    "no-encrypted-connection": (
        "An encrypted connection to {host} could not be made ({reason}).",
        "It may speak only http, or want a certificate from you; ask the person who runs it.",
    ),
    "not-a-chat-server": (
        "{host} answers, but not as a server with the OpenAI chat API{detail}.",
        "Check the address under Settings, Servers; it usually ends with /v1.",
    ),
    "not-allowed": (
        "{host} does not allow this{said}.",
        "Ask the person who runs the server.",
    ),
    "proxy-refuses": (
        "The proxy of this computer does not let {host} be reached ({reason}).",
        "Check the proxy settings of the system.",
    ),
    "proxy-unusable": (
        "The proxy that this computer's settings name cannot be used ({error}).",
        "Change the proxy settings of the system.",
    ),
    "reply-ended-with-error": (
        "{host} ended the reply with an error: {reason}.",
        "The text so far is kept; “Continue” tries again.",
    ),
    "request-refused": (
        "{host} refuses this request (status {status}){said}.",
        "Shorten the chat, or change the chat's settings.",
    ),
    "sending-not-allowed": (
        "Sending text to {host} was not allowed.",
        "Choose the model again and allow it, or choose another one.",
    ),
    "server-busy": (
        "{host} is busy, or the limit of this key is reached{said}.",
        "Try again later.",
    ),
    "server-failed": (
        "{host} failed (status {status}){said}.",
        "Try again; if it fails again, its log says why.",
    ),
    "server-hangs-up": (
        "{host} hangs up without an answer.",
        "It may have failed (its log says why), or be no server with the OpenAI chat API.",
    ),
    "server-list-failed": (
        "cannot be asked: {kind}",
        "",
    ),
    "server-was-changed": (
        "was changed",
        "",
    ),
    "server-offers-nothing": (
        "offers no model",
        "",
    ),
    "server-has-no-such-model": (
        "{host} has no model {model}{said}.",
        "Choose another one in the model menu.",
    ),
    "server-not-ready": (
        "{host} is not ready{said}.",
        "Try again in a moment.",
    ),
    "server-silent": (
        "{host} said nothing for {seconds:n second|seconds}.",
        (
            "The text so far is kept; “Continue” tries again. A slow server may need a longer "
            "timeout (under Settings, Servers)."
        ),
    ),
    "server-model-not-served": (
        "{name} is a server’s model: programs get models of this computer only.",
        "Choose one of them under Settings, Local server.",
    ),
    "model-not-offered": (
        "{name} is installed, but programs cannot choose their model here.",
        "“Load models by name” under Settings, Local server permits it.",
    ),
    "model-makes-no-vectors": (
        "{name} is a chat model: it makes no vectors.",
        "Name an embedding model.",
    ),
    "server-closed": (
        "The server for other programs is switched off.",
        "Switch it on first.",
    ),
    "server-not-open": (
        "The server for other programs cannot open on port {port}: {reason}.",
        "Another program may use this port: choose another one under Settings, Local server.",
    ),
    "server-not-tried": (
        "The server did not answer the test: {reason}",
        "",
    ),
}
