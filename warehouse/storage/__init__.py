"""How records are stored.

database, locations, locking           connections, places, writers in turn
rows                                   records to rows and back
evolution, known_schema                new columns in tables that exist, and whether all are there
object_storage, storage_access         screenshots in folders and S3, secrets
extensions                             DuckDB's extensions, texts in its SQL
"""
