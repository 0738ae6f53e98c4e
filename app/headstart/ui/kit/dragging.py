"""Chats and folders as MIME data, while they are dragged inside the window."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import QMimeData

# ids of chats, or the path of a folder
CHATS, FOLDER_PATH = "application/x-headstart-chats", "application/x-headstart-folder"


def chats_as_mime(chat_ids: Sequence[str]) -> QMimeData:
    data = QMimeData()
    data.setData(CHATS, json.dumps(list(chat_ids)).encode())
    return data


def folder_as_mime(path: str) -> QMimeData:
    data = QMimeData()
    data.setData(FOLDER_PATH, path.encode())
    return data


def dropped_chats(data: QMimeData) -> list[str]:
    return list(json.loads(bytes(data.data(CHATS).data()))) if data.hasFormat(CHATS) else []


def dropped_folder(data: QMimeData) -> str:
    return bytes(data.data(FOLDER_PATH).data()).decode() if data.hasFormat(FOLDER_PATH) else ""
