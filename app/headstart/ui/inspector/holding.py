"""Options in force for the chat of the inspector, and the chat's own overrides."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct, field

from headstart.core.models.ref import AnyModel
from headstart.core.settings.inheritance import NO_ADVICE, Effective, effective
from headstart.core.settings.schema import ChatOptions, Overrides, Preset, SamplingChoice, Settings


class Holding(Struct):
    settings: Settings
    options: ChatOptions = field(default_factory=ChatOptions)
    # options of the chat's folders, the innermost first
    above: Sequence[Overrides] = ()
    model: AnyModel | None = None
    # the sampling advised by the model's makers
    advice: SamplingChoice = NO_ADVICE

    @property
    def effective(self) -> Effective:
        return effective(self.settings, self.options, self.model_key, self.advice, self.above)

    @property
    def model_key(self) -> str:
        return "" if self.model is None else self.model.key

    @property
    def sampling(self) -> SamplingChoice:
        """The chat's own sampling."""
        return self.options.sampling or SamplingChoice()

    @property
    def preset(self) -> str:
        """The name of the preset with the chat's overrides, "" for none."""
        own = decisions(self.options)
        alike = (one.name for one in self.settings.presets if decisions(one) == own)
        return next(alike, "")

    def with_preset(self, name: str) -> tuple[Preset, ...]:
        """All presets, with the chat's overrides saved under this name."""
        new = msgspec.structs.replace(Preset(name=name), **decisions(self.options))
        others = [one for one in self.settings.presets if one.name != name]
        return tuple(sorted([*others, new], key=lambda one: one.name.casefold()))


def decisions(options: Overrides) -> dict[str, object]:
    """Overrides that presets and chats share, by name."""
    own = msgspec.structs.asdict(options)
    return {name: own[name] for name in Overrides.__struct_fields__}
