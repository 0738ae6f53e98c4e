"""Plain frozen values and protocols that every room shares; imports nothing of ours."""
