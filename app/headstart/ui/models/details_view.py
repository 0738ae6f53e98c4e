"""One repository: its facts, its model's variants with the memory of each on this computer, and
its drafts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from headstart.chat.library.draft_offers import DraftOffer
from headstart.core.hub.catalog import Companion, CompanionKind, Details, Fit, Variant
from headstart.core.hub.catalog_filter import best, draft_variant, named, recommended
from headstart.core.models.draft_choice import Works
from headstart.core.models.recommended import Recommended
from headstart.core.text.shown import count_text, size_text
from headstart.core.told import told
from headstart.ui.kit import icons
from headstart.ui.kit.accessible import Spoken, be
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.focus import in_reading_order
from headstart.ui.kit.token_row import TokenRow
from headstart.ui.models.draft_rows import DraftRows
from headstart.ui.models.results import parameters_text
from headstart.ui.models.variant_rows import VariantRows
from headstart.ui.wording import say

NOTHING = "models.choose-a-model"
_COMPANIONS = {
    CompanionKind.PROJECTOR: "models.include-image-support",
    CompanionKind.HEAD: "models.include-draft-head",
}
_HEADS = "models.about-heads"


class DetailsView(QFrame):
    get_requested = Signal(
        object, object, tuple, object
    )  # Details, Variant, Companions, DraftOffer
    card_requested = Signal(Details)
    drafts_requested = Signal(Details, Variant)
    retried = Signal(str)  # a repository that could not be loaded
    page_requested = Signal(str)  # a repository: show it in a browser

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.details: Details | None = None
        self._repo = ""
        self.title = ElidedLabel("", self, name="cardTitle")
        self.about = QLabel(self)
        self.about.setObjectName("quiet")
        self.about.setWordWrap(True)
        self.card_button = QPushButton(icons.icon("external-link"), say("models.model-card"), self)
        self.card_button.clicked.connect(self._on_card)
        self.problem = QLabel(say(NOTHING), self)
        self.problem.setObjectName("quiet")
        self.problem.setWordWrap(True)
        self.retry = QPushButton(say("models.try-again"), self)
        self.retry.clicked.connect(lambda: self.retried.emit(self._repo))
        self.retry.hide()
        self.variants = VariantRows(self)
        self.variants.chosen.connect(self._on_get)
        self.reason = QLabel(self)
        self.reason.setObjectName("quiet")
        self.reason.setWordWrap(True)
        self.drafts = DraftRows(self)
        self.drafts.wanted.connect(self._on_drafts)
        self.drafts.chosen.connect(self._on_get_both)
        self._companions: list[tuple[QCheckBox, Companion]] = []
        self._build()
        self._show_parts(False)

    def _build(self) -> None:
        body = QWidget()
        body.setObjectName("plain")
        column = QVBoxLayout(body)
        column.setContentsMargins(18, 16, 18, 16)
        column.setSpacing(10)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.card_button)
        column.addLayout(head)
        column.addWidget(self.about)
        column.addWidget(self.problem)
        column.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignLeft)
        self._access = self._make_access()
        column.addWidget(self._access)
        column.addWidget(self.variants)
        column.addWidget(self.reason)
        self._extra = QVBoxLayout()
        column.addLayout(self._extra)
        column.addWidget(self.drafts)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setAccessibleName(say("models.about-model"))
        be(area, Spoken.Grouping)
        area.setObjectName("plain")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.addWidget(area)

    def _make_access(self) -> QWidget:
        """Make the row for repositories that require an account."""
        row = QWidget(self)
        page = self._page = QPushButton(say("models.open-page"), row)
        page.clicked.connect(self._open_page)
        self.token = TokenRow(row)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(page)
        layout.addWidget(self.token, 1)
        row.hide()
        return row

    # --- display -------------------------------------------------------------------------

    def begin(self, repo: str, known: Recommended | None = None) -> None:
        """Show that a repository is loading; `known`: its entry among the recommended models."""
        self.details, self._repo = None, repo
        self.title.set_full_text(repo.rpartition("/")[2] if known is None else known.name)
        self.about.setText(repo.rpartition("/")[0] if known is None else _known_facts(known))
        self.retry.hide()
        self.problem.setText(say("models.asking-hugging-face"))
        self._show_parts(False)

    def fail(self, problem: str, wants_token: bool) -> None:
        """Show a problem; `wants_token`: True if a token of the user's account may help."""
        self.problem.setText(problem)
        self._access.setVisible(wants_token)
        self.retry.setVisible(not wants_token)

    def show_details(self, details: Details) -> None:
        self.details, self._repo = details, details.repository.id
        self.retry.hide()
        repository = details.repository
        self.title.set_full_text(repository.name)
        self.title.setToolTip(repository.id)
        # no line break inside a fact
        facts = [fact.replace(" ", "\u00a0") for fact in _facts(details)]
        self.about.setText(" · ".join(facts))
        if details.heads:
            self.problem.setText(say(_HEADS))
        elif details.variants:
            self.problem.setText("")
        else:
            self.problem.setText(say("models.has-no-files-headstart-can"))
        self._show_parts(bool(details.variants))
        self.card_button.show()
        self._access.setVisible(repository.gated)
        meant = named(details.variants, details.named) if details.named else None
        self.variants.set_variants(details.variants, meant)
        self.drafts.clear()
        gguf = any(one.format == "gguf" for one in details.variants)
        self.drafts.setVisible(gguf and not details.heads)
        self._set_companions(details.companions)
        self.reason.hide()
        self._order()

    def set_fits(self, fits: Mapping[str, Fit]) -> None:
        if self.details is None:
            return
        found = self.details.variants
        advised = recommended(found, fits, self.details.repository.parameters)
        chosen = advised[0] if advised and fits else None
        if self.details.heads:
            # each round reads all of a head's weights, and finer ones draft no better
            chosen, advised = draft_variant(found), None
        self.variants.set_fits(fits, chosen)
        self.variants.set_asked()
        if advised is not None and fits:
            self.reason.setText(f"{advised[0].title}: {told(advised[1]).message}.")
            self.reason.show()

    def set_drafts(self, variant: Variant, offers: Sequence[DraftOffer]) -> None:
        # without the drafts that do not work with it
        self.drafts.set_offers(variant, [one for one in offers if one.works is not Works.NO])
        self._order()

    def _order(self) -> None:
        """Set the tab order to the reading order, not the order of creation."""
        boxes = [box for box, _ in self._companions]
        token = self.token
        in_reading_order(
            self.card_button, self._page, token.field, token.use, token.forget,
            *self.variants.buttons, *boxes, self.drafts.button, *self.drafts.buttons,
        )  # fmt: skip

    def _set_companions(self, found: Sequence[Companion]) -> None:
        for box, _ in self._companions:
            box.deleteLater()
        self._companions = []
        for kind in CompanionKind:
            chosen = best(kind, found)
            if chosen is not None:
                name = chosen.file.path.rpartition("/")[2]
                size = size_text(chosen.file.size)
                box = QCheckBox(f"{say(_COMPANIONS[kind])} ({size})", self)
                box.setToolTip(name)
                self._extra.addWidget(box)
                self._companions.append((box, chosen))

    def _show_parts(self, shown: bool) -> None:
        self.problem.setVisible(bool(self.problem.text()))
        for part in (self.variants, self.drafts):
            part.setVisible(shown)
        self.title.setVisible(bool(self._repo))
        self.about.setVisible(bool(self._repo))
        self.card_button.setVisible(shown)
        self._access.hide()
        self.reason.hide()
        if not shown:
            self._set_companions(())

    # --- actions -------------------------------------------------------------------------

    def _on_get(self, variant: Variant) -> None:
        self.get_requested.emit(self.details, variant, self._wanted_companions(variant), None)

    def _on_get_both(self, variant: Variant, offer: DraftOffer) -> None:
        self.get_requested.emit(self.details, variant, self._wanted_companions(variant), offer)

    def _wanted_companions(self, variant: Variant) -> tuple[Companion, ...]:
        if variant.format != "gguf":
            return ()
        return tuple(companion for box, companion in self._companions if box.isChecked())

    def _on_drafts(self) -> None:
        variant = self.variants.current
        if self.details is not None and variant is not None:
            self.drafts_requested.emit(self.details, variant)

    def _on_card(self) -> None:
        if self.details is not None:
            self.card_requested.emit(self.details)

    def _open_page(self) -> None:
        self.page_requested.emit(self._repo)


def _known_facts(known: Recommended) -> str:
    """Facts that need no network: maker, parameters, size, context, licence."""
    facts = [
        known.repo.partition("/")[0],
        say("models.parameters-parameters", parameters=parameters_text(known.parameters)),
        say("models.size-gb-gb", size_gb=known.size_gb),
        say("models.context-context", context=known.context) if known.context else "",
        say("models.licence-licence", licence=known.licence),
    ]
    return " · ".join(fact.replace(" ", "\u00a0") for fact in facts if fact)


def _facts(details: Details) -> list[str]:
    repository = details.repository
    facts = [repository.owner]
    if repository.parameters:
        facts.append(say("models.parameters-parameters-2", parameters=repository.parameters))
    if repository.context:
        facts.append(say("models.context-context", context=repository.context))
    if repository.licence:
        facts.append(say("models.licence-licence", licence=repository.licence))
    if repository.gated:
        facts.append(say("models.gated-licence-has-to-accepted"))
    if repository.updated:
        facts.append(say("models.updated-time", time=time.time() - repository.updated))
    facts.append(f"♥ {count_text(repository.likes)} · ↓ {count_text(repository.downloads)}")
    return facts
