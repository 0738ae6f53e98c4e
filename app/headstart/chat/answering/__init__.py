"""Answering: the models on this computer, the servers, and the work both need around a reply."""
