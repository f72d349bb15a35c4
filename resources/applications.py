"""Applications of the catalogue: how each is installed, started, reset, explained and exemplified."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from taskloom.resources.noise import NoisePlace
from taskloom.resources.record import Record

PLACEHOLDERS = ("install", "venv", "node", "home", "state", "port")
"""Names in braces that commands, paths and file contents of an application may use.

install  folder the application is installed in; venv  its Python environment (`{venv}/bin/python`);
node  the node executable; home  the sandbox home; state  its state folder inside the sandbox home; port  its
      port.
"""

PATH_PARTS = ("_name", "_stem", "_folder")
"""Endings that make a placeholder of a worked example out of a parameter's name."""

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost"})
"""Hosts of the address at which an application may run already."""


class Installation(Record):
    """How an application gets onto a machine, in a place of its own. Every package is pinned."""

    pip: tuple[str, ...] = ()
    """Python packages (`name==version`) for the application's own virtual environment."""
    npm: tuple[str, ...] = ()
    """npm packages (`name@version`) for `{install}/node_modules`."""
    apt: tuple[str, ...] = ()
    """Debian packages; an application that needs some is left out where they are absent and root is not to be
    had."""
    unpacked_wheels: tuple[str, ...] = ()
    """Python packages whose wheels are only unzipped into `{install}/wheels/<name>`, because they carry a web
    page."""
    site: dict[str, str] = Field(default_factory=dict)
    """Static site: path under `{install}/site` to its source, a path under `{install}` or an `asset:` of the
    catalogue."""


class OpenDocument(Record):
    """How the document that an editor holds open is read, which no file keeps before it is saved.

    On a desktop, the script is a shell command in the machine that asks the application and prints the text.
    """

    ending: str = Field(pattern=r"^\.[a-z0-9]+$")
    """Ending of the files that hold such documents, with the dot; it tells the format."""
    script: str = Field(min_length=1)
    """JavaScript expression whose value is the document's text; evaluating it must change nothing."""


class ToldState(Record):
    """A state that no file keeps, such as which processes run: told by the application itself whenever
    evidence is taken, whatever is in front. Checks see it as a file of the application."""

    name: str = Field(pattern=r"^[A-Za-z0-9 _-]+\.[a-z0-9]+$")
    """Name of that file; its ending tells the format. Best is a format with names, such as JSON, that leaves
    out what changes all the time."""
    address: str = Field(default="", pattern=r"^(/.*)?$")
    """Path of the application's server that is asked; the answer is the text. Asking must change nothing."""
    body: str = ""
    """What is sent there; without it the address is only read."""
    body_type: str = "text/xml"
    """Media type of the body."""
    script: str = ""
    """JavaScript. With an address, a function from its answer to the text; without one, an expression whose
    value is the text, evaluated in a page of the application, which is known only once it was opened."""

    @model_validator(mode="after")
    def _has_a_source(self) -> Self:
        if not (self.address or self.script):
            raise ValueError("a told state needs an address, a script, or both")
        return self


class BrowserState(Record):
    """What the browser keeps for a web application, set for its origin before the first page of every reset.
    A world translates it."""

    cookies: dict[str, str] = Field(default_factory=dict)
    """Values by name; enough to be logged in where a session of the prepared state is known by a cookie."""
    local_storage: dict[str, str] = Field(default_factory=dict)
    """Texts by key."""
    session_storage: dict[str, str] = Field(default_factory=dict)
    """Texts by key, for the first tab."""
    script: str = ""
    """JavaScript for all else that the browser keeps, such as a database of the page: an expression,
    evaluated in an empty page of the application's origin and waited for."""

    def __bool__(self) -> bool:
        return bool(self.cookies or self.local_storage or self.session_storage or self.script)


class DesktopState(Record):
    """Where a desktop application keeps its state. Checks see it in the application's state folder."""

    folder: str = Field(default="", pattern=r"^(\.?\w[\w .-]*(/\.?\w[\w .-]*)*)?$")
    """Folder or file below the home, such as `.config/galculator`."""
    mail: str = Field(default="", pattern=r"^(\.?\w[\w .-]*(/\.?\w[\w .-]*)*)?$")
    """Folder below the home with mail in the MH format; its messages are seen as the file `mail.json`."""
    settings: str = Field(default="", pattern=r"^(/.+)?$")
    """Path of its settings in dconf; seen as the file `settings.ini`."""
    processes: bool = False
    """Whether the programs that applications run are part of it; seen as the file `processes.csv`."""
    screen: bool = False
    """Whether checks are told what the display shows, size and colours, as of a picture."""
    written_seconds: float = Field(default=0.0, ge=0, le=10)
    """How long after the last input the application may wait before it writes its state; so long evidence
    waits."""


