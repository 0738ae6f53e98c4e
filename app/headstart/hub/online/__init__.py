"""The Hugging Face Hub: the only part of the room that uses a network."""
