"""Prefixes that are never prefilled twice: keys, records, plans, bytes, policy and explanations."""