class Launch(Record):
    """How the application is started: a server on a loopback port, or a program of a desktop; or where it
    runs already."""

    command: tuple[str, ...] = ()
    """Arguments with placeholders; empty when `serve` names a folder to serve as static files."""
    serve: str = ""
    """Folder of static files, with placeholders, served by taskloom's own loopback file server."""
    address: str = ""
    """Where an application runs that somebody else starts, on this machine, such as `http://127.0.0.1:5000`."""
    reset_command: tuple[str, ...] = ()
    """With an `address`: puts the application back to its clean state. Runs before every reset, as the caller
    and not isolated."""
    data_folder: str = ""
    """With an `address`: folder where the application keeps its data, for checks to read; without it they
    know the screen alone."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Extra environment variables, with placeholders."""
    reads_files_anew: bool = False
    """Whether the server keeps nothing but files, read at every request, so that resets only lay them."""
    url_path: str = "/"
    """Path opened in the browser, from the first slash."""
    ready_text: str = ""
    """A text of some control that shows that the application is ready; empty: ready when the controls are
    stable."""
    start_timeout_seconds: float = 60.0
    """How long the port may take to open and the page to get ready."""
    state: DesktopState | None = None
    """On a desktop: where its state is kept; None where the files of the home are all."""
    open_document: OpenDocument | None = None
    """For editors: how what is open in the page is read. Checks see it as a file of the application."""
    told_states: tuple[ToldState, ...] = ()
    """States that no file keeps, and how the application tells them."""
    browser_state: BrowserState = BrowserState()
    """What the browser keeps of it at the start."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if not self.address:
            if self.reset_command or self.data_folder:
                fields = "reset_command and data_folder"
                raise ValueError(f"{fields} are for applications that run at an address already")
            return self
        if self.command or self.serve:
            lacks = "neither a command nor a folder to serve"
            raise ValueError(f"an application that runs at an address has {lacks}")
        parts = urlsplit(self.address)
        try:
            usable = parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS and bool(parts.port)
        except ValueError:
            usable = False
        if not usable or parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
            raise ValueError(
                f"the address {self.address!r} must be http://127.0.0.1:PORT or http://localhost:PORT; the"
                " page belongs into url_path, and a port of another machine can be forwarded to this one"
                " (ssh -L)"
            )
        return self


class LoginForm(Record):
    """The form that logs a user in."""

    url_path: str = Field(pattern=r"^/")
    """Path of the page that has it."""
    fields: dict[str, str] = Field(min_length=1)
    """What is typed in, by the names of its inputs; other inputs stay as the page has them."""


class Preparation(Record):
    """What makes the clean state that every reset restores; done once per machine and kept as a template."""

    commands: tuple[tuple[str, ...], ...] = ()
    """Commands run in `{state}`, in order."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files written under `{state}`: relative path to text, or `asset:` name."""
    login: LoginForm | None = None
    """Submitted once, after the commands; the browser has the cookies at every start."""


class Fixture(Record):
    """A resource that exists after every reset."""

    category: str
    """Resource category (`csv_path`, `ticket_title`)."""
    value: str
    """Its value; for files the path relative to the sandbox home."""
    content: str = ""
    """Text of the file, `asset:` name, or `packed:` and a JSON object of such contents: a zip archive. Unused
    for records, which the prepared state holds."""


class ControlQuery(Record):
    """Describes a control by what a person sees of it, never by coordinates or labels."""

    text: str = ""
    """Text of the control; empty matches any text."""
    control_type: str = ""
    """Control type such as `Button`; empty matches any."""
    parent_text: str = ""
    """Text of the parent control; empty matches any."""
    parent_type: str = ""
    """Type of the parent control; empty matches any."""
    row: str | None = None
    """Name of the row, list item or card it stands in; None matches any, empty one outside of such."""
    section: str | None = None
    """Heading it stands under, which decides between several matches; None matches any."""
    ordinal: int = 0
    """Which of several equal matches, from 0 in reading order; -1 is the last."""
    equals: int = 0
    """How many equal controls there were when it was recorded; where there are more or fewer now, none is
    meant. 0: any number."""


