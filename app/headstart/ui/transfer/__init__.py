"""Windows and documents for conversations that go out and come in."""
