"""Texts on the progress of a reply."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "reading-documents": "{done} of {total:n document|documents} read · {name}",
    "reading-document-share": ("{done} of {total:n document|documents} read · {name}: {share:.0%}"),
    "documents-are-read": "All documents read",
    "starting-tools": "Starting tools: {names:list}",
    "waiting-for-you": "Waiting for you",
    "writing": "Writing…",
    "waiting-for-another-chat": "Waiting for another chat…",
    "missing": "is missing",
    "waiting-for-reply-in-another": "Waiting for the reply in another chat…",
    "looking-at-image": "Looking at an image…",
    "image-number": "image {number}",
    "draft-name": "the draft {name}",
    "loading-what-fraction": "Loading {what}… {fraction:.0%}",
    "processing-done-of-total-tokens": "Processing {done:,} of {total:,} tokens…",
    "processing": "Processing…",
    "asking": "Asking…",
    "writing-speed": "Writing… {speed:.0f} tok/s",
}
