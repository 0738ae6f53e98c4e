"""Facts of one installed model, and the actions on it."""

from __future__ import annotations

import time

from PySide6.QtCore import QSignalBlocker, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from headstart.chat.library.draft_offers import DraftOffer
from headstart.core.models.described import ModelCard
from headstart.core.models.installed import InstalledModel
from headstart.core.text.shown import size_text
from headstart.core.wording import age_text
from headstart.ui.kit.accessible import Spoken, be
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.flow import in_lines
from headstart.ui.kit.joining import titled
from headstart.ui.kit.measures import keep_height
from headstart.ui.models.draft_rows import DraftRows
from headstart.ui.models.words import source_words
from headstart.ui.wording import say

NOTHING = "models.select-model-to-see-details"
_CACHES = {
    "full": "models.keys-and-values-of-whole",
    "window": "models.keys-and-values-some-of",
    "recurrent": "models.state-of-fixed-size",
    "hybrid": "models.keys-and-values-and-state",
}


class InstalledModelView(QFrame):
    use_requested = Signal(InstalledModel)  # in the open chat
    renamed = Signal(InstalledModel, str)
    noted = Signal(InstalledModel, str)
    options_requested = Signal(InstalledModel)
    remove_requested = Signal(InstalledModel)
    unlist_requested = Signal(InstalledModel)
    load_requested = Signal(InstalledModel)
    unload_requested = Signal(InstalledModel)
    kept = Signal(InstalledModel, bool)
    drafts_requested = Signal(InstalledModel)
    draft_chosen = Signal(DraftOffer)  # get it

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._model: InstalledModel | None = None
        self._loaded = False
        # content and loaded fraction of the model being loaded
        self._loading = ("", 0.0)
        self.title = QLineEdit(self)
        self.title.setObjectName("cardTitle")
        self.title.setAccessibleName(say("models.name-of-model"))
        self.title.setToolTip(say("models.name-here"))
        self.title.editingFinished.connect(self._on_renamed)
        self.problem = QLabel(say(NOTHING), self)
        self.problem.setObjectName("quiet")
        self.problem.setWordWrap(True)
        self._facts = QWidget(self)
        self._form = QFormLayout(self._facts)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setHorizontalSpacing(16)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.notes = QPlainTextEdit(self)
        self.notes.setPlaceholderText(say("models.notes-for-example-strengths"))
        self.notes.setAccessibleName(say("models.notes-about-model"))
        keep_height(self.notes, 72)
        self.notes.setTabChangesFocus(True)
        self.use = QPushButton(say("models.use-in-chat"), self)
        self.use.setObjectName("primary")
        self.use.clicked.connect(lambda: self.use_requested.emit(self._model))
        self.load = QPushButton(say("models.load"), self)
        self.load.setToolTip(say("models.load-now"))
        self.load.clicked.connect(self._on_load)
        self.keep = QCheckBox(say("models.keep-loaded"), self)
        self.keep.setToolTip(say("models.never-unload-when-idle"))
        self.keep.toggled.connect(self._on_keep)
        self.options = QPushButton(say("models.default-settings"), self)
        self.options.clicked.connect(lambda: self.options_requested.emit(self._model))
        self.folder = QPushButton(say("models.show-in-folder"), self)
        self.folder.clicked.connect(self._open_folder)
        self.remove = QPushButton(say("models.delete"), self)
        self.remove.clicked.connect(self._on_remove)
        self.drafts = DraftRows(self, say("models.get"))
        self.drafts.wanted.connect(lambda: self.drafts_requested.emit(self._model))
        self.drafts.chosen.connect(lambda _variant, offer: self.draft_chosen.emit(offer))
        self._build()
        self._show_parts(False)

    def _build(self) -> None:
        body = QWidget()
        body.setObjectName("plain")
        column = QVBoxLayout(body)
        column.setContentsMargins(18, 16, 18, 16)
        column.setSpacing(10)
        for widget in (self.title, self.problem, self._facts, self.notes):
            column.addWidget(widget)
        column.addWidget(in_lines(body, self.use, self.load, self.keep))
        column.addWidget(in_lines(body, self.options, self.folder, self.remove))
        column.addWidget(self.drafts)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setAccessibleName(say("models.about-model"))
        be(area, Spoken.Grouping)
        area.setObjectName("plain")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidgetResizable(True)
        area.setWidget(body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.addWidget(area)

    def show_model(self, model: InstalledModel) -> None:
        self.flush()
        same = self._model is not None and self._model.content == model.content
        self._model = model
        if not (same and self.title.isModified()):
            # the user may be typing another name
            self.title.setText(model.ref.name)
        self.problem.setText(model.why_not.text if model.why_not is not None else "")
        if not same:
            self.notes.setPlainText(model.notes)
            self._set_facts(_facts(model))
            self.drafts.clear()
        self.remove.setText(
            say("models.remove-from-list") if model.source == "opened" else say("models.delete")
        )
        self.remove.setEnabled(model.source != "starter")
        self.use.setEnabled(model.why_not is None)
        self._show_load()
        self._show_parts(True)

    def show_nothing(self) -> None:
        """Show that no model is selected: the shown one is gone."""
        self._model = None
        self.problem.setText(say(NOTHING))
        self._show_parts(False)

    def show_card(self, model: InstalledModel, card: ModelCard, chats: int) -> None:
        """Add the facts from the model's whole file, and the number of its chats."""
        if self._model is not None and self._model.content == model.content:
            used = (
                say("models.chats"),
                say("models.chats-use-it", chats=chats),
            )
            self._set_facts([*_facts(model), *_further(card), *([used] if chats else [])])

    def show_drafts(self, model: InstalledModel, offers: list[DraftOffer]) -> None:
        if self._model is not None and self._model.content == model.content:
            self.drafts.set_offers(None, offers)

    def set_loaded(self, loaded: bool, kept: bool) -> None:
        """Show if the model is loaded, and if it is kept loaded."""
        self._loaded = loaded
        self._show_load()
        with QSignalBlocker(self.keep):
            self.keep.setChecked(kept)
        self.keep.setVisible(loaded)

    def set_loading(self, content: str, fraction: float) -> None:
        """Show the progress of loading the model of this content; "" for none."""
        self._loading = (content, fraction)
        self._show_load()

    def _show_load(self) -> None:
        content, fraction = self._loading
        under_way = self._model is not None and self._model.content == content
        if under_way:
            self.load.setText(say("models.loading-fraction", fraction=fraction))
        else:
            self.load.setText(say("models.unload") if self._loaded else say("models.load"))
        self.load.setEnabled(
            self._model is not None and self._model.why_not is None and not under_way
        )

    def flush(self) -> None:
        """Save the notes about the shown model."""
        if self._model is not None and self.notes.toPlainText() != self._model.notes:
            self.noted.emit(self._model, self.notes.toPlainText())

    def _set_facts(self, facts: list[tuple[str, str]]) -> None:
        while self._form.rowCount():
            self._form.removeRow(0)
        for title, text in facts:
            label = QLabel(title, self._facts)
            label.setObjectName("quiet")
            value = ElidedLabel(text, self._facts, 80)
            value.setToolTip(text)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._form.addRow(label, value)

    def _show_parts(self, shown: bool) -> None:
        self.problem.setVisible(bool(self.problem.text()))
        widgets = (
            self.title, self._facts, self.notes, self.use, self.load, self.options, self.folder,
            self.remove,
        )  # fmt: skip
        for widget in widgets:
            widget.setVisible(shown)
        self.keep.setVisible(shown and self._loaded)
        gguf = self._model is not None and self._model.ref.format == "gguf"
        self.drafts.setVisible(shown and gguf and self.use.isEnabled())

    def _on_renamed(self) -> None:
        self.title.setModified(False)
        if self._model is not None and self.title.text() != self._model.ref.name:
            self.renamed.emit(self._model, self.title.text())

    def _on_load(self) -> None:
        (self.unload_requested if self._loaded else self.load_requested).emit(self._model)

    def _on_keep(self, kept: bool) -> None:
        if self._model is not None:
            self.kept.emit(self._model, kept)

    def _on_remove(self) -> None:
        if self._model is not None and self._model.source == "opened":
            self.unlist_requested.emit(self._model)
        else:
            self.remove_requested.emit(self._model)

    def _open_folder(self) -> None:
        if self._model is not None:
            path = self._model.ref.path
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))


