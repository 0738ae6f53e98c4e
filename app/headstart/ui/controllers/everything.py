"""Every controller, created once."""

from __future__ import annotations

from msgspec import Struct

from headstart.chat.changes import ModelState, Trouble
from headstart.chat.services import Services
from headstart.ui.controllers.ahead import AheadController
from headstart.ui.controllers.attaching import AttachingController
from headstart.ui.controllers.backups import BackupsController
from headstart.ui.controllers.beginnings import BeginningsController
from headstart.ui.controllers.branch import BranchController
from headstart.ui.controllers.chat import ChatController
from headstart.ui.controllers.chat_list import ChatListController
from headstart.ui.controllers.consent import Consent
from headstart.ui.controllers.conversation import ConversationController
from headstart.ui.controllers.discover import DiscoverController
from headstart.ui.controllers.downloads import DownloadsController
from headstart.ui.controllers.finding import FindingController
from headstart.ui.controllers.folders import FoldersController
from headstart.ui.controllers.formats import FormatsController
from headstart.ui.controllers.getting import GettingController
from headstart.ui.controllers.installed import InstalledController
from headstart.ui.controllers.knowledge import KnowledgeController
from headstart.ui.controllers.model_list import ModelListController
from headstart.ui.controllers.models import ModelsController
from headstart.ui.controllers.outbox import OutboxController
from headstart.ui.controllers.pictures import PicturesController
from headstart.ui.controllers.prefixes import PrefixesController
from headstart.ui.controllers.queue import QueueController
from headstart.ui.controllers.reply import ReplyController
from headstart.ui.controllers.reporting import ReportingController
from headstart.ui.controllers.room import RoomController
from headstart.ui.controllers.server import ServerController
from headstart.ui.controllers.servers import ServersController
from headstart.ui.controllers.speculation import SpeculationController
from headstart.ui.controllers.tools import ToolsController
from headstart.ui.controllers.transfer import TransferController
from headstart.ui.controllers.unseen import UnseenController
from headstart.ui.controllers.unsent import UnsentController
from headstart.ui.controllers.updates import UpdatesController
from headstart.ui.controllers.versions import VersionsController
from headstart.ui.kit.tasks import Problems, Tasks
from headstart.ui.open_chat import OpenChat


class Controllers(Struct, frozen=True):
    open: OpenChat
    tasks: Tasks
    problems: Problems
    consent: Consent
    branch: BranchController
    chat: ChatController
    chat_list: ChatListController
    conversation: ConversationController
    queue: QueueController
    versions: VersionsController
    finding: FindingController
    unsent: UnsentController
    attaching: AttachingController
    pictures: PicturesController
    folders: FoldersController
    unseen: UnseenController
    formats: FormatsController
    reply: ReplyController
    models: ModelsController
    model_list: ModelListController
    servers: ServersController
    speculation: SpeculationController
    prefixes: PrefixesController
    ahead: AheadController
    discover: DiscoverController
    getting: GettingController
    downloads: DownloadsController
    installed: InstalledController
    transfer: TransferController
    backups: BackupsController
    updates: UpdatesController
    reporting: ReportingController
    tools: ToolsController
    knowledge: KnowledgeController
    server: ServerController
    beginnings: BeginningsController
    outbox: OutboxController
    room: RoomController

    def start(self) -> None:
        """Fill the window for the first time."""
        self.folders.list()
        self.chat_list.list()
        self.branch.new_chat()
        self.models.show()
        self.speculation.list()
        self.prefixes.list()

    def wake(self) -> None:
        """Do the deferred work, now that the list of chats is shown."""
        self.speculation.wake()
        self.downloads.wake()
        self.installed.look()
        self.chat_list.watch()
        self.updates.wake()
        self.knowledge.list()
        self.beginnings.show()

    async def settle(self, seconds: float = 30) -> None:
        """Wait for all requested work, up to `seconds`; at the end, and in tests."""
        await self.tasks.settle(seconds)


def make_controllers(services: Services) -> Controllers:
    problems = Problems()
    tasks = Tasks(problems.show)
    broadcast, local = services.broadcast, services.local
    open_chat = OpenChat(services.chat_list)
    chat = ChatController(services.choices, open_chat, tasks)
    consent = Consent(services.servers, chat, tasks)
    # the list is told of changes first: it has the least to do
    chat_list = ChatListController(services.chat_list, services.replies, tasks, broadcast)
    branch = BranchController(services.branches, services.replies, open_chat, tasks, broadcast)
    reply = ReplyController(services.replies, open_chat, broadcast, services.tools)
    chat_list.deleted.connect(lambda chat_ids, _title: branch.leave(chat_ids))
    chat_list.closed.connect(branch.leave)
    chat_list.restored.connect(branch.come_back)
    branch.shown.connect(reply.show)
    branch.message_shown.connect(reply.end)
    broadcast.on(Trouble, lambda trouble: problems.show(trouble.told.message, trouble.told.remedy))
    broadcast.on(ModelState, lambda state: problems.show(state.problem or "", ""))
    talk = services.conversation, services.replies, services.branches
    return Controllers(
        open=open_chat,
        tasks=tasks,
        problems=problems,
        consent=consent,
        branch=branch,
        chat=chat,
        transfer=TransferController(services.importing, services.exporting, tasks),
        backups=BackupsController(services.backups, tasks),
        chat_list=chat_list,
        conversation=ConversationController(*talk[:2], local.ahead, open_chat, consent),
        queue=QueueController(talk, open_chat, consent, tasks, broadcast),
        versions=VersionsController(
            services.versions, services.conversation, services.replies, open_chat, consent
        ),
        folders=FoldersController(services.folders, services.chat_list, tasks, broadcast),
        unseen=UnseenController(services.chat_list, open_chat, tasks, broadcast),
        formats=FormatsController(tasks),
        unsent=UnsentController(services.unsent, open_chat, tasks),
        attaching=AttachingController(services.attaching, open_chat, tasks, broadcast),
        pictures=PicturesController(services.attaching, open_chat, tasks),
        finding=FindingController(services.finding, open_chat, tasks, broadcast),
        reply=reply,
        models=ModelsController(services.chat_models, open_chat, consent, tasks, broadcast),
        model_list=ModelListController(services.listing, open_chat, tasks, broadcast),
        servers=ServersController(services.servers, local.preload, tasks),
        speculation=SpeculationController(
            local.drafts, local.calibrating, open_chat, tasks, broadcast
        ),
        prefixes=PrefixesController(services.prefixes, open_chat, tasks, broadcast),
        ahead=AheadController(local.preload, local.ahead, open_chat, tasks, broadcast),
        discover=DiscoverController(services.discover, tasks, problems),
        getting=GettingController(services.discover, services.downloads, tasks),
        updates=UpdatesController(services.updates, tasks),
        reporting=ReportingController(services.reporting, tasks),
        tools=ToolsController(services.tools, services.attaching, open_chat, tasks, broadcast),
        knowledge=KnowledgeController(services.knowledge, open_chat, tasks, broadcast),
        server=ServerController(services.serving, tasks, broadcast),
        beginnings=BeginningsController(services.beginnings, broadcast),
        outbox=OutboxController(services.outbox, tasks, broadcast),
        room=RoomController(services.rooms, open_chat, chat, tasks, broadcast),
        downloads=DownloadsController(services.downloads, tasks, broadcast),
        installed=InstalledController(services.installed, local.loader, tasks, problems, broadcast),
    )
