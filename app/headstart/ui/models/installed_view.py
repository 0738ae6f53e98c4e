"""The installed models: a list, and the facts of the chosen one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.events import ResidentModel
from headstart.core.models.installed import InstalledModel
from headstart.core.text.shown import size_text
from headstart.ui.kit.fields import clearable
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.hints import set_hint
from headstart.ui.models.installed_model_view import InstalledModelView
from headstart.ui.models.installed_rows import LOADED, MODEL, InstalledDelegate, spoken
from headstart.ui.wording import say

_CONTENT = int(Qt.ItemDataRole.UserRole)
_BOTH = 700


class InstalledView(QWidget):
    chosen = Signal(InstalledModel)
    folder_added = Signal(str)
    file_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._models: dict[str, InstalledModel] = {}
        self._loaded: dict[str, ResidentModel] = {}
        self._kept: tuple[str, ...] = ()
        self.filter = QLineEdit(self)
        set_hint(self.filter, say("models.find-model-here"))
        self.filter.setAccessibleName(say("models.find-model-here"))
        clearable(self.filter)
        self.filter.textChanged.connect(self._show)
        self.list = QListWidget(self)
        self.list.setAccessibleName(say("models.models-on-computer"))
        self.list.setItemDelegate(InstalledDelegate(self.list))
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentItemChanged.connect(self._on_current)
        # if only one of both has room, only a click or Enter opens a model, not a move in the list
        self.list.itemClicked.connect(self._on_opened)
        self.list.itemActivated.connect(self._on_opened)
        add = QPushButton(say("models.add-folder"), self)
        add.setToolTip(say("models.models-in-used-where-they"))
        add.clicked.connect(self._ask_folder)
        file = QPushButton(say("models.open-file"), self)
        file.clicked.connect(self.file_wanted)
        self.total = QLabel(self)
        self.total.setObjectName("quiet")
        self.model = InstalledModelView(self)
        self.back = QPushButton(say("models.back-to-list"), self)
        self.back.clicked.connect(self._on_back)
        self._showing_model = False
        left = self._left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.filter)
        column.addWidget(self.list, 1)
        column.addWidget(self.total)
        buttons = QHBoxLayout()
        buttons.addWidget(add)
        buttons.addWidget(file)
        buttons.addStretch(1)
        column.addLayout(buttons)
        right = self._right = QWidget(self)
        side = QVBoxLayout(right)
        side.setContentsMargins(0, 0, 0, 0)
        side.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        side.addWidget(self.model, 1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 12, 0, 0)
        layout.setSpacing(18)
        layout.addWidget(left, 2)
        layout.addWidget(right, 3)

    def set_models(self, models: Sequence[InstalledModel]) -> None:
        before = [(model, model.ref.name) for model in self._models.values()]
        self._models = {model.content: model for model in models}
        if before == [(model, model.ref.name) for model in self._models.values()]:
            # the user may be scrolling
            return
        self._show()
        current = self._current()
        if current is not None:
            self.model.show_model(current)
            self._show_loaded()
        else:
            self.model.show_nothing()

    @property
    def models(self) -> list[InstalledModel]:
        return list(self._models.values())

    def set_loaded(self, models: Sequence[ResidentModel]) -> None:
        """Set the models in memory."""
        self._loaded = {one.model.key: one for one in models}
        self._show()
        self._show_loaded()

    def set_kept(self, keys: tuple[str, ...]) -> None:
        """Set the keys of models that stay in memory."""
        self._kept = keys
        self._show_loaded()

    def _show_loaded(self) -> None:
        current = self._current()
        if current is not None:
            key = current.ref.key
            self.model.set_loaded(key in self._loaded, key in self._kept)

    def _show(self) -> None:
        wanted = self.filter.text().casefold()
        chosen = self._chosen()
        with QSignalBlocker(self.list):
            self.list.clear()
            size = 0
            for content, model in self._models.items():
                size += model.ref.size
                if wanted not in f"{model.ref.name} {model.about.architecture}".casefold():
                    continue
                loaded = self._loaded.get(model.ref.key)
                item = QListWidgetItem(model.ref.name)
                item.setData(_CONTENT, content)
                item.setData(MODEL, model)
                item.setData(LOADED, loaded)
                item.setData(Qt.ItemDataRole.AccessibleTextRole, spoken(model, loaded))
                item.setToolTip(model.ref.key)
                self.list.addItem(item)
                if content == chosen:
                    self.list.setCurrentItem(item)
        if not chosen and self.list.count() and self.isVisible():
            # the details of the first one instead of none
            self.list.setCurrentRow(0)
        count = len(self._models)
        facts = [say("models.models-here", count=count), size_text(size)]
        if self._loaded:
            memory = sum(one.size for one in self._loaded.values())
            facts.append(say("models.memory-in-memory", memory=memory))
        self.total.setText(" · ".join(facts))

    def _chosen(self) -> str:
        item = self.list.currentItem()
        return str(item.data(_CONTENT)) if item is not None else ""

    def _current(self) -> InstalledModel | None:
        return self._models.get(self._chosen())

    def _on_current(self) -> None:
        model = self._current()
        if model is not None:
            self.chosen.emit(model)
            self._show_loaded()

    def _on_opened(self) -> None:
        self._showing_model = True
        self._arrange()
        if self.back.isVisible():
            self.back.setFocus()

    def _on_back(self) -> None:
        self._showing_model = False
        self._arrange()
        self.list.setFocus()

    def _ask_folder(self) -> None:
        dialog = file_dialog(self.window(), say("models.add-folder-with-models"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.folder_added)
        dialog.open()

    def _arrange(self) -> None:
        both = self.width() >= _BOTH
        self._left.setVisible(both or not self._showing_model)
        self._right.setVisible(both or self._showing_model)
        self.back.setVisible(not both)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.list.count() and not self._chosen():
            self.list.setCurrentRow(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
