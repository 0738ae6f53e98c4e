"""Sentences about attached files."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "attachment-archive": (
        "{name} is an archive of files.",
        "Unpack it, and attach the files that matter.",
    ),
    "attachment-book": (
        "{name} is an e-book, which is not read here.",
        "Attach it as PDF, HTML or text.",
    ),
    "attachment-crashed": (
        "{name} could not be read: it ended the process that tried.",
        "It is damaged, or larger than it looks. Save it again with another program.",
    ),
    "attachment-damaged": (
        "{name} is damaged or incomplete.",
        "Save it again, and attach that.",
    ),
    "attachment-empty": (
        "{name} has nothing to read in it.",
        "",
    ),
    "attachment-encrypted": (
        "{name} is protected by a password.",
        "Save it without one, and attach that.",
    ),
    "attachment-folder": (
        "{name} is a folder.",
        "Attach the files in it that matter.",
    ),
    "attachment-gone": (
        "{name} cannot be read ({reason}).",
        "Check that it is still there, and that you may read it.",
    ),
    "attachment-model": (
        "{name} is a model.",
        "Open it with “Open model file…”.",
    ),
    "attachment-no-text": (
        "{name} is neither text nor an image.",
        "Text and code, PDF, Word (DOCX), HTML, CSV and images can be attached.",
    ),
    "attachment-old-office": (
        "{name} is in an office format that is not read here.",
        "Save it as DOCX, PDF or text, and attach that.",
    ),
    "attachment-open-document": (
        "{name} is an OpenDocument file, which is not read here.",
        "Save it as DOCX, PDF or text, and attach that.",
    ),
    "attachment-slides": (
        "{name} is a presentation, which is not read here.",
        "Save it as PDF, and attach that.",
    ),
    "attachment-slow": (
        "{name} took too long to read.",
        "Save a part of it as another file, and attach that.",
    ),
    "attachment-spreadsheet": (
        "{name} is a spreadsheet, which is not read here.",
        "Save the sheet that matters as CSV, and attach that.",
    ),
    "attachment-too-large": (
        "{name} is too large to attach.",
        "Up to 64 MB can be read; save a part of it as another file.",
    ),
    "attachment-too-long": (
        "{name} has more text than any model can read.",
        "Save a part of it as another file, and attach that.",
    ),
    "images-not-seen": (
        "{name} does not see images: it gets their names only.",
        "",
    ),
    "images-not-seen-because": (
        "{model} gets the names of images only: {problem:message}",
        "{problem:remedy}",
    ),
    "image-needs-batch": (
        "The model reads an image of {tokens} tokens in one go.",
        "Choose a batch size of at least {tokens} under Settings, Expert.",
    ),
    "image-not-readable": (
        "An image cannot be read: it is damaged, or in a format that is not known.",
        "Edit the message, and attach the image again as PNG or JPEG.",
    ),
    "images-gone": (
        "{count:n image|images} of this chat cannot be read any more: the model gets the name.",
        "",
    ),
    "images-refused": (
        "{name} did not take the images: the reply was written without them.",
        "",
    ),
}
