"""Images in prompts: a mark in the text, and tokens that take its place. Engine thread."""

from __future__ import annotations

from collections.abc import Sequence

from headstart.core.requests import PromptImage, PromptMessage
from headstart.core.rgb import DecodeImage, Rgb
from headstart.engine.decoder import Decoder
from headstart.engine.foreign import IMAGE


class PromptImages:
    """Images of the present request, as a model takes them."""

    def __init__(self, decoder: Decoder, decode_image: DecodeImage) -> None:
        self._decoder = decoder
        self._decode_image = decode_image
        # by digest
        self._shown: dict[str, PromptImage] = {}

    def show(self, messages: Sequence[PromptMessage]) -> None:
        """Make the images of `messages` available to the next prompts."""
        self._shown = {image.digest: image for one in messages for image in one.images}

    def count(self, image: PromptImage) -> int:
        """Number of tokens of an image passed to `show`; 0 where the model cannot see it."""
        return len(self.tokens(image.digest))

    def marks(self, message: PromptMessage) -> str:
        """The marks of a message's images, before its text, where the model can prefill them."""
        seen = [image.digest for image in message.images if self.tokens(image.digest)]
        return "".join(f"{IMAGE}{digest}{IMAGE}" for digest in seen)

    def tokens(self, digest: str) -> Sequence[int]:
        """The tokens of an image; none where the model cannot see it."""

        def read() -> Rgb | None:
            image = self._shown.get(digest)
            return None if image is None else self._decode_image(image.data)

        return self._decoder.image(digest, read) or ()
