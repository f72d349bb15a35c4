"""Applications of the catalogue: installation, launch, clean state, manual and examples."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from taskloom.resources.noise import NoisePlace
from taskloom.resources.record import Record

PLACEHOLDERS = ("install", "venv", "node", "home", "state", "port")
"""Names in braces that commands, paths and file contents of an application may use.

install  folder of the installed application; venv  its Python environment (`{venv}/bin/python`);
node  the node executable; home  the sandbox home; state  its state folder inside the sandbox home; port  its
      port.
"""

PATH_PARTS = ("_name", "_stem", "_folder")
"""Suffixes that turn a parameter's name into a placeholder for part of its path, in worked examples."""

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost"})
"""Allowed hosts of an application that already runs at an address."""


class Installation(Record):
    """How an application is installed, in a folder of its own. Every package is pinned."""

    pip: tuple[str, ...] = ()
    """Python packages (`name==version`) for the application's own virtual environment."""
    npm: tuple[str, ...] = ()
    """npm packages (`name@version`) for `{install}/node_modules`."""
    apt: tuple[str, ...] = ()
    """Debian packages; an application that needs missing ones is omitted without root permissions."""
    unpacked_wheels: tuple[str, ...] = ()
    """Python packages whose wheels are only unzipped into `{install}/wheels/<name>`, because they contain a
    web page."""
    site: dict[str, str] = Field(default_factory=dict)
    """Static site: path under `{install}/site` to its source, a path under `{install}` or an `asset:` of the
    catalogue."""


class OpenDocument(Record):
    """How to read the document open in an editor, which is in no file until it is saved.

    On a desktop, the script is a shell command in the machine that asks the application and prints the text.
    """

    ending: str = Field(pattern=r"^\.[a-z0-9]+$")
    """Suffix of such documents' files, with the dot; it determines the format."""
    script: str = Field(min_length=1)
    """JavaScript expression whose value is the document's text; evaluating it must change nothing."""


class ToldState(Record):
    """A state that is in no file, such as the running processes. The application reports it whenever evidence
    is taken, whatever window is in front. Checks see it as a file of the application."""

    name: str = Field(pattern=r"^[A-Za-z0-9 _-]+\.[a-z0-9]+$")
    """Name of that file; its suffix determines the format. Prefer a format with names, such as JSON, without
    values that change constantly."""
    address: str = Field(default="", pattern=r"^(/.*)?$")
    """Path to request from the application's server; the response is the text. It must change nothing."""
    body: str = ""
    """Body of a POST request; without it, the request is a GET."""
    body_type: str = "text/xml"
    """Media type of the body."""
    script: str = ""
    """JavaScript. With an address, a function from the response to the text; without one, an expression whose
    value is the text, evaluated in a page of the application once one has been opened."""

    @model_validator(mode="after")
    def _require_source(self) -> Self:
        if not (self.address or self.script):
            raise ValueError("an entry of told_states needs an address, a script, or both")
        return self


class BrowserState(Record):
    """What the browser stores for a web application, set for its origin before the first page of every reset.
    Worlds translate it."""

    cookies: dict[str, str] = Field(default_factory=dict)
    """Values by name; enough to be logged in if a cookie identifies a session of the prepared state."""
    local_storage: dict[str, str] = Field(default_factory=dict)
    """Texts by key."""
    session_storage: dict[str, str] = Field(default_factory=dict)
    """Texts by key, for the first tab."""
    script: str = ""
    """JavaScript for anything else that the browser stores, such as a database of the page: an expression,
    evaluated and awaited in an empty page of the application's origin."""

    def __bool__(self) -> bool:
        return bool(self.cookies or self.local_storage or self.session_storage or self.script)


class DesktopState(Record):
    """Where a desktop application stores its state. Checks see it in the application's state folder."""

    folder: str = Field(default="", pattern=r"^(\.?\w[\w .-]*(/\.?\w[\w .-]*)*)?$")
    """Folder or file below the home, such as `.config/galculator`."""
    mail: str = Field(default="", pattern=r"^(\.?\w[\w .-]*(/\.?\w[\w .-]*)*)?$")
    """Folder below the home with mail in the MH format; checks see its messages as the file `mail.json`."""
    settings: str = Field(default="", pattern=r"^(/.+)?$")
    """Path of its settings in dconf; checks see them as the file `settings.ini`."""
    processes: bool = False
    """Whether the programs that applications run are part of it; checks see them as `processes.csv`."""
    screen: bool = False
    """Whether checks see the size and colours of the display, as for a picture."""
    written_seconds: float = Field(default=0.0, ge=0, le=10)
    """How long after the last input the application may take to write its state; evidence waits for it."""


