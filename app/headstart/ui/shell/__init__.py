"""The main window: header, pages, banner and commands, and the start of Qt around it."""