def _facts(model: InstalledModel) -> list[tuple[str, str]]:
    about = model.about
    used = age_text(time.time() - model.last_used) if model.last_used else say("models.not-yet")
    facts = [
        (say("models.where"), titled(source_words(model.source), str(model.ref.path))),
        (say("models.size"), size_text(model.ref.size)),
        (say("models.format"), say("models.mlx-folder") if model.ref.format == "mlx" else "GGUF"),
        (say("models.architecture"), about.architecture),
        (say("models.parameters"), about.parameters),
        (say("models.quantization"), about.quantization),
        (
            say("models.context"),
            say("models.context-tokens", context=about.context) if about.context else "",
        ),
        (say("models.licence"), about.licence),
        (say("models.last-used"), used),
    ]
    facts += [(say("models.also-at"), copy) for copy in model.copies]
    return [fact for fact in facts if fact[1]]


def _further(card: ModelCard) -> list[tuple[str, str]]:
    per_token = card.kv_bytes_per_token
    vocabulary = say(
        "models.vocabulary-size-tokens-kind",
        vocabulary_size=card.vocabulary_size,
        kind=card.vocabulary.kind,
    )
    return [
        (say("models.vocabulary"), vocabulary),
        (say("models.cache"), say(_CACHES[card.cache])),
        (say("models.cache-per-token"), size_text(per_token) if per_token else ""),
    ]
