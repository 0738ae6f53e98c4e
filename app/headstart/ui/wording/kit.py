"""Texts of the widget kit."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "cancel": "Cancel",
    "something-went-wrong": "Something went wrong",
    "your-chats-kept-and-nothing": (
        "Your chats are kept, and nothing was sent. To report this, copy the details below, and "
        "look through them first: they may name files of yours."
    ),
    "details": "Details",
    "copied": "Copied",
    "copy-details": "Copy details",
    "close": "Close",
    "title-automatic": "{title}: automatic",
    "back-to-automatic": "Back to automatic: the advice of the model’s makers, else the default",
    "clear": "Clear",
    "own-setting": "Set for this chat",
    "plain-of-chat": "{plain}, of this chat",
    "close-esc": "Close (Esc)",
    "internal-error-name-error": "Internal error: {name}: {error}.",
    "your-chats-safe": "Your chats are safe.",
    "token-of-your-hugging-face": "Token of your Hugging Face account",
    "use-token": "Use token",
    "forget": "Forget it",
    "take-token-out-of-systems": "Take the token out of the system's keychain",
    "token-kept-another-one-hf": "A token is kept; another one (hf_…)",
    "token-of-your-account-hf": "Token of your account (hf_…)",
    "fill-in-prompt": "Fill in the prompt",
    "use": "Use",
    "enter-goes-on-shift-enter": "Enter goes on, {pressed:Shift+Enter} starts a new line.",
    "ok": "OK",
    "sentences": "{first}. {second}",
    "titled": "{title}: {text}",
    "comma": ", ",
    "quoted": "“{text}”",
    "no-keys": "None",
    "press-keys": "Press the keys…",
    "press-keys-for": "{title}: press the keys",
    "press-keys-how": (
        "Press it, then the keys. Esc keeps the old ones, Backspace takes them away."
    ),
    "yesterday": "yesterday {clock}",
    "today": "today {clock}",
    "day-and-clock": "{day}, {clock}",
}
