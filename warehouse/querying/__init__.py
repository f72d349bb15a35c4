"""Questions in SQL: `guard` admits what can only ask, `query_result` is the answer."""
