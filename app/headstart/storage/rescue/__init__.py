"""Opening a database in whatever state it is, and saving what is left of a damaged one."""
