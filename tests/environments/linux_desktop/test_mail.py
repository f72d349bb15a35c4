"""Messages of mail folders as checks read them: what people see, and nothing that a program chooses."""

from __future__ import annotations

import json
from email.message import EmailMessage
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.platforms.linux_desktop.server.evidence import messages


def mail(subject: str = "List", hour: int = 9) -> EmailMessage:
    made = EmailMessage()
    made["Received"] = "from mail.example.org"
    made["From"] = "Anna Berg <anna@example.org>"
    made["To"] = "Jürgen <j@example.org>"
    made["Subject"] = subject
    made["Date"] = f"Mon, 02 Mar 2026 {hour:02}:00:00 +0000"
    made["Message-Id"] = f"<{hour}@example.org>"
    made.set_content("Grüße\nfrom us\n")
    return made


def keep(place: Path, name: str, content: bytes) -> None:
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(content)


def told(place: Path) -> list[dict[str, Any]]:
    found = json.loads(messages(place))["messages"]
    assert isinstance(found, list)
    return found


def test_a_message_is_its_folder_headers_text_and_attachments(tmp_path: Path) -> None:
    made = mail("Prüfung")
    made.add_attachment("item,amount\nLamp,12\n", subtype="csv", filename="stock.csv")
    made.add_attachment(b"\x89PNG\xff", maintype="image", subtype="png", filename="logo.png")
    made.add_attachment(b"%PDF-1.4\n", maintype="application", subtype="pdf", filename="letter.pdf")
    keep(tmp_path, "box/inner/7", bytes(made))
    [message] = told(tmp_path)
    document = message["attachments"].pop()
    assert document == {"name": "letter.pdf", "sha256": sha256(b"%PDF-1.4\n").hexdigest()}
    picture = message["attachments"].pop()
    assert message == {
        "folder": "box/inner",
        "from": "Anna Berg <anna@example.org>",
        "to": "Jürgen <j@example.org>",
        "subject": "Prüfung",
        "text": "Grüße\nfrom us",
        "attachments": [{"name": "stock.csv", "text": "item,amount\nLamp,12\n"}],
    }
    assert picture["name"] == "logo.png" and len(picture["sha256"]) == 64


def test_who_writes_what_was_not_received_is_the_choice_of_the_program(tmp_path: Path) -> None:
    made = mail()
    del made["Received"]
    keep(tmp_path, "draft/1", bytes(made))
    assert "from" not in told(tmp_path)[0]


def test_numbers_of_files_do_not_matter_and_the_oldest_comes_first(tmp_path: Path) -> None:
    for folder, first, second in (("a", "1", "2"), ("b", "9", "4")):
        keep(tmp_path / folder, f"inbox/{first}", bytes(mail("later", 12)))
        keep(tmp_path / folder, f"inbox/{second}", bytes(mail("earlier", 8)))
    assert messages(tmp_path / "a") == messages(tmp_path / "b")
    assert [message["subject"] for message in told(tmp_path / "a")] == ["earlier", "later"]


def test_what_waits_to_be_sent_stands_below_the_notes_of_the_program(tmp_path: Path) -> None:
    keep(tmp_path, "queue/1", b"AF:\nS:anna@example.org\nR:<j@example.org>\n\n" + bytes(mail("Waiting")))
    [message] = told(tmp_path)
    assert (message["folder"], message["subject"]) == ("queue", "Waiting")


def test_files_that_are_no_messages_are_left_out(tmp_path: Path) -> None:
    keep(tmp_path, "inbox/.cache", b"1")
    keep(tmp_path, "inbox/notes", bytes(mail()))
    keep(tmp_path, "inbox/3", b"")
    (tmp_path / "inbox" / "4").symlink_to(tmp_path / "inbox" / "notes")
    assert told(tmp_path) == [] == told(tmp_path / "absent")


@pytest.mark.parametrize(
    "wrong",
    [
        "To: Jürgen <j@example.org>; team@example.org",
        "To: Jürgen <j@example.org>>",
        "To: Jürgen <j@example.org>\nTo: team@example.org",
        "To: Jürgen <j@@example.org>",
        "To: j@",
        'To: "',
        "To: " + "(" * 3000,
        "To: Jürgen <j@example.org>\nDate: 1 Mar 2026 10:00:00 +99999999999999999999",
        'To: Jürgen <j@example.org>\nContent-Type: text/plain; charset="none-such"',
    ],
)
def test_headers_are_told_as_they_stand(wrong: str, tmp_path: Path) -> None:
    rest = "Received: here\nFrom: Anna <anna@example.org>\nSubject: List\n\nHello\n"
    keep(tmp_path, "draft/1", f"To: Jürgen <j@example.org>\n{rest}".encode())
    keep(tmp_path, "draft/2", f"{wrong}\n{rest}".encode())
    right, other = sorted(told(tmp_path), key=lambda item: len(json.dumps(item)))
    date = "Date" in wrong
    assert (right == other) is date and {right["folder"], other["folder"]} == {"draft"}


def test_a_message_within_a_message_is_told_whole(tmp_path: Path) -> None:
    for number, inner in ((1, mail("one")), (2, mail("two"))):
        outer = mail("forwarded")
        outer.add_attachment(inner)
        keep(tmp_path, f"draft/{number}", bytes(outer))
    [first], [second] = (message["attachments"] for message in told(tmp_path))
    assert first["sha256"] != second["sha256"]


@given(
    content=st.binary(min_size=1, max_size=300)
    | st.text(max_size=200).map(lambda text: bytes(mail()) + text.encode())
    | st.text(max_size=60).map(
        lambda text: f"To: {text}\nFrom: {text}\nDate: {text}\n\n".encode() + bytes(mail())
    )
)
def test_any_file_can_be_read(content: bytes, tmp_path_factory: Any) -> None:
    place = tmp_path_factory.mktemp("mail")
    keep(place, "inbox/1", content)
    assert len(told(place)) == 1
