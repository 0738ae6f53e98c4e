"""Downloads: files of repositories into the shared cache, resumed, verified, one after another."""
