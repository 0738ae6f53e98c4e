"""Opening a database in any state, and salvaging a damaged one."""
