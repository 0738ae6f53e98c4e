"""Preview of an import, before anything changes; then the progress, and the imported chats."""

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
from headstart.core.text.locale import locale
from headstart.ui.kit.focus import tabs_first
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

_STATES: dict[State, str] = {
    "new": "transfer.new",
    "more": "transfer.gets-what-new",
    "here": "transfer.here-already",
    "trash": "transfer.comes-back-from-trash",
}
_ID = int(Qt.ItemDataRole.UserRole)
# most lines of the list; chats beyond them are imported too
_MOST = 2_000


class ImportWindow(Sheet):
    """`taken`: import the shown chats. `cancelled`: stop reading or importing."""

    taken = Signal(list, int, object)  # paths, number of chats found by the dry run, unwanted ids
    cancelled = Signal()
    chat_wanted = Signal(str)  # id of an imported chat to open

    def __init__(
        self, paths: Sequence[str], parent: QWidget | None = None, backup: bool = False
    ) -> None:
        """`backup`: True if `paths` is a backup to restore."""
        super().__init__(
            say("transfer.restore-from-backup") if backup else say("transfer.import-chats"),
            parent,
            (760, 560),
        )
        self._verb = say("transfer.restore") if backup else say("transfer.import")
        self._with_count = "transfer.restore-chats" if backup else "transfer.import-count-chats"
        self.settings = QCheckBox(say("transfer.settings-as-they-were-then"), self)
        self.settings.hide()
        self.setMinimumSize(460, 340)
        self._paths = list(paths)
        self._plan = ImportPlan()
        self._first = ""
        self._busy, self._importing = True, False
        self.summary = QLabel(say("transfer.reading"), self)
        self.summary.setObjectName("sectionTitle")
        self.summary.setWordWrap(True)
        self.hint = QLabel(say("transfer.nothing-has-changed-yet"), self)
        self.hint.setObjectName("quiet")
        self.hint.setWordWrap(True)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(say("transfer.import-progress"))
        self._build_lists()
        self.take = QPushButton(self._verb, self)
        self.take.setObjectName("primary")
        self.take.setEnabled(False)
        self.take.clicked.connect(self._on_take)
        self.open_it = QPushButton(say("transfer.open"), self)
        self.open_it.setObjectName("primary")
        self.open_it.clicked.connect(self._on_open)
        self.open_it.hide()
        self.end = QPushButton(say("transfer.cancel"), self)
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

    def _build_lists(self) -> None:
        self.chats = _table(
            (say("transfer.chat"), say("transfer.from"), say("transfer.messages"), ""),
            say("transfer.chats-in-file"),
            self,
        )
        self.chats.itemChanged.connect(lambda *_: self._show_chosen())
        self.all = QCheckBox(say("transfer.all-of-them"), self)
        self.all.setTristate(True)
        self.all.clicked.connect(self._on_all)
        self.all.hide()
        self.left_out = _table(
            (say("transfer.where"), say("transfer.why")), say("transfer.not-imported"), self
        )
        self.left_out.setWordWrap(True)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(self.chats, say("transfer.chats"))
        self.tabs.addTab(self.left_out, say("transfer.left-out"))
        tabs_first(self.tabs)

    # --- display -------------------------------------------------------------------------

    def show_progress(self, count: int, expected: int) -> None:
        if expected:
            self.bar.setRange(0, expected)
            self.bar.setValue(count)
            self.summary.setText(say("transfer.count-of-expected", count=count, expected=expected))
        else:
            self.summary.setText(say("transfer.reading-count", count=count))

    def show_plan(self, plan: ImportPlan) -> None:
        """Show what can be imported."""
        self._rest()
        self._plan = plan
        new, more, back = plan.count("new"), plan.count("more"), plan.count("trash")
        here = plan.count("here")
        comes = [say("transfer.new-chats", count=new)] if new else []
        comes += [say("transfer.chats-with-new-messages", count=more)] if more else []
        comes += [say("transfer.chats-from-trash", count=back)] if back else []
        if comes:
            self.summary.setText(say("transfer.can-import", comes=comes))
        elif here:
            self.summary.setText(say("transfer.everything-in-here-already"))
        else:
            self.summary.setText(say("transfer.no-chats-were-found"))
        self.hint.setText(say("transfer.here-already-here-stay-as", here=here) if here else "")
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
                messages = locale().number(chat.messages)
                if chat.branches > 1:
                    messages += f" · {say('transfer.branches', branches=chat.branches)}"
                texts = [chat.title or say("transfer.untitled"), chat.source, messages]
                item = QTreeWidgetItem([*texts, say(_STATES[chat.state])])
                item.setToolTip(0, chat.title)
                if chat.state != "here":
                    item.setData(0, _ID, chat.id)
                    item.setCheckState(0, Qt.CheckState.Checked)
                self.chats.addTopLevelItem(item)
            if len(plan.chats) > _MOST:
                self.chats.addTopLevelItem(
                    QTreeWidgetItem(
                        [
                            say("transfer.and-chats-further", chats=len(plan.chats) - _MOST),
                            "",
                            "",
                            "",
                        ]
                    )
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
            # also the chats beyond the lines of the list
            without |= {chat.id for chat in self._plan.chats[_MOST:]}
        return frozenset(without)

    def _show_chosen(self) -> None:
        """Show the number of chats to import."""
        if self._busy:
            return
        choices = self._choices()
        left = len(self.without)
        wanted = self._plan.count("new", "more", "trash") - left
        none = all(one.checkState(0) is Qt.CheckState.Unchecked for one in choices)
        state = Qt.CheckState.Unchecked if none else Qt.CheckState.PartiallyChecked
        self.all.setCheckState(state if left else Qt.CheckState.Checked)
        self.take.setText(say(self._with_count, count=wanted) if wanted else self._verb)
        self.take.setEnabled(wanted > 0 or self._plan.has_settings)

    def _on_all(self) -> None:
        """Choose all chats, or none if all were chosen."""
        on = self.all.checkState() is not Qt.CheckState.Unchecked
        self.all.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        with QSignalBlocker(self.chats):
            for one in self._choices():
                one.setCheckState(0, Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        self._show_chosen()

    def show_result(self, result: Result) -> None:
        """Show the imported chats."""
        self._rest()
        came = [say("transfer.new-chats", count=result.new)]
        if result.more:
            came.append(say("transfer.chats-with-new-messages", count=result.more))
        if result.restored:
            came.append(say("transfer.chats-from-trash", count=result.restored))
        code = "transfer.stopped-after" if result.stopped else "transfer.imported"
        self.summary.setText(say(code, came=came, messages=result.messages))
        self.hint.setText(say("transfer.import-same-file-again-to") if result.stopped else "")
        self.hint.setVisible(result.stopped)
        self._show_left_out(result)
        self._show_came(result)
        for widget in (self.take, self.settings, self.all):
            widget.hide()
        self.end.setText(say("transfer.close"))
        self._first = result.first
        self.open_it.setText(
            say("transfer.open")
            if result.new + result.restored == 1
            else say("transfer.open-first")
        )
        self.open_it.setVisible(bool(result.first))
        first = self.open_it if result.first else self.end
        first.setDefault(True)
        first.setFocus()

    def _show_came(self, result: Result) -> None:
        """Keep the lines of imported chats, and remove those of unwanted ones."""
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
                    item.setText(3, "" if result.stopped else say("transfer.imported-chat"))

    def show_problem(self, text: str) -> None:
        self._rest()
        self.summary.setText(text)
        self.hint.hide()
        self.take.setEnabled(False)
        self.end.setText(say("transfer.close"))

    def _show_left_out(self, of: ImportPlan | Result) -> None:
        report = of.report
        self.left_out.clear()
        for line in report.lines:
            item = QTreeWidgetItem([line.where, line.why.text])
            for column in range(2):
                item.setToolTip(column, item.text(column))
            self.left_out.addTopLevelItem(item)
        if report.left_out:
            self.left_out.addTopLevelItem(
                QTreeWidgetItem(
                    [say("transfer.and-left-out-further", left_out=report.left_out), ""]
                )
            )
        count = report.counts.total()
        self.tabs.setTabText(
            1, say("transfer.left-out-count", count=count) if count else say("transfer.left-out")
        )
        if count and not self.chats.topLevelItemCount():
            self.tabs.setCurrentWidget(self.left_out)

    def _rest(self) -> None:
        self._busy = self._importing = False
        self.bar.hide()

    # --- actions -------------------------------------------------------------------------

    def _on_take(self) -> None:
        self._busy = self._importing = True
        self.take.setEnabled(False)
        self.hint.setText(say("transfer.chats-imported-so-far-kept"))
        self.hint.show()
        self.bar.show()
        self.end.setText(say("transfer.stop"))
        self.all.setEnabled(False)
        self.taken.emit(self._paths, len(self._plan.chats), self.without)

    def _on_open(self) -> None:
        self.accept()
        self.chat_wanted.emit(self._first)

    def _on_end(self) -> None:
        if self._busy and self._importing:
            # the window stays, to show the imported chats
            self.cancelled.emit()
        else:
            self.reject()

    def reject(self) -> None:
        """Close the window, by Esc or its own button too, and cancel the work in progress."""
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
