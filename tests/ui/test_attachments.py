"""Files in messages: attached, counted, chosen from, sent, kept, and shown."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QImage

from headstart.assembly import App
from headstart.chat.attaching import choose
from headstart.core.chats.attachments import Extracted, Unit
from headstart.core.chats.parts import BlobRef, FilePart, ImagePart
from headstart.core.chats.prompt_words import label, prompt_text
from headstart.core.chats.values import Message, MessageStatus
from headstart.core.settings.schema import EngineSettings, changed
from headstart.exchange.own_format import SUFFIX
from headstart.ui.composer.attachments import Chip
from tests.conftest import OpenApp, until
from tests.support.documents import pdf, png
from tests.support.driver import ask, branch, reply_done, stored_chat, use_sampling
from tests.support.plain import plain
from tests.ui.test_searching import search, store
from tests.ui.test_unsent import loaded

STORY = "The river {number} begins in the hills and ends in the sea. " * 8


def chips(app: App) -> list[Chip]:
    return list(app.window.composer.attachments.chips.values())


def names(app: App) -> list[str]:
    return [chip.attachment.name for chip in chips(app)]


def facts(app: App) -> str:
    """Facts of the first attachment."""
    return plain(chips(app)[0].attachment.facts)


async def attach(app: App, *paths: Path) -> None:
    before = len(chips(app))
    app.window.open_files([str(path) for path in paths])
    await until(lambda: len(chips(app)) == before + len(paths))
    await until(lambda: app.window.composer.attachments.ready)


async def send(app: App) -> Message:
    """Press Send on what stands in the composer; returns the whole reply."""
    app.window.composer.button.click()
    await until(lambda: app.controllers.reply.writing or app.window.banner.isVisible())
    return await reply_done(app)


def file(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def report(folder: Path, pages: int = 6) -> Path:
    return file(folder, "report.pdf", pdf([STORY.format(number=n) for n in range(pages)]))


@pytest.mark.words
async def test_a_file_is_attached_and_its_text_reaches_the_model(
    running: OpenApp, tmp_path: Path
) -> None:
    async with running() as app:
        use_sampling(app)
        await attach(app, file(tmp_path, "rivers.csv", b"river,km\nNile,6650\n"))
        assert app.window.composer.button.isEnabled()
        reply = await ask(app, "How long is it?")
        assert reply.status is MessageStatus.COMPLETE
        question = (await branch(app))[0]
        part = question.parts[0]
        assert isinstance(part, FilePart)
        assert part.text == "river,km\nNile,6650\n"
        assert part.blob.media_type == "text/csv"
        assert question.text == "How long is it?"
        assert chips(app) == []
        # the model got it before the question
        assert reply.stats is not None
        assert reply.stats.prompt_tokens > 40
        box = app.window.transcript.column.widget(
            app.window.transcript.column.items[0]
        ).boxes.boxes[0]
        assert "rivers.csv" in box.accessibleName()


async def test_files_alone_can_be_sent(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        use_sampling(app)
        await attach(app, file(tmp_path, "song.txt", "A song of the sea".encode("utf-16")))
        await send(app)
        chat = stored_chat(app)
        assert chat is not None
        assert app.window.sidebar.model.index_of(chat).data() == "song.txt"


async def test_tokens_are_counted_before_anything_is_sent(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        use_sampling(app)
        await attach(app, report(tmp_path))
        # its model is loaded, and what fits is known
        await until(lambda: chips(app)[0].attachment.tokens > 0)
        tokens = chips(app)[0].attachment.tokens
        assert "6 pages" in facts(app)
        assert f"{tokens:,} tokens" in facts(app)
        await until(lambda: app.window.composer.context.used > tokens)
        shown = app.window.composer.context.used
        app.window.composer.edit.setPlainText("What is said of the rivers, in a few words?")
        reply = await send(app)
        assert reply.stats is not None
        # what was counted is what was read
        assert abs(reply.stats.prompt_tokens - shown - 10) < 8


async def test_what_does_not_fit_is_chosen_from_before_it_is_sent(
    running: OpenApp, tmp_path: Path
) -> None:
    async with running() as app:
        use_sampling(app)
        preferences = app.services.preferences
        preferences.update(engine=changed(EngineSettings(), context_length=1024))
        await attach(app, report(tmp_path, 20))
        await until(lambda: app.controllers.attaching.too_large)
        assert "too many" in plain(app.window.composer.context.text)
        app.window.composer.edit.setPlainText("What is it about?")
        app.window.composer.button.click()
        await until(lambda: app.window.attachments.pages is not None)
        window = app.window.attachments.pages
        assert window is not None
        assert window.ticked == list(range(1, 21))
        window.fitting.click()
        assert 1 <= len(window.ticked) < 20
        kept = window.ticked
        window.use.click()
        await until(lambda: not app.controllers.attaching.too_large)
        await until(lambda: app.controllers.attaching.shown[0].tokens > 0)
        assert not app.controllers.attaching.too_large
        await send(app)
        part = (await branch(app))[0].parts[0]
        assert isinstance(part, FilePart)
        assert part.pages == 20
        assert part.chosen == f"1–{len(kept)}"
        assert f"[Pages {len(kept) + 1}–20 of 20 are left out]" in part.text


async def test_pages_are_found_by_their_words_and_numbers(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        await attach(app, report(tmp_path))
        app.window.composer.attachments.opened.emit(chips(app)[0].attachment.id)
        await until(lambda: app.window.attachments.pages is not None)
        window = app.window.attachments.pages
        assert window is not None
        window.search.setText("RIVER 4")
        rows = [window.list.topLevelItem(row) for row in range(6)]
        assert [row.isHidden() for row in rows] == [True] * 4 + [False, True]
        window.numbers.setText("2-3, 5")
        window.numbers.textEdited.emit("2-3, 5")
        assert window.ticked == [2, 3, 5]
        window.use.click()
        part = chips(app)[0].attachment.part
        assert isinstance(part, FilePart)
        assert part.chosen == "2–3, 5"
        assert "pages 2–3, 5 of 6" in facts(app)


async def test_attachments_are_there_after_a_restart_and_their_files_too(
    running: OpenApp, tmp_path: Path
) -> None:
    async with running() as app:
        chat, _ = await store(app, "Rivers", "Name a river")
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        await attach(app, report(tmp_path), file(tmp_path, "a.png", png()))
    async with running() as app:
        await loaded(app, show=False)
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        assert names(app) == ["report.pdf", "a.png"]
        # the file can be read again
        app.window.composer.attachments.opened.emit(chips(app)[0].attachment.id)
        await until(lambda: app.window.attachments.pages is not None)
        assert app.window.attachments.pages is not None
        app.window.attachments.pages.reject()
        chips(app)[1].cross.click()
        assert names(app) == ["report.pdf"]
        # another chat has nothing of it
        app.window.new_chat()
        assert names(app) == []


async def test_of_a_private_chat_no_file_is_kept(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        use_sampling(app)
        app.window.new_private_chat()
        await attach(app, file(tmp_path, "secret.txt", b"The password is Rumpelstiltskin."))
        await send(app)
        app.controllers.unsent.flush()
        await app.controllers.settle()
        home = app.home.path
    found = [path for path in home.rglob("*") if path.is_file()]
    assert found
    assert not any(b"Rumpelstiltskin" in path.read_bytes() for path in found)


async def test_images_are_kept_and_shown_and_a_model_that_sees_none_is_told_of(
    running: OpenApp, tmp_path: Path
) -> None:
    async with running() as app:
        use_sampling(app)
        await attach(app, file(tmp_path, "flag.png", png(640, 480)))
        assert "640 × 480" in facts(app)
        app.window.composer.edit.setPlainText("What is on it?")
        await send(app)
        part = (await branch(app))[0].parts[0]
        assert isinstance(part, ImagePart)
        assert "does not see images" in plain(app.window.banner.text())
        widget = app.window.transcript.column.widget(app.window.transcript.column.items[0])
        picture = widget.boxes.boxes[0]
        assert (picture.width(), picture.height()) == (320, 240)
        await until(lambda: _has_colour(picture.grab().toImage(), 0x336699))
        app.window.transcript.host.open_part(part)
        await until(lambda: app.window.attachments.window is not None)
        window = app.window.attachments.window
        assert window is not None
        await until(lambda: not window.picture.pixmap().isNull())


def _has_colour(image: QImage, colour: int) -> bool:
    return (image.pixel(image.width() // 2, image.height() // 2) & 0xFFFFFF) == colour


async def test_a_picture_and_files_are_pasted(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        image = QImage(30, 20, QImage.Format.Format_RGB32)
        image.fill(0xFF0000)
        pasted = QMimeData()
        pasted.setImageData(image)
        app.window.composer.edit.insertFromMimeData(pasted)
        await until(lambda: names(app) == ["Pasted image.png"])
        copied = QMimeData()
        copied.setUrls([QUrl.fromLocalFile(str(file(tmp_path, "a.py", b"print(1)\n")))])
        app.window.composer.edit.insertFromMimeData(copied)
        await until(lambda: "a.py" in names(app))
        assert app.window.composer.text() == ""


async def test_conversations_are_imported_and_other_files_attached(
    running: OpenApp, tmp_path: Path
) -> None:
    async with running() as app:
        chat = b'[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]'
        talk = file(tmp_path, f"talk{SUFFIX}", chat)
        other = file(tmp_path, "talk.json", chat)
        notes = file(tmp_path, "notes.json", b'{"rivers": ["Nile"]}')
        app.window.open_files([str(talk), str(other), str(notes)])
        await until(lambda: names(app) == ["notes.json"])
        await until(lambda: app.window.transfer.importing is not None)
        assert app.window.transfer.importing is not None
        app.window.transfer.importing.close()


def workbook() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("xl/workbook.xml", "x")
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("sheet.xlsx", workbook(), "spreadsheet"),
        ("noise.dat", bytes(range(256)) * 20, "neither text nor an image"),
        ("broken.pdf", b"%PDF-1.4 nothing", "damaged"),
    ],
)
async def test_what_cannot_be_attached_says_why_and_nothing_else_is_lost(
    running: OpenApp, tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    async with running() as app:
        app.window.composer.edit.setPlainText("A question")
        app.window.open_files([str(file(tmp_path, name, data))])
        await until(lambda: said in plain(app.window.banner.text()))
        assert name in app.window.banner.text()
        assert app.window.composer.text() == "A question"
        assert names(app) == []
        await app.controllers.settle()


async def test_a_file_is_found_by_what_it_says_and_read_ahead(
    running: OpenApp, tmp_path: Path
) -> None:
    async with running() as app:
        use_sampling(app)
        await attach(app, file(tmp_path, "notes.txt", b"The quincunx is a pattern. " * 40))
        # it is prefilled while nothing is typed yet
        await until(lambda: not app.window.composer.ahead.isHidden())
        app.window.composer.edit.setPlainText("What is it?")
        reply = await send(app)
        assert reply.stats is not None
        assert reply.stats.reused_tokens > 200
        found = await search(app, "quincunx")
        assert any(row.message is not None for row in found)


def test_a_message_with_pages_says_which() -> None:
    found = Extracted("application/pdf", Unit.PAGE, ("one", "two", "three"))
    part = FilePart("a.pdf", BlobRef("0" * 64, 2_000, "application/pdf"), found.text, 3, "page")
    chosen = choose(part, found, [2])
    assert label(chosen) == "File a.pdf (2 kB), pages 2 of 3"
    assert prompt_text([chosen]).startswith("[File a.pdf (2 kB), pages 2 of 3]\n[Page 1 of 3")
    assert choose(chosen, found, [1, 2, 3]) == part


async def test_an_encoding_that_is_not_certain_is_shown_and_can_be_changed(
    running: OpenApp, tmp_path: Path
) -> None:
    turkish = "Işık söndü."
    async with running() as app:
        await attach(
            app,
            file(tmp_path, "certain.txt", turkish.encode()),
            file(tmp_path, "light.txt", turkish.encode("cp1254")),
        )
        certain, light = chips(app)
        assert certain.encoding.isHidden()
        assert not light.encoding.isHidden()
        assert light.encoding.text() == "Windows-1254"
        assert plain(light.encoding.accessibleName()) == "Encoding of light.txt: Windows-1254"
        assert isinstance(light.attachment.part, FilePart)
        assert light.attachment.part.text == turkish

        def choose_encoding(name: str) -> None:
            (action,) = [one for one in light.encoding.menu().actions() if one.data() == name]
            action.trigger()

        choose_encoding("Windows-1252")
        await until(lambda: light.encoding.text() == "Windows-1252")
        assert [one.name for one in app.controllers.open.parts] == ["certain.txt", "light.txt"]
        assert light.attachment.part.text == "Iþýk söndü."
        choose_encoding("Windows-1254")
        await until(lambda: light.encoding.text() == "Windows-1254")
        # it is as it was in the message, and after a restart
        use_sampling(app)
        await send(app)
        part = (await branch(app))[0].parts[1]
        assert isinstance(part, FilePart)
        assert (part.text, part.encoding) == (turkish, "Windows-1254")


async def test_parts_of_a_text_in_a_chosen_encoding_are_read_in_it(
    running: OpenApp, tmp_path: Path
) -> None:
    text = "A café opens early in the morning.\n" + "Then nothing happens for long.\n" * 400
    async with running() as app:
        await attach(app, file(tmp_path, "long.txt", text.encode("cp1252")))
        (chip,) = chips(app)
        (greek,) = [one for one in chip.encoding.menu().actions() if one.data() == "Windows-1253"]
        greek.trigger()
        await until(lambda: chip.encoding.text() == "Windows-1253")
        read: list[Extracted] = []
        app.controllers.attaching.pages_read.connect(lambda _id, found: read.append(found))
        app.controllers.attaching.read_pages(chip.attachment.id)
        await until(lambda: read)
        assert isinstance(chip.attachment.part, FilePart)
        assert "".join(read[0].pages) == chip.attachment.part.text
        assert chip.attachment.part.text.startswith("A cafι opens")
