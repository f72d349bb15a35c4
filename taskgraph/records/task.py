"""Tasks: a graph with one instruction, and all that is known about it (App. C.4), questions and orders."""

from typing import Literal

from pydantic import Field

from taskloom.resources.dimensions import Level
from taskloom.resources.record import Record
from taskloom.taskgraph.records.effect import SideEffects
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.provenance import Provenance

AnswerMatch = Literal["exact", "includes", "value"]
"""How an answer is compared: as a whole text, by the texts that must stand in it, or as a number."""


class Question(Record):
    """A question with its answer, computed from the data that the task starts with."""

    text: str
    """The question."""
    answers: tuple[str, ...] = Field(min_length=1)
    """Right answers: any of them for `exact`, all of them for `includes`, the first for `value`."""
    match: AnswerMatch = "exact"
    """How an answer is compared."""
    source: str = ""
    """Where the answer stands, such as `Documents/sales.csv`."""

    @property
    def right_answer(self) -> str:
        """A right answer, in the form that every protocol reads."""
        return f"```Answer:{'; '.join(self.answers) if self.match == 'includes' else self.answers[0]}```"


class Lack(Record):
    """What was taken away from a feasible task, which cannot be done without it."""

    feasible: str
    """Id of the feasible task."""
    paths: tuple[str, ...]
    """Files that its environment starts without."""
    proof: str
    """What was seen when its verified performance was tried without them."""


TaskStatus = Literal["composed", "validated", "rejected", "retired", "imported"]
"""`validated`: its instruction passed and no replay spoke against it; `rejected`: a `Rejection` says why;
`retired`: it was valid, and a subtask of it no longer replays, as a `Rejection` says; `imported`: someone
else made it."""


class Complexity(Record):
    """The five dimensions of Table 2 with their levels, and what is stored beside them."""

    edges: int
    """Dependency complexity: distinct dependent pairs."""
    nodes: int
    """Instruction complexity."""
    application_categories: int
    """Knowledge complexity: distinct application categories."""
    depth: int
    """Hierarchy complexity: nodes on the longest path; roots have depth 1."""
    width: int
    """Branch complexity: maximum antichain."""
    largest_layer: int
    """Most nodes of one depth; at most `width`."""
    components: int
    """Weakly connected components."""
    dependency_level: Level
    """Level of `edges`."""
    instruction_level: Level
    """Level of `nodes`."""
    knowledge_level: Level
    """Level of `application_categories`."""
    hierarchy_level: Level
    """Level of `depth`."""
    branch_level: Level
    """Level of `width`."""


class EndProduct(Record):
    """What a goal wants in the end: a subtask with its values, and the resource that it makes or changes."""

    instance_id: str
    """The bound subtask."""
    category: str = ""
    """Category of the resource."""
    value: str = ""
    """Its value; empty for a slot."""


