"""What files would bring in, before anything changes; then how far it is, and what came in."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from headstart.chat.transfer.intake import Plan, Result, State
from headstart.core.text import count_words

_STATES: dict[State, str] = {
    "new": "new",
    "more": "gets what is new",
    "here": "here already",
    "trash": "comes back from the trash",
}
# lines of the list; everything comes in
_MOST = 2_000


class ImportWindow(QDialog):
    """`taken`: take in what was shown. `cancelled`: stop reading or importing."""

    taken = Signal(list, int)  # paths, how many chats the dry run found
    cancelled = Signal()

    def __init__(
        self, paths: Sequence[str], parent: QWidget | None = None, backup: bool = False
    ) -> None:
        """`backup`: it is restored from one."""
        super().__init__(parent)
        self.setWindowTitle("Restore from a backup" if backup else "Import chats")
        self._verb = "Restore" if backup else "Import"
        self.settings = QCheckBox("Settings as they were then, too", self)
        self.settings.hide()
        self.setMinimumSize(600, 420)
        self._paths = list(paths)
        self._found = 0
        self._busy = True
        self.summary = QLabel("Reading…", self)
        self.summary.setObjectName("sectionTitle")
        self.summary.setWordWrap(True)
        self.hint = QLabel("Nothing has changed yet.", self)
        self.hint.setObjectName("quiet")
        self.hint.setWordWrap(True)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("How far the import is")
        self.chats = _table(("Chat", "From", "Messages", ""), "Chats in the file", self)
        self.left_out = _table(("Where", "Why"), "What does not come in", self)
        self.left_out.setWordWrap(True)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(self.chats, "Chats")
        self.tabs.addTab(self.left_out, "Left out")
        self.take = QPushButton(self._verb, self)
        self.take.setObjectName("primary")
        self.take.setEnabled(False)
        self.take.clicked.connect(self._on_take)
        self.end = QPushButton("Cancel", self)
        self.end.clicked.connect(self._on_end)
        for button in (self.take, self.end):
            button.setAutoDefault(False)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.take)
        buttons.addWidget(self.end)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(8)
        layout.addWidget(self.summary)
        layout.addWidget(self.hint)
        layout.addWidget(self.bar)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.settings)
        layout.addLayout(buttons)
        self.resize(760, 560)

    # --- what is shown -------------------------------------------------------------------

    def show_progress(self, count: int, expected: int) -> None:
        if expected:
            self.bar.setRange(0, expected)
            self.bar.setValue(count)
            self.summary.setText(f"{count:,} of {count_words(expected, 'chat')}…")
        else:
            self.summary.setText(f"Reading… {count_words(count, 'chat')}")

    def show_plan(self, plan: Plan) -> None:
        """What would come in."""
        self._rest()
        self._found = len(plan.chats)
        new, more, back = plan.count("new"), plan.count("more"), plan.count("trash")
        here = plan.count("here")
        says = [f"{count_words(new, 'new chat')}"] if new else []
        says += [f"{count_words(more, 'chat')} with new messages"] if more else []
        says += [f"{count_words(back, 'chat')} from the trash"] if back else []
        comes = ", ".join(says)
        if comes:
            self.summary.setText(f"{comes} can come in.")
        elif here:
            self.summary.setText("Everything in it is here already.")
        else:
            self.summary.setText("No chats were found.")
        self.hint.setText(
            f"{count_words(here, 'chat')} already here stay as they are." if here else ""
        )
        self.hint.setVisible(bool(here))
        self.chats.clear()
        for chat in plan.chats[:_MOST]:
            versions = f" · {chat.branches} branches" if chat.branches > 1 else ""
            texts = [chat.title or "Untitled", chat.source, f"{chat.messages:,}{versions}"]
            item = QTreeWidgetItem([*texts, _STATES[chat.state]])
            item.setToolTip(0, chat.title)
            self.chats.addTopLevelItem(item)
        if len(plan.chats) > _MOST:
            self.chats.addTopLevelItem(
                QTreeWidgetItem([f"and {len(plan.chats) - _MOST:,} further", "", "", ""])
            )
        self._show_left_out(plan)
        self.take.setEnabled(bool(comes) or plan.has_settings)
        self.settings.setVisible(plan.has_settings)
        if comes:
            self.take.setDefault(True)
            self.take.setFocus()

    def show_result(self, result: Result) -> None:
        """What came in."""
        self._rest()
        says = [count_words(result.new, "new chat")]
        says += [f"{count_words(result.more, 'chat')} with new messages"] if result.more else []
        says += [f"{result.restored:,} from the trash"] if result.restored else []
        what = f"{', '.join(says)}: {count_words(result.messages, 'message')}."
        self.summary.setText(f"Stopped. Came in: {what}" if result.stopped else f"Came in: {what}")
        self.hint.setText(
            "Import the same file again to go on where it stopped." if result.stopped else ""
        )
        self.hint.setVisible(result.stopped)
        self._show_left_out(result)
        self.take.hide()
        self.settings.hide()
        self.end.setText("Close")
        self.end.setDefault(True)
        self.end.setFocus()

    def show_problem(self, text: str) -> None:
        self._rest()
        self.summary.setText(text)
        self.hint.hide()
        self.take.setEnabled(False)
        self.end.setText("Close")

    def _show_left_out(self, of: Plan | Result) -> None:
        report = of.report
        self.left_out.clear()
        for line in report.lines:
            item = QTreeWidgetItem([line.where, line.why.text])
            for column in range(2):
                item.setToolTip(column, item.text(column))
            self.left_out.addTopLevelItem(item)
        if report.left_out:
            self.left_out.addTopLevelItem(QTreeWidgetItem([f"and {report.left_out:,} further", ""]))
        count = report.counts.total()
        self.tabs.setTabText(1, f"Left out {count:,}" if count else "Left out")
        if count and not self.chats.topLevelItemCount():
            self.tabs.setCurrentWidget(self.left_out)

    def _rest(self) -> None:
        self._busy = False
        self.bar.hide()

    # --- what the user does --------------------------------------------------------------

    def _on_take(self) -> None:
        self._busy = True
        self.take.setEnabled(False)
        self.hint.setText("Chats that are in stay when you stop it.")
        self.hint.show()
        self.bar.show()
        self.end.setText("Stop")
        self.taken.emit(self._paths, self._found)

    def _on_end(self) -> None:
        if self._busy and self.end.text() == "Stop":
            # what came in is shown
            self.cancelled.emit()
        else:
            self.reject()

    def reject(self) -> None:
        """Esc and the window's own button end what is going on, too."""
        if self._busy:
            self._busy = False
            self.cancelled.emit()
        super().reject()


def _table(columns: Sequence[str], name: str, parent: QWidget) -> QTreeWidget:
    table = QTreeWidget(parent)
    table.setColumnCount(len(columns))
    table.setHeaderLabels(list(columns))
    table.setRootIsDecorated(False)
    table.setUniformRowHeights(True)
    table.setAccessibleName(name)
    table.setTextElideMode(Qt.TextElideMode.ElideRight)
    header = table.header()
    header.setStretchLastSection(len(columns) == 2)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    for column in range(1, len(columns)):
        header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
    if len(columns) == 2:
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
    return table
