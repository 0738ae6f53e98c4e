"""The program's services, by subject: made once, and passed to their callers.

The window knows no layer below. On the event loop's thread.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec import Struct

from headstart.chat.agent.tools import ToolWork, make_tools
from headstart.chat.answering.answerer import Answering
from headstart.chat.answering.images import ChatImages
from headstart.chat.answering.local import ModelSources
from headstart.chat.answering.local_models import LocalModels, make_local_models
from headstart.chat.answering.room import Rooms
from headstart.chat.answering.server_drafts import ServerDrafts
from headstart.chat.answering.servers import ServerAnswerer
from headstart.chat.attaching import Attaching
from headstart.chat.awake import Awake, make_awake
from headstart.chat.background import Background
from headstart.chat.beginnings import Beginnings
from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.chat_list import ChatList
from headstart.chat.chat_models import ChatModels, ModelListing
from headstart.chat.choices import Choices
from headstart.chat.conversation import Conversation
from headstart.chat.databases import Databases
from headstart.chat.finding import Finding
from headstart.chat.folders import Folders
from headstart.chat.knowledge.making import KnowledgeWork, make_knowledge
from headstart.chat.library.discover import Discover
from headstart.chat.library.downloads import Downloads
from headstart.chat.library.hub import Hub
from headstart.chat.library.installed import Installed
from headstart.chat.models import Models
from headstart.chat.outbox import Outbox
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.chat.replies import Replies
from headstart.chat.reporting import Reporting
from headstart.chat.servers import Servers
from headstart.chat.serving.office import Door
from headstart.chat.serving.serving import Serving, make_serving
from headstart.chat.tool_servers.entries import ToolEntries
from headstart.chat.tool_servers.making import make_tool_servers
from headstart.chat.transfer.backup import Backups, Places
from headstart.chat.transfer.exporting import Exporting
from headstart.chat.transfer.importing import Importing
from headstart.chat.transfer.mirror import Mirror
from headstart.chat.unsent import UnsentTexts
from headstart.chat.updates import Updates
from headstart.chat.versions import Versions
from headstart.core.beginnings import BegunNotes
from headstart.engine.prefix.controls import PrefixControls
from headstart.engine.remote.session import RemoteSession
from headstart.engine.runner import Runner
from headstart.hub.shelf import Shelf
from headstart.hub.sources import ModelFolder, ModelSource, default_places
from headstart.storage.adapters.keychain import Keychain
from headstart.storage.worker import Storage

# seconds for stopped replies to be stored
STOP_SECONDS = 3.0


class Services(Struct, frozen=True):
    preferences: Preferences
    broadcast: Broadcast
    branches: Branches
    chat_list: ChatList
    choices: Choices
    finding: Finding
    tools: ToolWork
    knowledge: KnowledgeWork
    folders: Folders
    versions: Versions
    unsent: UnsentTexts
    attaching: Attaching
    conversation: Conversation
    replies: Replies
    exporting: Exporting
    importing: Importing
    mirror: Mirror
    backups: Backups
    models: Models
    chat_models: ChatModels
    listing: ModelListing
    servers: Servers
    local: LocalModels
    rooms: Rooms
    prefixes: Prefixes
    installed: Installed
    discover: Discover
    downloads: Downloads
    updates: Updates
    reporting: Reporting
    serving: Serving
    beginnings: Beginnings
    outbox: Outbox
    awake: Awake
    ending: Ending


class Ending:
    """The end of the program: replies are stopped and stored, then the threads end."""

    def __init__(
        self, databases: Databases, background: Background, runner: Runner, session: RemoteSession
    ) -> None:
        self._databases = databases
        self._background = background
        self._runner = runner
        self._session = session

    async def close(self, services: Services) -> None:
        """Stop and store all replies, then end the engine."""
        self._background.closing = True
        services.beginnings.hurry()
        await services.serving.close()
        services.local.close()
        services.awake.close()
        services.servers.close()
        await services.downloads.close()
        await services.chat_list.end_undo()
        await services.replies.stop_all()
        await services.tools.servers.running.close()
        await services.knowledge.close()
        await services.mirror.write_now()
        await self._background.close(STOP_SECONDS)
        await services.preferences.settle()
        await self._databases.outbox.close()
        await asyncio.to_thread(self._runner.close)
        await asyncio.to_thread(self._session.close)
        await services.beginnings.close()

    async def close_private(self) -> None:
        """Close the database of private chats, once unused."""
        await self._databases.close()


class ModelLocations(Struct, frozen=True):
    """Sources and locations of models, and other paths; None: not kept on disk."""

    hub: Hub
    # the files with the list of models and of downloads
    known: Path | None = None
    book: Path | None = None
    # the folder to unpack imports in, and the paths a backup covers
    scratch: Path | None = None
    places: Places | None = None
    log: Path | None = None
    # the server for other programs
    door: Door | None = None
    # the folder with the lists of tool servers
    tools: Path | None = None
    # the index of the user's files
    knowledge: Path | None = None
    # notes of what begins by itself
    beginnings: BegunNotes | None = None

    def shelf(self, preferences: Preferences) -> Shelf:
        def places() -> list[ModelFolder]:
            settings = preferences.current
            own = [
                ModelFolder(ModelSource.FOLDER, Path(folder)) for folder in settings.library.folders
            ]
            cache = self.hub.cache
            if settings.library.other_programs:
                return [*own, *default_places(cache)]
            # always included: this program's downloads are in it
            return [*own, ModelFolder(ModelSource.HUGGING_FACE, cache)]

        return Shelf(self.known, places)


def make_services(
    storage: Storage,
    runner: Runner,
    preferences: Preferences,
    keychain: Keychain,
    prefix_controls: PrefixControls | None = None,
    weights: ModelLocations | None = None,
) -> Services:
    """Make all services; no KV is kept without `prefix_controls`."""
    weights = weights or ModelLocations(Hub(keychain, preferences))
    broadcast = Broadcast()
    background = Background(Beginnings(weights.beginnings, broadcast, preferences.current))
    outbox = Outbox(background, broadcast)
    preferences.keep_with(outbox.keep)
    databases = Databases(storage, broadcast, outbox)
    branches = Branches(databases, broadcast)
    replies = Replies(databases, branches, broadcast, background)
    session = RemoteSession(keychain.get)
    servers = Servers(preferences, keychain, session)
    shelf = weights.shelf(preferences)
    models = Models(preferences, servers, shelf)
    prefixes = Prefixes(prefix_controls, preferences, broadcast, storage, runner.wake)
    parts = storage, prefixes, preferences, broadcast, background
    entries = ToolEntries(preferences, keychain, background.beginnings)
    lent = make_tool_servers(preferences, entries, broadcast, databases, weights.tools)
    engine = runner, lambda: local.loader.contexts, prefixes
    knowledge = make_knowledge(weights.knowledge, models, (databases, branches), parts[2:], engine)
    sources = ModelSources(models, ChatImages(databases), lent.lending.specs, knowledge.documents)
    local: LocalModels = make_local_models(runner, sources, branches, *parts[2:])
    exporting = Exporting(databases, replies.reply_in, shelf, preferences)
    installed = Installed(shelf, storage, preferences, broadcast)
    drafts = ServerDrafts(runner, local.loader, models, preferences, broadcast)
    remote = ServerAnswerer(session, servers, preferences, sources.images, drafts)
    finding = Finding(databases, background, broadcast)
    finds, answers = (finding, knowledge.tools), (models, local.answerer)
    tools = make_tools(databases, finds, preferences, branches, answers, lent)
    answering = Answering(models, local.answerer, remote, tools.desk, knowledge)
    downloads = Downloads(weights.hub, weights.book, preferences, broadcast, background)
    choices = Choices(databases, answering, preferences, prefixes)
    chat_models = ChatModels(branches, choices, models, local.preload, broadcast)
    return Services(
        preferences=preferences,
        broadcast=broadcast,
        branches=branches,
        chat_list=ChatList(databases, replies, prefixes, preferences, background),
        choices=choices,
        finding=finding,
        tools=tools,
        knowledge=knowledge,
        folders=Folders(databases, broadcast),
        unsent=UnsentTexts(databases),
        attaching=lent.attaching,
        versions=Versions(databases, branches, replies, broadcast),
        conversation=Conversation(databases, branches, replies, answering, broadcast),
        replies=replies,
        exporting=exporting,
        importing=Importing(storage, shelf, preferences, broadcast, weights.scratch),
        mirror=Mirror(databases, exporting, preferences, broadcast, background),
        backups=Backups(storage, weights.places, preferences, broadcast),
        models=models,
        chat_models=chat_models,
        installed=installed,
        listing=ModelListing(installed, servers, chat_models),
        servers=servers,
        local=local,
        rooms=Rooms(local, models, branches, knowledge.documents, preferences),
        prefixes=prefixes,
        discover=Discover(weights.hub, models, preferences),
        downloads=downloads,
        updates=Updates(preferences),
        reporting=Reporting(weights.log, preferences),
        serving=make_serving(weights.door, runner, keychain, (models, local), parts),
        beginnings=background.beginnings,
        outbox=outbox,
        awake=make_awake(replies, local.loader, downloads, broadcast, background),
        ending=Ending(databases, background, runner, session),
    )
