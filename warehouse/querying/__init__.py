"""Questions in SQL: `guard` admits what can only ask, `bounded` limits time and memory, `query_result` is the answer."""
