"""The local web application: `server` serves `pages/`, `reviewing/` and `reports/`, with
templates and assets from `package_files`.

`website` is what every page needs, with answers kept for a while; `version_switch` shows other versions,
`charts` draws bars,
`bounded_queries` limits time and memory of a question.
"""
