"""Tasks: a graph with one instruction, and everything known about it (App. C.4), questions and orders."""

from typing import Literal

from pydantic import Field

from taskloom.resources.dimensions import Level
from taskloom.resources.record import Record
from taskloom.taskgraph.records.effect import SideEffects
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.provenance import Provenance

AnswerMatch = Literal["exact", "includes", "value"]
"""How an answer is compared: as a whole text, by the texts that it must contain, or as a number."""


class Question(Record):
    """A question with its answer, computed from the task's starting data."""

    text: str
    """The question."""
    answers: tuple[str, ...] = Field(min_length=1)
    """Right answers: any of them for `exact`, all of them for `includes`, the first for `value`."""
    match: AnswerMatch = "exact"
    """How an answer is compared."""
    source: str = ""
    """Where the answer is found, such as `Documents/sales.csv`."""

    @property
    def right_answer(self) -> str:
        """A correct answer, in the form that every protocol accepts."""
        return f"```Answer:{'; '.join(self.answers) if self.match == 'includes' else self.answers[0]}```"


class Lack(Record):
    """What was removed from a feasible task to make it infeasible."""

    feasible: str
    """Id of the feasible task."""
    paths: tuple[str, ...]
    """Files that its environment starts without."""
    proof: str
    """What happened when its verified performance was tried without them."""


TaskStatus = Literal["composed", "validated", "rejected", "retired", "imported"]
"""`validated`: its instruction passed and no replay contradicted it; `rejected`: a `Rejection` says why;
`retired`: it was valid, but a subtask of it no longer replays, as a `Rejection` says; `imported`: made
elsewhere."""


class Complexity(Record):
    """The five dimensions of Table 2 with their levels, and related measures."""

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
    """Largest number of nodes at one depth; at most `width`."""
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
    """A result that a goal names: a subtask with its values, and the resource that it makes or changes."""

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
    """Its results; a task serves it if nothing else is left unused. Empty: any task of its group does."""
    scenario: str = ""
    """One of the 20 scenarios (App. A.5)."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class Interference(Record):
    """Two subtasks that interfere with each other in some orders (method section 1)."""

    kind: Literal["overwritten_slot", "consumed_input"]
    """What happens."""
    spoiler: str
    """Instance id of the subtask that overwrites or consumes."""
    producer: str
    """Instance id of the subtask whose output is lost; empty for a fixture."""
    consumer: str
    """Instance id of the subtask that still needed it."""
    resource: str
    """Category and value of the lost resource."""


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
    """Keys of its distinct components; tasks with the same subtasks and dependencies share them."""
    covered: bool = False
    """Whether each of these components was performed successfully, in this task or another."""
    complexity: Complexity
    """Its complexity."""
    capabilities: tuple[str, ...] = ()
    """Capabilities of Table 12 it tests (preset `repaired`)."""
    instruction: str = ""
    """High-level instruction: the validated summary; empty until validated."""
    low_level_instructions: tuple[str, ...] = ()
    """Subtask instructions, in the order of the first successful order."""
    order_count: int = 0
    """Number of topological orders."""
    successful_order_count: int = 0
    """Number of orders in which no resource is lost before it is read (`successful_topo`)."""
    successful_orders: tuple[tuple[str, ...], ...] = ()
    """Those orders as instance ids, up to a cap."""
    interferences: tuple[Interference, ...] = ()
    """What makes the other orders fail."""
    maximum_coherency: int = 0
    """Most adjacent same-application pairs in any successful order (section 4.1)."""
    twin_of: str = ""
    """Id of the task whose chain twin this is (Figure 7)."""
    permuted_instructions: tuple[str, ...] = ()
    """The instruction in other orders (Table 8), if requested."""
    question: Question | None = None
    """A question to answer in addition to the work."""
    lack: Lack | None = None
    """What was removed to make it infeasible; None for feasible tasks."""
    other_applications: tuple[str, ...] = ()
    """Applications that its subtasks need besides their own; only imported tasks name any."""
    simulated: bool = False
    """Whether any subtask runs on a simulated platform."""
    status: TaskStatus = "composed"
    """Its state; exports take validated and imported tasks."""
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
    """Problems found by the check that needs no model."""
    inferred: tuple[tuple[str, str], ...] = ()
    """Dependencies that the judge inferred, as (producer, consumer) instance ids."""
    missing: tuple[tuple[str, str], ...] = ()
    """Pairs of the graph's transitive closure that the judge did not see."""
    extra: tuple[tuple[str, str], ...] = ()
    """Pairs that the judge saw and the graph does not have."""
    not_asked_for: tuple[str, ...] = ()
    """Instance ids of subtasks that, according to the judge, the instruction does not ask for."""
    not_listed: tuple[str, ...] = ()
    """What, according to the judge, the instruction asks for and no subtask does."""
    goal: str = ""
    """The goal that the instruction serves."""
    goal_problems: tuple[str, ...] = ()
    """Problems of that goal: an end product that it does not name, or a name that no subtask uses."""
    reversed: tuple[tuple[str, str], ...] = ()
    """Pairs that the judge saw in the wrong direction."""
    accepted: bool
    """Whether the instruction passed."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class ReplayedSubtask(Record):
    """One node of a replay."""

    instance_id: str
    """The node."""
    success: bool
    """Verdict of its evaluation function at its end."""
    message: str = ""
    """The function's message, or what went wrong."""
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
    """What it changed beyond the changes of its subtasks performed alone; None if it is invalid."""
    clean: bool | None = None
    """Whether it changed nothing else; None if it is invalid."""
    held: bool | None = None
    """Whether all results still hold, except what later subtasks consumed or changed; None if invalid."""
    lost: tuple[str, ...] = ()
    """Completed subtasks whose result is gone at the end."""
    failing_instance: str = ""
    """The first node that failed."""
    message: str = ""
    """Why it failed."""
    subtasks: tuple[ReplayedSubtask, ...] = ()
    """Outcome per node."""
    trajectory_id: str = ""
    """Recording of the whole task (C.5)."""
    seconds: float = 0.0
    """Wall time."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class Rejection(Record):
    """A rejected item with the reason; never dropped."""

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
    """Kind of the rejected item."""
    item_id: str
    """Its id."""
    stage: str
    """Stage that rejected it."""
    reason: str
    """Short code such as `not_reproducible` or `dependency_reversed`, for grouping."""
    message: str
    """The full explanation."""
    details: dict[str, str] = Field(default_factory=dict)
    """Further facts, as text."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class OrderFact(Record):
    """One observation of two subtasks performed in one application, with none of its others in between."""

    fact_id: str
    """Opaque id: the replay and the position of the second subtask in it."""
    application: str
    """The application."""
    first: str
    """Id of the first subtask."""
    second: str
    """Id of the next subtask in this application; subtasks of others may come in between."""
    works: bool
    """Whether the second one succeeded."""
    message: str = ""
    """Message of its evaluation function, or what went wrong."""
    replay_id: str = ""
    """The replay in which it was observed."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
