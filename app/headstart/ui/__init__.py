"""The window: the only package that uses PySide6 and qasync. Everything on the main thread."""
