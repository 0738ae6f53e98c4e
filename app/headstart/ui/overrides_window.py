"""Options that chats inherit from a model or a folder: a step between the app's settings and a
chat's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from headstart.core.knowledge.values import source_name
from headstart.core.models.heads import AUTOMATIC
from headstart.core.settings.fields import describe
from headstart.core.settings.schema import (
    ChatOptions,
    Overrides,
    Sampling,
    SamplingChoice,
    Settings,
    Speculation,
    changed,
)
from headstart.ui.document_rows import DocumentRows
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.fields import (
    ResetButton,
    give_room,
    keep_wheel_away,
    number_box,
)
from headstart.ui.kit.focus import in_reading_order
from headstart.ui.kit.measures import keep_height
from headstart.ui.kit.sheet import Sheet
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.wording import say

_NUMBERS = ("temperature", "top_p", "top_k", "min_p", "repeat_penalty", "max_tokens")
_INHERITED = "window.as-in-settings"


class Owner(Struct, frozen=True):
    """The owner of the options: the window's title and text, and possible drafts (names and keys).
    `models`: those for new chats, None if the owner does not choose one."""

    title: str
    about: str
    drafts: Sequence[tuple[str, str]] = ()
    models: Sequence[tuple[str, str]] | None = None
    model: str = ""


class OverridesWindow(Sheet):
    """Emits `changed` with the options, and `model_changed` with a key, at each change."""

    changed = Signal(Overrides)
    model_changed = Signal(str)

    def __init__(
        self, owner: Owner, options: Overrides, settings: Settings, parent: QWidget | None = None
    ) -> None:
        super().__init__(owner.title, parent, (600, 640))
        self.options = options
        word = QLabel(owner.about, self)
        word.setObjectName("quiet")
        word.setWordWrap(True)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self.prompt = TextEdit(self)
        self.prompt.setPlainText(options.system_prompt or "")
        self.prompt.setPlaceholderText(settings.system_prompt or say("window.none"))
        self.prompt.setAccessibleName(say("window.system-prompt"))
        self.prompt.setTabChangesFocus(True)
        keep_height(self.prompt, 84)
        self.prompt.textChanged.connect(self._on_prompt)
        form.addRow(say("window.system-prompt"), self.prompt)
        self._order: list[QWidget] = []
        if owner.models is not None:
            form.addRow(say("window.model-of-new-chats"), self._model(owner.models, owner.model))
        self.numbers: dict[str, QWidget] = {}
        for name in _NUMBERS:
            self._number(form, name, settings)
        fields = describe(Settings)
        self._choice(form, "thinking", fields["thinking"].labels)
        self._choice(form, "when_full", fields["when_full"].labels)
        self._early = len(self._order)
        self.draft = self._draft(owner.drafts)
        form.addRow(say("window.draft-from"), self.draft)
        self.servers: dict[str, QCheckBox] = {}
        if settings.tool_servers:
            form.addRow(say("window.tool-servers"), self._tools(settings))
        self.sources: dict[str, QCheckBox] = {}
        if settings.knowledge.sources:
            form.addRow(say("window.searched-files"), self._files(settings))
        self.documents: DocumentRows | None = None
        if isinstance(options, ChatOptions):
            self.documents = DocumentRows(options.pinned, self)
            self.documents.changed.connect(lambda pinned: self._set(pinned=pinned))
            form.addRow(say("window.whole-documents"), self.documents)
        self.column.addWidget(word)
        self.column.addWidget(_scrolled(form, self), 1)
        in_reading_order(
            self.prompt, *self._order[: self._early], self.draft, *self._order[self._early :]
        )
        keep_wheel_away(self)
        give_room(self)

    def _number(self, form: QFormLayout, name: str, settings: Settings) -> None:
        info = describe(Sampling)[name]
        own = self.options.sampling or SamplingChoice()
        chosen, inherited = getattr(own, name), getattr(settings.sampling, name)
        follows = info.default if inherited is None else inherited
        reset = ResetButton(info.title, self)
        reset.setEnabled(chosen is not None)

        def choose(value: float) -> None:
            self._set_sampling(name, int(value) if info.integer else value)
            reset.setEnabled(True)

        box = number_box(info, follows if chosen is None else chosen, choose)

        def forget() -> None:
            with QSignalBlocker(box):
                box.setProperty("value", follows)
            self._set_sampling(name, None)
            reset.setEnabled(False)

        reset.clicked.connect(forget)
        row = QHBoxLayout()
        row.addWidget(box, 1)
        row.addWidget(reset)
        form.addRow(info.title, row)
        self.numbers[name] = box
        self._order += [box, reset]

    def _choice(self, form: QFormLayout, name: str, labels: dict[str, str]) -> None:
        info = describe(Settings)[name]
        box = Choice(self)
        box.setAccessibleName(info.title)
        box.addItem(say(_INHERITED), None)
        for choice in info.choices:
            box.addItem(labels.get(choice, choice), choice)
        box.setCurrentIndex(max(0, box.findData(getattr(self.options, name))))
        box.activated.connect(lambda _: self._set(**{name: box.currentData()}))
        form.addRow(info.title, box)
        self._order.append(box)

    def _model(self, models: Sequence[tuple[str, str]], chosen: str) -> QComboBox:
        box = Choice(self)
        box.setAccessibleName(say("window.model-of-new-chats"))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.addItem(say("window.last-one-was-used"), "")
        for name, key in models:
            box.addItem(name, key)
        box.setCurrentIndex(max(0, box.findData(chosen)))
        box.activated.connect(lambda _: self.model_changed.emit(box.currentData()))
        self._order.append(box)
        return box

    def _tools(self, settings: Settings) -> QWidget:
        """The tool servers of the chats: as above, or those that are ticked."""
        own = self.options.tools_from
        chosen = settings.tools_from if own is None else own
        for server in settings.tool_servers:
            self.servers[server.id] = self._tick(server.name, server.id in chosen)
        title = say("window.tool-servers")
        return self._ticked(title, "tools_from", own is not None, self.servers)

    def _files(self, settings: Settings) -> QWidget:
        """The folders and files that the chats search: as above, or those that are ticked."""
        own = self.options.files_from
        chosen = settings.files_from if own is None else own
        for source in settings.knowledge.sources:
            tick = self.sources[source] = self._tick(source_name(source), source in chosen)
            tick.setToolTip(plain_tip(source))
        title = say("window.searched-files")
        return self._ticked(title, "files_from", own is not None, self.sources)

    def _tick(self, title: str, on: bool) -> QCheckBox:
        tick = QCheckBox(title.replace("&", "&&"), self)
        tick.setChecked(on)
        return tick

    def _ticked(self, title: str, field: str, own: bool, ticks: dict[str, QCheckBox]) -> QWidget:
        """A choice between the inherited and own ones, and the ticks of the own ones below."""
        place = QWidget(self)
        column = QVBoxLayout(place)
        column.setContentsMargins(0, 0, 0, 0)
        box = Choice(place)
        box.setAccessibleName(title)
        box.addItem(say(_INHERITED), False)
        box.addItem(say("window.these-servers"), True)
        box.setCurrentIndex(1 if own else 0)
        column.addWidget(box)
        for tick in ticks.values():
            tick.setVisible(own)
            column.addWidget(tick)

        def take() -> None:
            chosen = tuple(one for one, tick in ticks.items() if tick.isChecked())
            self._set(**{field: chosen if box.currentData() else None})
            for tick in ticks.values():
                tick.setVisible(bool(box.currentData()))

        box.activated.connect(lambda _: take())
        for tick in ticks.values():
            tick.clicked.connect(lambda _on: take())
        self._order += [box, *ticks.values()]
        return place

    def _draft(self, drafts: Sequence[tuple[str, str]]) -> QComboBox:
        box = Choice(self)
        box.setAccessibleName(say("window.draft-from"))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.addItem(say(_INHERITED), None)
        box.addItem(say("window.automatic"), AUTOMATIC)
        box.addItem(say("window.no-draft-model"), "")
        for name, key in drafts:
            box.addItem(name, key)
        own = self.options.speculation
        box.setCurrentIndex(0 if own is None else max(0, box.findData(own.draft)))
        box.activated.connect(partial(self._on_draft, box))
        return box

    def _on_draft(self, box: QComboBox, _index: int) -> None:
        key = box.currentData()
        own = self.options.speculation or Speculation()
        self._set(speculation=None if key is None else changed(own, draft=key))

    def _on_prompt(self) -> None:
        self._set(system_prompt=self.prompt.toPlainText() or None)

    def _set_sampling(self, name: str, value: float | None) -> None:
        own = changed(self.options.sampling or SamplingChoice(), **{name: value})
        self._set(sampling=own if own != SamplingChoice() else None)

    def _set(self, **changes: object) -> None:
        self.options = changed(self.options, **changes)
        self.changed.emit(self.options)


def _scrolled(form: QFormLayout, parent: QWidget) -> QScrollArea:
    """The form, which is higher than a small window."""
    body, area = QWidget(parent), QScrollArea(parent)
    body.setObjectName("plain")
    body.setLayout(form)
    form.setContentsMargins(0, 0, 8, 0)
    area.setObjectName("plain")
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(body)
    return area
