"""Answering: the models on this computer, or servers; and what both need around a reply."""
