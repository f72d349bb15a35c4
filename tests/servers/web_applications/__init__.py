"""Small web applications that no catalogue knows, in the layout of real ones; `catalogue` writes their
entries."""
