"""Actions on models: find them on the hub, download them, manage the installed ones."""
