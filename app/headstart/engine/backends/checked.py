"""The results of checking a model's file before it is loaded."""

from __future__ import annotations

from msgspec import Struct

from headstart.core.models.abilities import LACKS_NOTHING, Lacking
from headstart.core.models.tuning import Tuning
from headstart.core.settings.schema import EngineSettings


class Checked(Struct, frozen=True):
    """Missing abilities under the settings, and the fastest settings on graphics cards; None: no
    cards, or nothing was measured."""

    lacking: Lacking = LACKS_NOTHING
    tuning: Tuning | None = None

    def applied(self, engine: EngineSettings) -> EngineSettings:
        """The settings to run the model with."""
        return engine if self.tuning is None else self.tuning.applied(engine)
