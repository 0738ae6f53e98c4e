"""What one chat decides for itself, beside the transcript."""
