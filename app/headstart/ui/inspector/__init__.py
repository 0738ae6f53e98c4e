"""Settings of one chat, beside the transcript."""
