"""What is kept, and every way to ask for it.

`schema` derives the tables from the records, `store` reads and writes them, `versions` publishes. `storage/` is DuckLake
underneath. `queries/` and `views/` are SQL files. `exports/<name>` and `imports/<name>` are formats, `exporting/` and
`importing/` what these share. `sets/` divides and draws. `viewer/` is the local web application.
"""
