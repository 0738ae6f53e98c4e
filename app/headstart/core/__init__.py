"""Plain frozen values and protocols that all rooms share; imports nothing from other rooms."""
