"""How records are stored.

database, locations, locking           connections, places, writers in turn
rows, inserting                        records to rows and back
evolution, known_schema                new columns in tables that exist, and whether all are there
blobs, object_storage, storage_access  screenshots, S3, secrets
extensions, sql_text                   DuckDB's extensions, texts in its SQL
"""
