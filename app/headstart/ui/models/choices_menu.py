"""The menu for choosing a model, shared by all places: recent, installed, and servers' models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget, QWidgetAction

from headstart.chat.models import ModelList
from headstart.chat.servers import Offered
from headstart.core.models.installed import InstalledModel
from headstart.core.models.ref import AnyModel
from headstart.core.text.shown import shortened, size_text
from headstart.ui.kit import icons
from headstart.ui.kit.fields import clearable
from headstart.ui.kit.hints import set_hint
from headstart.ui.wording import say

# models of a server listed directly; it may offer hundreds, and the rest goes into a submenu
MOST_OFFERED = 40
# number of recent models listed first, if there are more than FEW in all
RECENT, FEW = 3, 6
_NAME_LENGTH = 48


class ChoicesMenu(QMenu):
    """Emits `chosen` with a model, or `refused` with the reason why one cannot be used. Text typed
    while it is open filters the models."""

    chosen = Signal(object)
    refused = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        self._group = QActionGroup(self)
        self._shown: ModelList | None = None
        self._below: Callable[[QMenu], None] = lambda _menu: None
        # texts for the filter
        self._texts: list[tuple[QAction, str]] = []
        self.field: QLineEdit | None = None
        self.aboutToHide.connect(self._forget_words)
        self.set_models(ModelList([], [], ""))

    def set_below(self, add: Callable[[QMenu], None]) -> None:
        """Set the entries below the models."""
        self._below = add
        models, self._shown = self._shown, None
        self.set_models(models or ModelList([], [], ""))

    def set_models(self, models: ModelList) -> None:
        if models == self._shown:
            # unchanged: an open menu keeps its position
            return
        self._shown = models
        for rest in self.findChildren(QMenu):
            rest.deleteLater()
        self.clear()
        self._texts = []
        self.field = None
        self._group.deleteLater()
        self._group = QActionGroup(self)
        many = len(models.local) + sum(len(offered.models) for offered in models.servers) > FEW
        if many:
            self._add_field()
        self._add_all_local(models, many)
        for offered in models.servers:
            self._add_server(offered, models.current)
        if models.local or models.servers:
            self.addSeparator()
        self._below(self)

    # --- entries -------------------------------------------------------------------------

    def _add_field(self) -> None:
        self.field = QLineEdit(self)
        set_hint(self.field, say("models.find-model"))
        self.field.setAccessibleName(say("models.find-model"))
        clearable(self.field)
        self.field.textChanged.connect(self._filter)
        action = QWidgetAction(self)
        action.setDefaultWidget(self.field)
        self.addAction(action)
        # moves the arrow keys on to the models
        self.field.installEventFilter(self)

    def _add_all_local(self, models: ModelList, many: bool) -> None:
        used = sorted(
            (model for model in models.local if model.last_used),
            key=lambda model: -model.last_used,
        )
        recent = used[:RECENT] if many else []
        for model in recent:
            self._add_local(model, models.current)
        if recent:
            self.addSeparator()
        for model in models.local:
            if model not in recent:
                self._add_local(model, models.current)

    def _add_local(self, model: InstalledModel, current: str) -> None:
        text = f"{_short(model.ref.name)}    {' · '.join(_facts(model))}"
        if model.why_not is None:
            self._add_choice(text, model.ref, current, words=model.ref.name)
            return
        action = self.addAction(say("models.text-cannot-run-here", text=text))
        reason = say(
            "models.name-cannot-run-here-text", name=model.ref.name, text=model.why_not.text
        )
        action.setToolTip(reason)
        action.triggered.connect(lambda _checked, why=reason: self.refused.emit(why))
        self._texts.append((action, model.ref.name))

    def _add_server(self, offered: Offered, current: str) -> None:
        connection = offered.connection
        self.addSeparator()
        title = self.addAction(
            icons.icon("server"), say("models.name-on-server", name=connection.name)
        )
        title.setToolTip(say("models.chats-with-these-models-sent", host=connection.host))
        title.setEnabled(False)
        if offered.problem is not None:
            line = self.addAction(_short(offered.problem.text, 60))
            line.setToolTip(offered.problem.text)
            why = offered.problem.text
            line.triggered.connect(lambda _checked: self.refused.emit(why))
        elif not offered.models:
            self.addAction(say("models.asking")).setEnabled(False)
        for model in offered.models[:MOST_OFFERED]:
            self._add_choice(
                say("models.short-on-host", short=_short(model.name), host=connection.host),
                model,
                current,
            )
        more = len(offered.models) - MOST_OFFERED
        if more > 0:
            rest = self.addMenu(say("models.more-more", more=more))
            for model in offered.models[MOST_OFFERED:]:
                self._add_choice(_short(model.id), model, current, rest)

    def _add_choice(
        self,
        text: str,
        model: AnyModel,
        current: str,
        menu: QMenu | None = None,
        words: str = "",
    ) -> None:
        action = QAction(text, menu or self)
        action.setCheckable(True)
        action.setChecked(model.key == current)
        action.triggered.connect(lambda _checked, m=model: self.chosen.emit(m))
        self._group.addAction(action)
        (menu or self).addAction(action)
        self._texts.append((action, words or text))

    # --- filter --------------------------------------------------------------------------

    def _filter(self, words: str) -> None:
        wanted = words.casefold().split()
        for action, text in self._texts:
            action.setVisible(all(word in text.casefold() for word in wanted))

    def _forget_words(self) -> None:
        if self.field is not None:
            self.field.clear()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress and event.key() in _CHOOSE:
                self._choose_first()
                return True
            if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                if event.type() == QEvent.Type.KeyPress:
                    self.setFocus()
                    self.keyPressEvent(event)
                return True
        return super().eventFilter(watched, event)

    def _choose_first(self) -> None:
        found = next((action for action, _ in self._texts if action.isVisible()), None)
        if found is not None:
            self.close()
            found.trigger()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.field is not None:
            self.field.setFocus()


_CHOOSE = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def _facts(model: InstalledModel) -> Sequence[str]:
    facts = [size_text(model.ref.size)]
    quantization = model.about.quantization
    if quantization and quantization.casefold() not in model.ref.name.casefold():
        facts.insert(0, quantization)
    if model.ref.format == "mlx":
        facts.append("MLX")
    return facts


def _short(name: str, length: int = _NAME_LENGTH) -> str:
    # an ampersand would underline the next letter
    return shortened(name, length).replace("&", "&&")
