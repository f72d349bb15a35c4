"""The clipboard functions that clients of OSWorld's protocol call."""

import subprocess


def copy(text: str) -> None:
    """Put text into the clipboard."""
    subprocess.run(["xclip", "-selection", "clipboard"], input=str(text).encode(), check=True)


def paste() -> str:
    """The text of the clipboard."""
    done = subprocess.run(["xclip", "-o", "-selection", "clipboard"], capture_output=True, check=False)
    return done.stdout.decode(errors="replace")
