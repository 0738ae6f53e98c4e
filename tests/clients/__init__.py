"""Programs that nobody here wrote, against the server: `make peers-clients`."""
