"""Pages on which a person plays: waiting attempts of the agent `human`, the screen of one, and its moves."""

import asyncio
import json
import time
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from taskloom.resources.whole_files import write_whole
from taskloom.taskgraph.records.agent_run import MOVE, TURN, AgentRun, Move, Turn, place_of
from taskloom.taskgraph.records.interaction import escape_keys
from taskloom.warehouse.viewer.website import Site, form_of

_STALE_SECONDS = 10
_WAIT_SECONDS = 1.0
_POLL_SECONDS = 0.05


def add_pages(application: FastAPI, site: Site, people: Path | None) -> None:
    """Add the pages; `people` is the folder in which attempts wait."""

    @application.get("/play")
    def attempts() -> HTMLResponse:
        return site.page("play_list.html.jinja", turns=waiting(people))

    @application.get("/play/{attempt_id:path}")
    async def screen(request: Request, attempt_id: str) -> Response:
        """The screen of an attempt; after a move, as soon as the next turn comes."""
        previous, deadline = request.query_params.get("after", ""), time.monotonic() + _WAIT_SECONDS
        while (turn := turn_in(people, attempt_id)) is None or turn.token == previous:
            if time.monotonic() >= deadline:
                if await run_in_threadpool(_is_judged, site, attempt_id):
                    return RedirectResponse(f"{site.base_path}/attempts/{attempt_id}", status_code=303)
                return site.page("play_wait.html.jinja", attempt_id=attempt_id, previous=previous)
            await asyncio.sleep(_POLL_SECONDS)
        return site.page("play.html.jinja", turn=turn)

    @application.post("/play/{attempt_id:path}")
    async def move(request: Request, attempt_id: str) -> Response:
        form = await form_of(request)
        turn = turn_in(people, attempt_id)
        if people is None or turn is None or turn.token != form.get("token", ""):
            raise HTTPException(409, "This turn is over. Open the attempt again from the Play page.")
        write_whole(people / place_of(attempt_id) / MOVE, _move_of(form).model_dump_json())
        return RedirectResponse(f"{site.base_path}/play/{attempt_id}?after={turn.token}", status_code=303)

    @application.get("/turns/{token}.png")
    def picture(token: str) -> Response:
        turn = next((turn for turn in waiting(people) if turn.token == token), None)
        if people is None or turn is None:
            raise HTTPException(404, "This turn is over.")
        png = (people / place_of(turn.attempt_id) / f"{token}.png").read_bytes()
        return Response(png, media_type="image/png")


def waiting(people: Path | None) -> list[Turn]:
    """The turns of waiting attempts, in the order in which the attempts began."""
    turns = [_read_turn(path) for path in people.glob(f"*/{TURN}")] if people is not None else []
    return sorted((turn for turn in turns if turn), key=lambda turn: (turn.began, turn.attempt_id))


def turn_in(people: Path | None, attempt_id: str) -> Turn | None:
    """The turn of a waiting attempt; None if it is not waiting."""
    return _read_turn(people / place_of(attempt_id) / TURN) if people is not None else None


def _read_turn(path: Path) -> Turn | None:
    """The turn in a file; None where its writer is gone."""
    try:
        if time.time() - path.stat().st_mtime > _STALE_SECONDS:
            return None
        return Turn.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _move_of(form: dict[str, str]) -> Move:
    fields: dict[str, object] = {name: form.get(name, "") for name in ("status", "message", "answer")}
    if form.get("text"):
        fields["action"] = {"operation": "keyboard_input", "keys": escape_keys(form["text"])}
    elif form.get("action"):
        try:
            fields["action"] = json.loads(form["action"])
        except ValueError:
            raise HTTPException(400, "This action cannot be read.") from None
    try:
        return Move.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the form"
        raise HTTPException(400, f"This is not a valid move: {place}: {first['msg']}") from None


def _is_judged(site: Site, attempt_id: str) -> bool:
    return site.store.find(AgentRun, "agent_run_id", attempt_id) is not None
