"""The main window: header, panels, banner, and what connects them."""