class WorkedStep(Record):
    """One step of a worked example: an operation on a control named by its text. Texts may hold
    `{parameter}`s."""

    operation: Literal["click_input", "wheel_mouse_input", "keyboard_input", "drag_input", "wait"]
    """The operation, in the paper's names where it has one (Table 10)."""
    control: ControlQuery | None = None
    """The control acted on; none for keys sent to the focused control and for waiting."""
    button: Literal["left", "right", "middle"] = "left"
    """Mouse button of a click."""
    double: bool = False
    """Whether a click is a double click."""
    keys: str = ""
    """Keys in the paper's syntax (`^a`, `{ENTER}`, `{TAB 2}`); parameter values are escaped when filled
    in."""
    wheel_distance: int = 0
    """Wheel notches, positive upwards."""
    path: tuple[tuple[float, float], ...] = ()
    """For clicks and drags inside a large control: points as fractions (0 to 1) of its rectangle."""
    seconds: float = 0.0
    """How long to wait, at most 5."""
    optional: bool = False
    """Whether the step is passed over when its control is not there (a dialog that shows only sometimes)."""
    thought: str = ""
    """Why a person does this step."""


class ResourceDeclaration(Record):
    """A resource that a subtask reads or writes."""

    category: str
    """Resource category."""
    parameter: str = ""
    """Parameter whose value is the resource's value (for a slot: the document it belongs to); empty for a
    bare slot."""
    consumed: bool = False
    """Whether the subtask destroys this input (delete, move, rename)."""


class SubtaskWording(Record):
    """What a subtask says: an instruction with the values that fill it in."""

    name: str
    """Name within the application; the subtask's id is `<application>.<name>`."""
    instruction_template: str
    """Instruction with `{parameter}` placeholders."""
    parameter_sets: tuple[dict[str, str], ...]
    """Sets of values; all have the same names."""


class SubtaskTemplate(SubtaskWording):
    """What a subtask says, and what it declares to read and write."""

    inputs: tuple[ResourceDeclaration, ...] = ()
    """Resources needed."""
    outputs: tuple[ResourceDeclaration, ...] = ()
    """Resources made."""
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
    """Steps that do it in another way (keyboard for mouse, menu for button, clicking for typing); empty where
    only one way is known."""
    request: str = ""
    """What one asks for, beginning with a bare verb: "attach {csv_path} to {page_title}[ in Trac]"; without
    it, it is told in the words of its instruction.

    `{parameter}` stands for a value, or, where it is a resource that is read, for the words for that
    resource; `{category}` for what a slot without a parameter holds; `{parameter_name}`, `{parameter_stem}`
    and `{parameter_folder}` for parts of a path. What stands in square brackets names the application and may
    be left out."""
    useless_for: tuple[str, ...] = ()
    """Applications and curated subtasks (`drawio.open_diagram`) in which nobody wants what it makes."""
    means: bool = False
    """Whether nobody wants what it makes for itself, so that something else of a task must read it."""
    gathers: bool = False
    """Whether it makes a place for several things, such as a folder, so that at least two others of a task
    must use it."""
    not_with: tuple[str, ...] = ()
    """Curated subtasks that nobody asks for beside it in one task, because either is enough, or because both
    would be two errands."""
    subjects: tuple[str, ...] = ()
    """Per parameter set, what it is about; empty where it goes with everything. What is copied or drawn about
    one thing is not put where another is the subject. Without any, values that are no resource, such as
    rows, go with what their set reads."""
    core: bool = False
    """Whether it is one of those that a small build takes (`exploration.core_only`): those that link up
    best."""

    @property
    def template(self) -> SubtaskTemplate:
        """The subtask without its worked examples, as models are shown it."""
        return SubtaskTemplate.model_validate(self.model_dump(include=set(SubtaskTemplate.model_fields)))


class Application(Record):
    """One catalogue entry (`resources/catalog/applications/<name>.yaml`)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Name, equal to the file's."""
    title: str
    """Name that people use, and that instructions use."""
    category: str
    """One of the 12 application categories (Table 11)."""
    platform: str = "web_browser"
    """Environment platform that runs it."""
    simulated: bool = False
    """Whether it only imitates an application, for tests and trials; every record made with it says so."""
    version: str
    """Version that is installed and was verified."""
    licence: str
    """SPDX identifier, or what the package says."""
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
    """What it can do and how, written for models to read."""
    example_subtasks: tuple[ExampleSubtask, ...] = ()
    """Curated subtasks."""
    world: str = Field(default="", exclude=True)
    """World whose data it starts with; empty for the first, in whose words the entry is written."""
    noise: tuple[NoisePlace, ...] = Field(default=(), exclude=True, repr=False)
    """What it changes by itself, as far as that was measured; never written in an entry."""
    catalog_folder: str = Field(default="", exclude=True, repr=False)
    """Folder of the user's catalogue it was read from, for its assets; empty for the shipped catalogue."""

    @property
    def has_worlds(self) -> bool:
        """Whether its data differ from world to world; what only imitates an application has its own data
        everywhere."""
        return not self.simulated