class Launch(Record):
    """How the application is started, as a server on a loopback port or a program of a desktop; or the
    address at which it already runs."""

    command: tuple[str, ...] = ()
    """Arguments with placeholders; empty if `serve` names a folder to serve as static files."""
    serve: str = ""
    """Folder of static files, with placeholders, served by taskloom's own loopback file server."""
    address: str = ""
    """Address on this machine of an application that taskloom does not start, such as
    `http://127.0.0.1:5000`."""
    reset_command: tuple[str, ...] = ()
    """With an `address`: restores the application's clean state. Runs before every reset, as the calling
    user and without isolation."""
    data_folder: str = ""
    """With an `address`: folder of the application's data, for checks to read; without it they only see the
    screen."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Extra environment variables, with placeholders."""
    reads_files_anew: bool = False
    """Whether the server's only state is files that it reads at every request, so resets only write
    them."""
    url_path: str = "/"
    """Path opened in the browser, beginning with a slash."""
    ready_text: str = ""
    """Text of a control that appears when the application is ready; if empty, it counts as ready when
    the controls are stable."""
    start_timeout_seconds: float = 60.0
    """Time limit for the port to open and the page to become ready."""
    state: DesktopState | None = None
    """On a desktop: where its state is stored; None if that is only in files of the home."""
    open_document: OpenDocument | None = None
    """For editors: how to read the open document. Checks see it as a file of the application."""
    told_states: tuple[ToldState, ...] = ()
    """States that are in no file, and how the application reports them."""
    browser_state: BrowserState = BrowserState()
    """What the browser stores for it at the start."""

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        if not self.address:
            if self.reset_command or self.data_folder:
                raise ValueError("reset_command and data_folder are only for applications with an address")
            return self
        if self.command or self.serve:
            raise ValueError("an application with an address has neither a command nor a folder to serve")
        parts = urlsplit(self.address)
        try:
            usable = parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS and bool(parts.port)
        except ValueError:
            usable = False
        if not usable or parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
            raise ValueError(
                f"the address {self.address!r} must be http://127.0.0.1:PORT or http://localhost:PORT; the"
                " page belongs in url_path, and a port of another machine can be forwarded to this one"
                " (ssh -L)"
            )
        return self


class LoginForm(Record):
    """The form that logs a user in."""

    url_path: str = Field(pattern=r"^/")
    """Path of its page."""
    fields: dict[str, str] = Field(min_length=1)
    """Values by the names of its inputs; other inputs keep the page's values."""


class Preparation(Record):
    """How to make the clean state that every reset restores; done once per machine and kept as a template."""

    commands: tuple[tuple[str, ...], ...] = ()
    """Commands run in `{state}`, in order."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files written under `{state}`: relative path to text, or `asset:` name."""
    login: LoginForm | None = None
    """Submitted once, after the commands; the browser starts with the cookies after every reset."""


class Fixture(Record):
    """A resource that exists after every reset."""

    category: str
    """Resource category (`csv_path`, `ticket_title`)."""
    value: str
    """Its value; for files, the path relative to the sandbox home."""
    content: str = ""
    """Text of the file, `asset:` name, or `packed:` and a JSON object of such contents: a zip archive. Unused
    for records, which the prepared state contains."""


class ControlQuery(Record):
    """Describes a control by what a person sees, never by coordinates or labels."""

    text: str = ""
    """Text of the control; empty matches any text."""
    control_type: str = ""
    """Control type such as `Button`; empty matches any."""
    parent_text: str = ""
    """Text of the parent control; empty matches any."""
    parent_type: str = ""
    """Type of the parent control; empty matches any."""
    row: str | None = None
    """Name of the row, list item or card that contains it; None matches any, empty only one without a row."""
    section: str | None = None
    """Heading above it, which decides between several matches; None matches any."""
    ordinal: int = 0
    """Which of several equal matches, from 0 in reading order; -1 is the last."""
    equals: int = 0
    """Number of equal controls when it was recorded; with any other number now, nothing matches. 0 allows
    any number."""


class WorkedStep(Record):
    """One step of a worked example: an operation on a control named by its text. Texts may contain
    `{parameter}`s."""

    operation: Literal["click_input", "wheel_mouse_input", "keyboard_input", "drag_input", "wait"]
    """The operation, under the paper's name if it has one (Table 10)."""
    control: ControlQuery | None = None
    """The control acted on; None for keys sent to the focused control and for waiting."""
    button: Literal["left", "right", "middle"] = "left"
    """Mouse button of a click."""
    double: bool = False
    """Whether a click is a double click."""
    keys: str = ""
    """Keys in the paper's syntax (`^a`, `{ENTER}`, `{TAB 2}`); values of parameters are escaped."""
    wheel_distance: int = 0
    """Wheel notches, positive upwards."""
    path: tuple[tuple[float, float], ...] = ()
    """For clicks and drags inside a large control: points as fractions (0 to 1) of its rectangle."""
    seconds: float = 0.0
    """How long to wait; the maximum is 5."""
    optional: bool = False
    """Whether the step is skipped if its control is missing (a dialog that appears only sometimes)."""
    thought: str = ""
    """Why a person takes this step."""


