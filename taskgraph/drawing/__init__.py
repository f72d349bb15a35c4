"""Drawings of task graphs: `lanes` for a terminal, `svg` for a page, with `text_width` to keep text in its
box."""
