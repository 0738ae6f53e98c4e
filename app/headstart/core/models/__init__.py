"""Models as values: what files say, the memory that they take, and which draft suits one. Pure."""