class ResourceDeclaration(Record):
    """A resource that a subtask reads or writes."""

    category: str
    """Resource category."""
    parameter: str = ""
    """Parameter that gives the resource's value (for a slot: the document it belongs to); empty for a bare
    slot."""
    consumed: bool = False
    """Whether the subtask destroys this input (delete, move, rename)."""


class SubtaskWording(Record):
    """The wording of a subtask: an instruction with the values for its placeholders."""

    name: str
    """Name within the application; the subtask's id is `<application>.<name>`."""
    instruction_template: str
    """Instruction with `{parameter}` placeholders."""
    parameter_sets: tuple[dict[str, str], ...]
    """Sets of values; all have the same names."""


class SubtaskTemplate(SubtaskWording):
    """The wording of a subtask with its declared inputs and outputs."""

    inputs: tuple[ResourceDeclaration, ...] = ()
    """Resources read."""
    outputs: tuple[ResourceDeclaration, ...] = ()
    """Resources written."""
    fresh: tuple[str, ...] = ()
    """Parameters that may take any new value, such as the name of a file to create (*free* in method
    terms)."""


class ExampleSubtask(SubtaskTemplate):
    """A curated subtask: at least two parameter sets, and a worked example."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Name within the application, in lower case with underscores."""
    parameter_sets: tuple[dict[str, str], ...] = Field(min_length=2)
    """At least two sets of values; all have the same names."""
    worked_example: tuple[WorkedStep, ...] = Field(min_length=1)
    """Steps that do it."""
    second_example: tuple[WorkedStep, ...] = ()
    """Steps that do it in another way (keyboard for mouse, menu for button, clicking for typing); empty if
    only one way is known."""
    request: str = ""
    """The request, beginning with a bare infinitive: "attach {csv_path} to {page_title}[ in Trac]"; without
    it, the wording of the instruction is used.

    `{parameter}` stands for a value, or, if it is a resource that is read, for the words for that resource;
    `{category}` for the content of a slot without a parameter; `{parameter_name}`, `{parameter_stem}` and
    `{parameter_folder}` for parts of a path. Text in square brackets names the application and may be
    omitted."""
    useless_for: tuple[str, ...] = ()
    """Applications and curated subtasks (`drawio.open_diagram`) in which its results are useless."""
    means: bool = False
    """Whether its results are useless by themselves, so another subtask of the task must read them."""
    gathers: bool = False
    """Whether it makes a place for several things, such as a folder, so at least two other subtasks of
    the task must use it."""
    not_with: tuple[str, ...] = ()
    """Curated subtasks that make no sense in the same task, because either is enough, or because they
    serve two separate purposes."""
    subjects: tuple[str, ...] = ()
    """Subject of each parameter set; empty if it suits any subject. Content about one subject is not put
    where another is the subject. Without subjects, values that are not resources, such as rows, belong to
    what their set reads."""
    core: bool = False
    """Whether a small build uses it (`exploration.core_only`), because it links to many others."""

    @property
    def template(self) -> SubtaskTemplate:
        """The subtask without its worked examples, as shown to models."""
        return SubtaskTemplate.model_validate(self.model_dump(include=set(SubtaskTemplate.model_fields)))


class Application(Record):
    """One catalogue entry (`resources/catalog/applications/<name>.yaml`)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Name, equal to that of the file."""
    title: str
    """Name used by people and in instructions."""
    category: str
    """One of the 12 application categories (Table 11)."""
    platform: str = "web_browser"
    """Environment platform that runs it."""
    simulated: bool = False
    """Whether it only imitates an application, for tests and trials; every record made with it says so."""
    version: str
    """Installed and verified version."""
    licence: str
    """SPDX identifier, or the package's own wording."""
    description: str
    """One sentence."""
    installation: Installation = Installation()
    """How it is installed."""
    preparation: Preparation = Preparation()
    """How its clean state is made."""
    launch: Launch = Launch()
    """How it is started."""
    fixtures: tuple[Fixture, ...] = ()
    """Resources that exist after every reset."""
    manual: str
    """What it can do and how, written for models."""
    example_subtasks: tuple[ExampleSubtask, ...] = ()
    """Curated subtasks."""
    world: str = Field(default="", exclude=True)
    """World whose data it starts with; empty for the first, in whose terms the entry is written."""
    noise: tuple[NoisePlace, ...] = Field(default=(), exclude=True, repr=False)
    """What it changes by itself, as far as measured; never part of an entry."""
    catalog_folder: str = Field(default="", exclude=True, repr=False)
    """Folder of the user's catalogue that contains it, for its assets; empty for the shipped catalogue."""

    @property
    def has_worlds(self) -> bool:
        """Whether its data differ between worlds; simulated applications have the same data in all."""
        return not self.simulated
