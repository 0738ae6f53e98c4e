"""Any JSON, with the keys of files that name tool servers."""

from __future__ import annotations

from hypothesis import strategies as st

json_of_entries = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("mcpServers", "servers", "command", "args", "env", "url", "mcp", "x")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
