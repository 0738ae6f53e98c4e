"""The only modules that import a model library; each implements `engine.decoder.Decoder`."""
