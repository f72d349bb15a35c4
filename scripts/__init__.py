"""Scripts for the repository: its environment, and generated pages.

create_venv                         the virtual environment of `make setup`
documentation                       writes the generated pages (`make docs`)
house_drawing                       the drawing in ARCHITECTURE.md
"""
