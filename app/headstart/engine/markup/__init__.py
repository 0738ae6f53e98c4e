"""Models' markup: the marks that separate reasoning, calls and text, and the tokens that are not
words."""
