"""The Hugging Face Hub: the only place of the room that talks to a network."""
