"""How records are stored.

database, locations, locking           connections, places, writers in turn
rows, inserting                        records to rows and back
evolution                              new columns in tables that exist
blobs, object_storage, storage_access  screenshots, S3, secrets
extensions, sql_text                   DuckDB's extensions, texts in its SQL
"""
