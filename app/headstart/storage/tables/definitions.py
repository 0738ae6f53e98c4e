"""The tables in SQLAlchemy: new databases are made from them, migrations/ updates older ones.

Messages form a tree: `parent_id` points up, `active_child_id` (and the chat's `active_root_id`)
selects the shown version below. Text ids are random, times are milliseconds (UTC).
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

metadata = MetaData()

chats = Table(
    "chats",
    metadata,
    Column("id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("titled_by_user", Boolean, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("updated_at", Integer, nullable=False),
    # set by delete, cleared by restore; the row is removed when the trash is swept
    Column("deleted_at", Integer),
    Column("model", Text),
    # ChatOptions as JSON: read whole, never searched
    Column("options", Text, nullable=False),
    Column("active_root_id", Text),
    # number of messages of the active branch; empty if unknown
    Column("shown", Integer),
    # from conversation files: folder names separated by slashes, and JSON kept for export
    Column("folder", Text),
    Column("extra", Text),
    # JSON: a list of names
    Column("tags", Text),
    Column("archived_at", Integer),
    # it has a reply that was not shown yet
    Column("unseen", Boolean),
    Index("ix_chats_updated_at", "updated_at"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", Text, primary_key=True),
    Column("chat_id", Text, ForeignKey("chats.id", ondelete="CASCADE"), nullable=False),
    Column("parent_id", Text, ForeignKey("messages.id", ondelete="CASCADE")),
    # order of creation within the chat; clocks can go back
    Column("position", Integer, nullable=False),
    Column("role", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", Integer, nullable=False),
    # the model that wrote it: its name; its server and key are in columns below
    Column("model", Text),
    Column("error", Text),
    Column("active_child_id", Text),
    Column("model_host", Text),
    Column("model_key", Text),
    # JSON kept for exported conversation files
    Column("extra", Text),
    Index("ix_messages_chat", "chat_id", "position"),
    Index("ix_messages_parent", "parent_id"),
    Index("ix_messages_status", "status"),
)

parts = Table(
    "parts",
    metadata,
    Column("message_id", Text, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    # run lengths by origin, JSON [[length, origin], ...]; the tint survives a restart
    Column("origins", Text, nullable=False),
    # digest of the text, see `rows.digest_of`: SQLite itself does not notice a changed byte
    Column("digest", Integer),
    # for a part beyond text: its other data, as JSON, and the blob that it needs
    Column("data", Text),
    Column("blob", Text),
    Index("ix_parts_blob", "blob"),
    Index("ix_parts_passages", "message_id", sqlite_where=text("kind = 'passage'")),
)

turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("message_id", Text, ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
    Column("ended_at", Integer, nullable=False),
    Column("finish", Text, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("reused_tokens", Integer, nullable=False),
    Column("read_seconds", Float, key="prefill_seconds", nullable=False),
    Column("first_token_seconds", Float),
    Column("generated_tokens", Integer, nullable=False),
    Column("generate_seconds", Float, nullable=False),
    Column("seed", Integer),
    # stats of speculation; empty if it was off, and before it existed
    Column("rounds", Integer),
    Column("draft_tested", Integer, key="draft_verified"),
    Column("draft_accepted", Integer),
    Column("repeat_tested", Integer, key="lookup_verified"),
    Column("repeat_accepted", Integer, key="lookup_accepted"),
    Column("plain_seconds", Float),
    # sources of reused tokens, the number of recomputed ones, and the reason
    Column("from_memory", Integer, nullable=False, server_default="0"),
    Column("from_disk", Integer, nullable=False, server_default="0"),
    Column("ahead", Integer, nullable=False, server_default="0"),
    Column("reread", Integer, key="recomputed", nullable=False, server_default="0"),
    Column("reread_reason", Text, nullable=False, server_default=""),
    # until the first token after the reasoning
    Column("reasoning_seconds", Float),
    Index("ix_turns_message", "message_id"),
)

# folders of chats with their own settings, or without chats; a path is names with slashes
folders = Table(
    "folders",
    metadata,
    Column("path", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    # ChatOptions as JSON
    Column("options", Text, nullable=False),
    Column("model", Text),
    # whether its chats are hidden in the list
    Column("folded", Boolean, nullable=False),
)

# unsent text of a chat, with its attachments
unsent = Table(
    "unsent",
    metadata,
    Column("chat_id", Text, primary_key=True),
    Column("text", Text, nullable=False),
    # JSON: rows of parts
    Column("parts", Text, nullable=False),
    # for a chat without messages: its settings, as JSON
    Column("begun", Text),
    Column("updated_at", Integer, nullable=False),
)

# measurements of a target (draft empty) or a pair on a device: costs, acceptance, gains
speed_profiles = Table(
    "speed_profiles",
    metadata,
    Column("target", Text, primary_key=True),
    Column("draft", Text, primary_key=True),
    Column("device", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("updated_at", Integer, nullable=False),
    # JSON in the engine's format: read as a whole, by the engine only
    Column("data", Text, nullable=False),
)

# one row for each file of KV state under prefixes/; the file's header holds the same data
prefix_records = Table(
    "prefix_records",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("parent", LargeBinary, nullable=False),
    Column("family", LargeBinary, key="namespace", nullable=False),
    Column("kind", Text, nullable=False),
    Column("start", Integer, nullable=False),
    Column("tokens", LargeBinary, nullable=False),
    Column("size", Integer, nullable=False),
    # a counter: clocks can go back
    Column("used", Integer, nullable=False),
)

# records that each chat needs; no foreign key to chats: a deleted chat is hidden first
prefix_uses = Table(
    "prefix_uses",
    metadata,
    Column("chat_id", Text, primary_key=True),
    Column(
        "key",
        LargeBinary,
        ForeignKey("prefix_records.key", ondelete="CASCADE"),
        primary_key=True,
    ),
    Index("ix_prefix_uses_key", "key"),
)

prefix_written = Table(
    "prefix_written",
    metadata,
    Column("day", Text, primary_key=True),
    Column("bytes", Integer, nullable=False),
)

# the parts of each chat's last prompt, to explain why tokens are recomputed
prefix_traces = Table(
    "prefix_traces",
    metadata,
    Column("chat_id", Text, ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    # JSON in the engine's format, with digests instead of text
    Column("data", Text, nullable=False),
)

# tokens of replies whose text would be tokenized differently
prefix_reply_tokens = Table(
    "prefix_spellings",
    metadata,
    Column("chat_id", Text, ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("tokens", LargeBinary, nullable=False),
)

# sessions of other programs, with the same for their prompts and replies
server_sessions = Table(
    "server_sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("program", Text, nullable=False),
    Column("used_at", Integer, nullable=False),
)

server_traces = Table(
    "server_traces",
    metadata,
    Column("chat_id", Text, ForeignKey("server_sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("data", Text, nullable=False),
)

server_reply_tokens = Table(
    "server_spellings",
    metadata,
    Column("chat_id", Text, ForeignKey("server_sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("tokens", LargeBinary, nullable=False),
)

# text streamed since the message was opened; removed once its parts are written
journal = Table(
    "journal",
    metadata,
    Column("message_id", Text, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("origins", Text, nullable=False),
)
