"""Windows and documents for the import and export of conversations."""
