"""A browser keeps cached files between resets and nothing else of an episode, whatever a page tries."""

import sys
from pathlib import Path

import pytest

from taskloom.environments.platforms.web_browser.environment import WebEnvironment
from taskloom.resources.applications import Application, Launch
from taskloom.taskgraph.records.interaction import WaitInput
from tests.environments.web_browser.conftest import Screen

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

KEEPING = """<title>Keeping</title><p id=found>looking</p><p id=done></p><a href="/second.html">Second</a>
<button onclick="leave().then(() => done.textContent = 'left everything')">Leave</button>
<button onclick="open('about:blank'); alert('stay')">Ask</button>
<script>
const promised = request => new Promise((yes, no) => { request.onsuccess = () => yes(request.result); request.onerror = no; });
const places = {
  cookie: [() => document.cookie, () => { document.cookie = 'secret=1;max-age=9999'; }],
  local: [() => localStorage.secret, () => { localStorage.secret = 1; }],
  session: [() => sessionStorage.secret, () => { sessionStorage.secret = 1; }],
  name: [() => window.name, () => { window.name = 'secret'; }],
  history: [() => history.length > 2, () => history.pushState(null, '', '?secret')],
  database: [async () => (await indexedDB.databases()).length,
    async () => { (await promised(indexedDB.open('secret'))).close(); }],
  cache: [async () => (await caches.keys()).length,
    async () => (await caches.open('secret')).put('/secret', new Response('secret'))],
  files: [async () => { for await (const _ of (await navigator.storage.getDirectory()).values()) return true; },
    async () => (await navigator.storage.getDirectory()).getFileHandle('secret', {create: true})],
  buckets: [async () => navigator.storageBuckets && (await navigator.storageBuckets.keys()).length,
    async () => navigator.storageBuckets && navigator.storageBuckets.open('secret')],
  workers: [async () => (await navigator.serviceWorker.getRegistrations()).length,
    async () => { try { await navigator.serviceWorker.register('/worker.html'); } catch (_) { /* blocked */ } }],
  shared: [() => new Promise(yes => { const worker = new SharedWorker(counting); worker.port.onmessage = event => yes(event.data > 1); }),
    () => {}],
  clipboard: [() => navigator.clipboard.readText(), () => navigator.clipboard.writeText('secret')],
  persistence: [() => navigator.storage.persisted(), () => navigator.storage.persist()],
  size: [() => devicePixelRatio !== 1 || innerWidth !== 1280, () => { document.body.style.zoom = 2; }],
};
const counting = 'data:text/javascript,let n=0;onconnect=e=>e.ports[0].postMessage(++n)';
const leave = async () => { for (const [, write] of Object.values(places)) await write(); };
(async () => {
  const seen = [];
  for (const [name, [read]] of Object.entries(places)) if (await read()) seen.push(name);
  found.textContent = 'found ' + (seen.join(' ') || 'nothing');
})();
</script>"""  # noqa: E501


async def test_nothing_that_a_page_leaves_is_there_after_a_reset(
    screen: Screen, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In two environments by turns, as in a pool, and with a window and a question left open."""
    hostile = screen.application("hostile", index=KEEPING, second="<p>Second</p>")
    other = WebEnvironment(screen.environment._settings)
    try:
        screens = screen, Screen(other, tmp_path_factory.mktemp("other"))
        colours = []
        for turn in range(6):
            now = screens[turn % 2]
            now.now = await now.environment.reset([hostile])
            while "looking" in now.texts:
                await now.do(WaitInput(seconds=0.1))
            assert "found nothing" in now.texts, f"turn {turn}"
            colours.append(now.now.screenshot.sha256)
            await now.click("Leave")
            while "left everything" not in now.texts:
                await now.do(WaitInput(seconds=0.1))
            await now.click("Second")  # a link that was followed looks as before
            await now.click("Back", "TaskBarButton")
            if turn > 1:
                await now.click("Ask")
        assert len(set(colours)) == 1
        assert "hostile" not in screen.environment.without_cache, "its cached files stay"
    finally:
        await other.close()


async def test_a_page_that_opens_other_origins_gets_nothing_kept(screen: Screen) -> None:
    framing = screen.application(
        "framing",
        index="""<p id=x></p><script>addEventListener('message', event => x.textContent = event.data)
        const inner = document.createElement('iframe');
        inner.src = 'http://localhost:' + location.port + '/inner.html'; document.body.append(inner)
        </script>""",
        inner="""<script>parent.postMessage('seen ' + (localStorage.n || 0), '*'); localStorage.n = 1
        </script>""",
    )
    for _ in range(3):
        screen.now = await screen.environment.reset([framing])
        assert "seen 0" in screen.texts
    assert "another origin" in screen.environment.without_cache["framing"]


SERVER = """
import http.server, sys, time
STARTED = time.time_ns()
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        script = self.path == '/script.js'
        tag = '"fixed"' if script else '"%d"' % STARTED
        same = self.headers.get('If-None-Match') == tag
        said = ', '.join(sorted(self.server.said))
        body = b'window.loaded = 1' if script else (
            '<script src=/script.js></script><p>started %d</p><p id=x></p><script>fetch("/said").then(r => r.text()).then(t => x.textContent = t)</script>'
            % STARTED).encode() if self.path == '/' else ('said ' + said).encode()
        if script: self.server.said.append('304' if same else '200')
        self.send_response(304 if same else 200)
        self.send_header('ETag', tag) if script or not BY_TIME else self.send_header('Last-Modified', 'Thu, 01 Jan 2026 00:00:00 GMT')
        self.send_header('Cache-Control', 'max-age=9999')
        if not same: self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if not same: self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler)
server.said = []
server.serve_forever()
"""  # noqa: E501


def served(by_time: bool) -> Application:
    script = f"BY_TIME = {by_time}\n{SERVER}"
    return Application(
        name=f"served{by_time}".lower(),
        title="Served",
        category="Office",
        version="1",
        licence="MIT",
        description="x",
        manual="x",
        launch=Launch.model_validate({"command": [str(Path(sys.executable)), "-c", script, "{port}"]}),
    )


async def test_a_server_is_asked_whether_its_files_are_still_right(screen: Screen) -> None:
    seen, starts = [], set()
    for _ in range(3):
        screen.now = await screen.environment.reset([served(by_time=False)])
        (started,) = [text for text in screen.texts if text.startswith("started")]
        starts.add(started)
        seen += [text for text in screen.texts if text.startswith("said")]
    assert len(starts) == 3, "what is said to hold for hours is asked about anew"
    assert seen == ["said 200", "said 304", "said 304"], "a file that did not change is not sent again"
    assert not screen.environment.without_cache.get("servedfalse")


async def test_where_only_a_time_tells_changes_nothing_is_kept(screen: Screen) -> None:
    starts = set()
    for _ in range(3):
        screen.now = await screen.environment.reset([served(by_time=True)])
        starts |= {text for text in screen.texts if text.startswith("started")}
    assert len(starts) == 3
    assert "only to the second" in screen.environment.without_cache["servedtrue"]
