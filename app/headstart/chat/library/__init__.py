"""Verbs about models: finding them on the hub, fetching them, and what lies here."""
