"""Texts of a database that notes visits, as noise."""

from taskloom.synthesis.noise.noise import NoiseSettings

SHORT = NoiseSettings(seconds=0)
"""Settings for applications that do nothing by themselves."""
DB = 'CREATE TABLE "visits"("id" PRIMARY KEY, "page"); -- {} rows\n'


def visits(*rows: int) -> str:
    return DB.format(len(rows)) + "".join(f"INSERT INTO \"visits\" VALUES({row},'a');\n" for row in rows)
