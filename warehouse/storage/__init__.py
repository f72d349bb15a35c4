"""How records are stored.

database, locations         connections, writers in turn; locations and access to them
rows                        records to rows and back
evolution, known_schema     new columns in tables that exist, and whether all are there
object_storage              screenshots in folders and S3
extensions                  DuckDB's extensions, quoting in its SQL
"""
