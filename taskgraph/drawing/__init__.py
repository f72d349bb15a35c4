"""Drawings of task graphs: `lanes` for a terminal, `svg` for a page."""
