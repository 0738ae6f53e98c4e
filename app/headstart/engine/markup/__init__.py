"""Markup of models: how replies tell reasoning from text, and which tokens are not words."""
