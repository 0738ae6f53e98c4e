"""Knowledge: the folders and files that questions are answered from, and their index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QWidget

from headstart.core.knowledge.values import SourceState
from headstart.core.settings.schema import Settings
from headstart.ui.kit.asking import DangerQuestion, Question
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.flow import in_lines
from headstart.ui.kit.switch import Switch
from headstart.ui.settings.form import Page
from headstart.ui.settings.knowledge_list import SourceRow, SourceRows
from headstart.ui.wording import say


class KnowledgePage(Page):
    """Emits paths of sources to add (and True once a large folder was agreed to) and to remove."""

    add_requested = Signal(str, bool)
    remove_requested = Signal(str)
    begin_requested = Signal(str)
    rebuild_requested = Signal()
    look_requested = Signal()
    models_wanted = Signal()
    small_model_wanted = Signal()
    search_wanted = Signal()
    guide_wanted = Signal()

    def __init__(self, settings: Settings, tell: Callable[..., None], parent: QWidget) -> None:
        super().__init__(say("settings.knowledge"), settings, parent)
        self._tell = tell
        self._build_sources()
        self._build_meaning()
        section = self.section(say("settings.index"))
        self.rebuild = QPushButton(say("settings.make-again"), self)
        self.rebuild.setAutoDefault(False)
        self.rebuild.clicked.connect(self._ask_rebuild)
        self._index = section.row(say("settings.index-size"), self.rebuild, "")
        more = QPushButton(say("settings.more-about-knowledge"), self)
        more.setAutoDefault(False)
        more.clicked.connect(self.guide_wanted)
        line = QHBoxLayout()
        line.addWidget(more)
        line.addStretch(1)
        section.wide(line)
        self.setAcceptDrops(True)
        self.finish()
        self.show_index("", 0, ())

    def _build_sources(self) -> None:
        section = self.section(say("settings.sources"), say("settings.about-sources"))
        self.sources = SourceRows(self)
        self.sources.row_made.connect(self._connect_row)
        self.add_folder = QPushButton(say("settings.add-folder-ellipsis"), self)
        self.add_folder.clicked.connect(lambda: self._choose(QFileDialog.FileMode.Directory))
        self.add_files = QPushButton(say("settings.add-files-ellipsis"), self)
        self.add_files.clicked.connect(lambda: self._choose(QFileDialog.FileMode.ExistingFiles))
        self.search = QPushButton(say("settings.search-files-ellipsis"), self)
        self.search.clicked.connect(self.search_wanted)
        buttons = self.add_folder, self.add_files, self.search
        for button in buttons:
            button.setAutoDefault(False)
        line = in_lines(self, *buttons)
        section.wide(self.sources, line, title=say("settings.searched-files"))

    def _build_meaning(self) -> None:
        section = self.section(say("settings.meaning"), say("settings.about-meaning"))
        self.meaning = Switch(say("settings.compare-meanings"), self)
        self.meaning.setChecked(self.settings.knowledge.meaning)
        self.meaning.toggled.connect(self.by_user(self._set_meaning))
        self.watch(self.meaning, lambda settings: settings.knowledge.meaning)
        self._meaning = section.row(say("settings.compare-meanings"), self.meaning, "")
        self.find_model = QPushButton(say("settings.find-embedder"), self)
        self.find_model.setAutoDefault(False)
        self.find_model.clicked.connect(self.models_wanted)
        self.small_model = QPushButton(say("settings.small-embedder"), self)
        self.small_model.setAutoDefault(False)
        self.small_model.clicked.connect(self.small_model_wanted)
        self._find = section.wide(in_lines(self, self.small_model, self.find_model))

    # --- what the index has ------------------------------------------------------------------

    def show_index(self, embedder: str, size: int, sources: Sequence[SourceState]) -> None:
        """Show the sources; `embedder`: the model that compares meanings, "" without one; `size`:
        bytes of the index."""
        self.sources.show_sources(sources)
        self._index.set_about(say("settings.index-has", size=size))
        self.rebuild.setEnabled(bool(sources))
        self.search.setEnabled(bool(sources))
        on = self.settings.knowledge.meaning
        pieces = sum(one.pieces for one in sources)
        share = sum(one.meant for one in sources) / pieces if pieces else 0.0
        if not on:
            about = say("settings.meaning-off")
        elif not embedder and sources:
            about = say("settings.meaning-missing")
        elif not embedder:
            about = say("settings.meaning-later")
        else:
            about = say("settings.meaning-share", model=embedder, share=share)
        self._meaning.set_about(about)
        self._find.setVisible(on and not embedder)

    def ask_about_large(self, path: str, files: int, size: int) -> None:
        """Ask before a large folder is read."""
        Question(
            self,
            say("settings.large-folder", files=files, size=size),
            path,
            say("settings.add-it"),
        ).ask(lambda: self.add_requested.emit(path, True))

    # --- inside ------------------------------------------------------------------------------

    def _connect_row(self, row: SourceRow) -> None:
        row.removed.connect(self._ask_remove)
        row.begun.connect(self.begin_requested)

    def _choose(self, mode: QFileDialog.FileMode) -> None:
        folder = mode is QFileDialog.FileMode.Directory
        code = "settings.choose-source-folder" if folder else "settings.choose-source-files"
        dialog = file_dialog(self, say(code), "")
        dialog.setFileMode(mode)
        dialog.filesSelected.connect(self._add)
        dialog.open()

    def _add(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.add_requested.emit(path, False)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self._add(paths)

    def _ask_remove(self, source: str) -> None:
        DangerQuestion(
            self,
            say("settings.remove-source", source=source),
            say("settings.files-stay"),
            say("settings.remove"),
        ).ask(lambda: self.remove_requested.emit(source))

    def _ask_rebuild(self) -> None:
        Question(
            self,
            say("settings.make-index-again"),
            say("settings.about-making-again"),
            say("settings.make-again"),
        ).ask(self.rebuild_requested.emit)

    def _set_meaning(self, on: object) -> None:
        self._tell(knowledge=replace(self.settings.knowledge, meaning=bool(on)))
