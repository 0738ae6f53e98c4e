"""Writers, one module for each kind of exported file."""