class Intent(Record):
    """A goal that anchors composition, with the group of subtasks that serve it (section 3.2)."""

    intent_id: str
    """Opaque id."""
    text: str
    """The goal, such as "Prepare the quarterly report"."""
    subtask_ids: tuple[str, ...]
    """Its group."""
    end_products: tuple[EndProduct, ...] = ()
    """What it wants; a task serves it if nothing else is left over. Empty: any task of its group does."""
    scenario: str = ""
    """One of the 20 scenarios (App. A.5)."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class Interference(Record):
    """Two subtasks that spoil each other in some orders (method section 1)."""

    kind: Literal["overwritten_slot", "consumed_input"]
    """What happens."""
    spoiler: str
    """Instance id of the subtask that overwrites or consumes."""
    producer: str
    """Instance id of the subtask whose output is lost; empty for a fixture."""
    consumer: str
    """Instance id of the subtask that still needed it."""
    resource: str
    """Category and value of what is lost."""


class Task(Record):
    """A task graph with one instruction."""

    task_id: str
    """Opaque id, made from the canonical key: equal tasks have equal ids."""
    graph: TaskGraph
    """The graph."""
    intent_id: str = ""
    """Intent it was composed for."""
    intent: str = ""
    """Text of that intent."""
    scenario: str = ""
    """Scenario of App. A.5."""
    world: str = ""
    """World that all its values come from and whose data it starts with; empty for the first."""
    components: tuple[str, ...] = ()
    """Keys of its distinct components, which tasks with the same subtasks and links share."""
    covered: bool = False
    """Whether every one of these components was performed with success, in this task or in another."""
    complexity: Complexity
    """Its complexity."""
    capabilities: tuple[str, ...] = ()
    """Capabilities of Table 12 it tests (preset `repaired`)."""
    instruction: str = ""
    """High-level instruction: the validated summary; empty until validated."""
    low_level_instructions: tuple[str, ...] = ()
    """Subtask instructions, in the order of the first successful order."""
    order_count: int = 0
    """Topological orders."""
    successful_order_count: int = 0
    """Orders in which no resource is lost before it is read (`successful_topo`)."""
    successful_orders: tuple[tuple[str, ...], ...] = ()
    """Those orders as instance ids, up to a cap."""
    interferences: tuple[Interference, ...] = ()
    """What makes the other orders fail."""
    maximum_coherency: int = 0
    """Most adjacent same-application pairs of any successful order (section 4.1)."""
    twin_of: str = ""
    """Id of the task whose chain twin this is (Figure 7)."""
    permuted_instructions: tuple[str, ...] = ()
    """The instruction in other orders (Table 8), where asked for."""
    question: Question | None = None
    """What is asked beside what is to be done."""
    lack: Lack | None = None
    """What was taken away so that it cannot be done; None for tasks that can."""
    other_applications: tuple[str, ...] = ()
    """Applications that its subtasks need beside their own; only imported tasks name any."""
    simulated: bool = False
    """Whether any subtask runs on a simulated platform."""
    status: TaskStatus = "composed"
    """How far it came; exports take validated and imported tasks."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class Validation(Record):
    """One round of checking an instruction against its graph (App. B.4)."""

    validation_id: str
    """Opaque id."""
    task_id: str
    """The task."""
    round: int
    """Number, from 1."""
    instruction: str
    """The instruction that was judged."""
    literal_problems: tuple[str, ...] = ()
    """What the check without a model found."""
    inferred: tuple[tuple[str, str], ...] = ()
    """Dependencies that the judge inferred, as (producer, consumer) instance ids."""
    missing: tuple[tuple[str, str], ...] = ()
    """Pairs of the graph's transitive closure that the judge did not see."""
    extra: tuple[tuple[str, str], ...] = ()
    """Pairs that the judge saw and the graph does not have."""
    not_asked_for: tuple[str, ...] = ()
    """Instance ids of the subtasks that the judge found not to be asked for."""
    not_listed: tuple[str, ...] = ()
    """What the judge found to be asked for and is no subtask."""
    goal: str = ""
    """The goal that the instruction is for."""
    goal_problems: tuple[str, ...] = ()
    """What is wrong with that goal: an end product that it does not name, or a name that no subtask uses."""
    reversed: tuple[tuple[str, str], ...] = ()
    """Pairs seen the wrong way round."""
    accepted: bool
    """Whether the instruction passed."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class ReplayedSubtask(Record):
    """One node of a replay."""

    instance_id: str
    """The node."""
    success: bool
    """What its evaluation function said at its end."""
    message: str = ""
    """Its message, or what went wrong."""
    first_step: int
    """First step of the node in the replay's recording."""
    last_step: int
    """Last step."""


class Replay(Record):
    """A task performed in one order from its subtasks' trajectories (method section 8)."""

    replay_id: str
    """Opaque id: task id and number of the order, as the paper writes it: `12(0)`."""
    task_id: str
    """The task."""
    order: tuple[str, ...]
    """Instance ids in the order performed."""
    components: tuple[str, ...] = ()
    """Keys of the task's components and their closed connected parts, which it covers if it succeeds."""
    success: bool
    """Whether every subtask succeeded."""
    invalid: bool = False
    """Whether it neither passed nor failed: the start lacked something, or the environment failed."""
    side_effects: SideEffects | None = None
    """What it changed beyond what its subtasks change when they are done alone; None where it is invalid."""
    clean: bool | None = None
    """Whether it changed nothing beyond that; None where it is invalid."""
    held: bool | None = None
    """Whether all done is still done, but for what later ones consumed or changed; None where invalid."""
    lost: tuple[str, ...] = ()
    """Subtasks done whose work is not there at the end."""
    failing_instance: str = ""
    """The first node that failed."""
    message: str = ""
    """Why."""
    subtasks: tuple[ReplayedSubtask, ...] = ()
    """Outcome per node."""
    trajectory_id: str = ""
    """Recording of the whole task (C.5)."""
    seconds: float = 0.0
    """Wall time."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class Rejection(Record):
    """An item that did not make it, with the reason; never dropped."""

    item_kind: Literal[
        "application",
        "resource_category",
        "subtask",
        "trajectory",
        "evaluation_function",
        "intent",
        "composition",
        "task",
        "replay",
        "dataset_version",
    ]
    """What was rejected."""
    item_id: str
    """Its id."""
    stage: str
    """Stage that rejected it."""
    reason: str
    """Short code such as `not_reproducible` or `dependency_reversed`, for grouping."""
    message: str
    """The whole explanation."""
    details: dict[str, str] = Field(default_factory=dict)
    """Further facts, as text."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class OrderFact(Record):
    """One observation of two subtasks of an application, the second performed next after the first there."""

    fact_id: str
    """Opaque id: the replay and the position of the second subtask in it."""
    application: str
    """The application."""
    first: str
    """Id of the subtask performed before."""
    second: str
    """Id of the subtask performed next in it; others may come in between elsewhere."""
    works: bool
    """Whether the second one succeeded."""
    message: str = ""
    """What its evaluation function said, or what went wrong."""
    replay_id: str = ""
    """The replay that showed it."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
