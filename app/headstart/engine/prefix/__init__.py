"""Prefixes that are never read twice: keys, records, plans, bytes, policy and explanations."""
