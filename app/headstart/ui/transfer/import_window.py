"""Preview of an import, before anything changes; then how far it is, and what came in."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from headstart.chat.transfer.intake import ImportPlan, Result, State
from headstart.core.text.shown import count_words
from headstart.ui.kit.sheet import Sheet

_STATES: dict[State, str] = {
    "new": "new",
    "more": "gets what is new",
    "here": "here already",
    "trash": "comes back from the trash",
}
_ID = int(Qt.ItemDataRole.UserRole)
# lines of the list; everything comes in
_MOST = 2_000


class ImportWindow(Sheet):
    """`taken`: take in what was shown. `cancelled`: stop reading or importing."""

    taken = Signal(list, int, object)  # paths, how many chats the dry run found, ids not wanted
    cancelled = Signal()
    chat_wanted = Signal(str)  # one that came in: open it

    def __init__(
        self, paths: Sequence[str], parent: QWidget | None = None, backup: bool = False
    ) -> None:
        """`backup`: it is restored from one."""
        super().__init__("Restore from a backup" if backup else "Import chats", parent, (760, 560))
        self._verb = "Restore" if backup else "Import"
        self.settings = QCheckBox("Settings as they were then, too", self)
        self.settings.hide()
        self.setMinimumSize(460, 340)
        self._paths = list(paths)
        self._plan = ImportPlan()
        self._first = ""
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
        self.chats.itemChanged.connect(lambda *_: self._show_chosen())
        self.all = QCheckBox("All of them", self)
        self.all.setTristate(True)
        self.all.clicked.connect(self._on_all)
        self.all.hide()
        self.left_out = _table(("Where", "Why"), "Not imported", self)
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
        self.open_it = QPushButton("Open it", self)
        self.open_it.setObjectName("primary")
        self.open_it.clicked.connect(self._on_open)
        self.open_it.hide()
        self.end = QPushButton("Cancel", self)
        self.end.clicked.connect(self._on_end)
        for button in (self.take, self.open_it, self.end):
            button.setAutoDefault(False)
        self.column.addWidget(self.summary)
        self.column.addWidget(self.hint)
        self.column.addWidget(self.bar)
        self.column.addWidget(self.all)
        self.column.addWidget(self.tabs, 1)
        self.column.addWidget(self.settings)
        self.buttons(self.end, self.take, self.open_it)

    # --- what is shown -------------------------------------------------------------------

    def show_progress(self, count: int, expected: int) -> None:
        if expected:
            self.bar.setRange(0, expected)
            self.bar.setValue(count)
            self.summary.setText(f"{count:,} of {count_words(expected, 'chat')}…")
        else:
            self.summary.setText(f"Reading… {count_words(count, 'chat')}")

    def show_plan(self, plan: ImportPlan) -> None:
        """Show what can be imported."""
        self._rest()
        self._plan = plan
        new, more, back = plan.count("new"), plan.count("more"), plan.count("trash")
        here = plan.count("here")
        says = [f"{count_words(new, 'new chat')}"] if new else []
        says += [f"{count_words(more, 'chat')} with new messages"] if more else []
        says += [f"{count_words(back, 'chat')} from the trash"] if back else []
        comes = ", ".join(says)
        if comes:
            self.summary.setText(f"{comes} can be imported.")
        elif here:
            self.summary.setText("Everything in it is here already.")
        else:
            self.summary.setText("No chats were found.")
        self.hint.setText(
            f"{count_words(here, 'chat')} already here stay as they are." if here else ""
        )
        self.hint.setVisible(bool(here))
        self._fill(plan)
        self._show_left_out(plan)
        self.all.setVisible(len(self._choices()) > 1)
        self.settings.setVisible(plan.has_settings)
        self._show_chosen()
        if comes:
            self.take.setDefault(True)
            self.take.setFocus()

    def _fill(self, plan: ImportPlan) -> None:
        with QSignalBlocker(self.chats):
            self.chats.clear()
            for chat in plan.chats[:_MOST]:
                versions = f" · {chat.branches} branches" if chat.branches > 1 else ""
                texts = [chat.title or "Untitled", chat.source, f"{chat.messages:,}{versions}"]
                item = QTreeWidgetItem([*texts, _STATES[chat.state]])
                item.setToolTip(0, chat.title)
                if chat.state != "here":
                    item.setData(0, _ID, chat.id)
                    item.setCheckState(0, Qt.CheckState.Checked)
                self.chats.addTopLevelItem(item)
            if len(plan.chats) > _MOST:
                self.chats.addTopLevelItem(
                    QTreeWidgetItem([f"and {len(plan.chats) - _MOST:,} further", "", "", ""])
                )

    def _choices(self) -> list[QTreeWidgetItem]:
        """Lines of chats that can be imported."""
        items = (self.chats.topLevelItem(row) for row in range(self.chats.topLevelItemCount()))
        return [item for item in items if item is not None and item.data(0, _ID)]

    @property
    def without(self) -> frozenset[str]:
        """The ids of chats that the user does not want."""
        left = [one for one in self._choices() if one.checkState(0) is Qt.CheckState.Unchecked]
        without = {str(one.data(0, _ID)) for one in left}
        if self.all.checkState() is Qt.CheckState.Unchecked:
            # those that the list has no line for as well
            without |= {chat.id for chat in self._plan.chats[_MOST:]}
        return frozenset(without)

    def _show_chosen(self) -> None:
        """Show the number of chats that are going to be imported."""
        if self._busy:
            return
        choices = self._choices()
        left = len(self.without)
        wanted = self._plan.count("new", "more", "trash") - left
        none = all(one.checkState(0) is Qt.CheckState.Unchecked for one in choices)
        state = Qt.CheckState.Unchecked if none else Qt.CheckState.PartiallyChecked
        self.all.setCheckState(state if left else Qt.CheckState.Checked)
        self.take.setText(f"{self._verb} {count_words(wanted, 'chat')}" if wanted else self._verb)
        self.take.setEnabled(wanted > 0 or self._plan.has_settings)

    def _on_all(self) -> None:
        """All, or none where all were chosen."""
        on = self.all.checkState() is not Qt.CheckState.Unchecked
        self.all.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        with QSignalBlocker(self.chats):
            for one in self._choices():
                one.setCheckState(0, Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        self._show_chosen()

    def show_result(self, result: Result) -> None:
        """Show the imported chats."""
        self._rest()
        says = [count_words(result.new, "new chat")]
        says += [f"{count_words(result.more, 'chat')} with new messages"] if result.more else []
        says += [f"{result.restored:,} from the trash"] if result.restored else []
        what = f"{', '.join(says)}: {count_words(result.messages, 'message')}."
        self.summary.setText(f"Stopped. Imported {what}" if result.stopped else f"Imported {what}")
        self.hint.setText(
            "Import the same file again to go on where it stopped." if result.stopped else ""
        )
        self.hint.setVisible(result.stopped)
        self._show_left_out(result)
        self._show_came(result)
        for widget in (self.take, self.settings, self.all):
            widget.hide()
        self.end.setText("Close")
        self._first = result.first
        self.open_it.setText("Open it" if result.new + result.restored == 1 else "Open the first")
        self.open_it.setVisible(bool(result.first))
        first = self.open_it if result.first else self.end
        first.setDefault(True)
        first.setFocus()

    def _show_came(self, result: Result) -> None:
        """Lines of chats that came in; those that were left go."""
        with QSignalBlocker(self.chats):
            without = self.without
            for row in reversed(range(self.chats.topLevelItemCount())):
                item = self.chats.topLevelItem(row)
                if item is None or not item.data(0, _ID):
                    continue
                if item.data(0, _ID) in without:
                    self.chats.takeTopLevelItem(row)
                else:
                    item.setData(0, Qt.ItemDataRole.CheckStateRole, None)
                    item.setText(3, "" if result.stopped else "imported")

    def show_problem(self, text: str) -> None:
        self._rest()
        self.summary.setText(text)
        self.hint.hide()
        self.take.setEnabled(False)
        self.end.setText("Close")

    def _show_left_out(self, of: ImportPlan | Result) -> None:
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
        self.hint.setText("Chats imported so far are kept if you stop.")
        self.hint.show()
        self.bar.show()
        self.end.setText("Stop")
        self.all.setEnabled(False)
        self.taken.emit(self._paths, len(self._plan.chats), self.without)

    def _on_open(self) -> None:
        self.accept()
        self.chat_wanted.emit(self._first)

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
