"""The local web application: `server` and `application` serve `pages/`, `reviewing/` and `reports/`, with
templates and assets from `package_files`.

`website` is what every page needs, `version_switch` shows other versions, `local_only` refuses other
machines, `head_requests` answers HEAD, `memory` keeps answers for a while, `charts` draws bars,
`bounded_queries` limits time and memory of a question.
"""
