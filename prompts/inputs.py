"""The typed input of each role's prompt: one record per role; its fields are the template's variables."""

from typing import ClassVar, Literal

from pydantic import Field

from taskloom.prompts.prompt_input import PromptInput
from taskloom.prompts.replies import (
    ActorReply,
    AttemptCriticReply,
    CriticReply,
    DependencyJudgeReply,
    DependencyPair,
    EvaluationWriterReply,
    ExplorerReply,
    IntentExtractorReply,
    SummarizerReply,
)
from taskloom.prompts.shown_effects import (
    KnownSubtask,
    RejectedSubtask,
    ScreenInView,
    ShownEffects,
    SubtaskToDeclare,
    TaskShape,
)
from taskloom.prompts.shown_effects import ResourceInView as ResourceInView
from taskloom.resources.applications import SubtaskTemplate
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import ComputerReply, ComputerTurn
from taskloom.taskgraph.records.gestures import Coordinates
from taskloom.taskgraph.records.interaction import Control, Screenshot
from taskloom.taskgraph.records.model_calls import ModelRole


class ExplorerInput(PromptInput[ExplorerReply]):
    """Input of the explorer of an application (B.1)."""

    role: ClassVar[ModelRole] = ModelRole.EXPLORER

    application: str
    """Name in the catalogue."""
    title: str
    """Name that people use."""
    application_category: str
    """Its category."""
    description: str
    """One sentence about it."""
    manual: str
    """Its manual."""
    resource_categories: tuple[ResourceCategory, ...]
    """The categories that declarations may use."""
    fixtures: tuple[ResourceInView, ...]
    """Resources that exist after every reset."""
    examples: tuple[SubtaskTemplate, ...]
    """Curated subtasks."""
    checks: tuple[str, ...] = ()
    """Checks available to evaluation functions, one line each."""
    performed: int = 2
    """How many parameter sets of a subtask are performed."""
    verified: tuple[KnownSubtask, ...] = ()
    """Verified subtasks of earlier explorations."""
    undecided: tuple[KnownSubtask, ...] = ()
    """Proposals of earlier explorations that are not verified yet."""
    rejected: tuple[RejectedSubtask, ...] = ()
    """Rejected proposals of earlier explorations."""
    wishes: tuple[str, ...] = ()
    """What composition lacked."""
    screens: tuple[ScreenInView, ...] = ()
    """Screens beyond the first."""
    controls: tuple[Control, ...] = ()
    """Controls of the application's first screen."""
    screenshot: Screenshot | None = None
    """Its first screen."""
    wanted: int
    """Maximum number of subtasks to propose."""
    to_declare: tuple[SubtaskToDeclare, ...] = ()
    """Subtasks whose resources are to be declared; if given, nothing else is to be proposed."""
    feedback: tuple[str, ...] = ()
    """Why earlier proposals were rejected."""


class StepInHistory(Record):
    """An earlier step of the actor."""

    step: int
    """Number, from 1."""
    thought: str = ""
    """Why it was made."""
    function: str
    """Function called."""
    control_text: str = ""
    """Text of its control."""
    row: str = ""
    """Name of the row that contained its control."""
    args: str = ""
    """Its arguments as text."""
    outcome: str = "done"
    """`done`, or why it could not be carried out."""
    change: str = ""
    """What it changed on the screen, in a few words."""


class ActorInput(PromptInput[ActorReply]):
    """Input of the actor at one step (E.1)."""

    role: ClassVar[ModelRole] = ModelRole.ACTOR

    application: str
    """Application of the subtask."""
    title: str
    """Name that people use for it."""
    manual: str
    """Its manual."""
    instruction: str
    """What to do."""
    feedback: tuple[str, ...] = ()
    """What was wrong with earlier attempts."""
    remarks: tuple[str, ...] = ()
    """Remarks on this attempt: a premature end, an action repeated in vain."""
    another_way: bool = False
    """Whether it is to be done in another way than the most obvious one."""
    history: tuple[StepInHistory, ...] = ()
    """Steps so far."""
    steps_left: int
    """Number of steps still allowed."""
    window_title: str = ""
    """Title of the window in front."""
    controls: tuple[Control, ...] = ()
    """Controls on the screen."""
    coordinates: Coordinates = "labels"
    """How the actor points."""
    screen_size: tuple[int, int] = (1280, 800)
    """Width and height of the screen, in pixels."""
    screenshot: Screenshot | None
    """The screen, with a numbered box around every usable control if boxes are shown; None where the list of
    controls is enough."""
    sparing: bool = False
    """Whether the screen is shown only where the list of controls is not enough."""
    shows: Literal["marks_and_list", "marks", "list", "picture"] = "marks_and_list"
    """What is shown: numbered boxes and the list of controls, either of them, or the unannotated picture."""
    earlier: tuple[Screenshot, ...] = ()
    """Earlier screens, shown before it."""

    @property
    def images(self) -> tuple[Screenshot, ...]:
        """The earlier screens and the present one, if screens are shown."""
        if self.shows == "list" or self.screenshot is None:
            return ()
        return (*self.earlier, self.screenshot)


class ComputerActorInput(PromptInput[ComputerReply]):
    """Input of an actor that operates the screen through its provider's computer tool."""

    role: ClassVar[ModelRole] = ModelRole.ACTOR
    template: ClassVar[str] = "computer_actor"

    application: str
    """Application of the subtask."""
    title: str
    """Name that people use for it."""
    manual: str
    """Its manual."""
    instruction: str
    """What to do."""
    feedback: tuple[str, ...] = ()
    """What was wrong with earlier attempts."""
    step_limit: int
    """Number of steps allowed."""
    screenshot: Screenshot
    """The screen at the start."""
    computer: tuple[ComputerTurn, ...] | None = Field(default=(), exclude=True)
    """Turns so far, with the screens."""


class Performance(Record):
    """One recorded performance of the subtask."""

    instruction: str
    """The instantiated instruction."""
    parameters: dict[str, str]
    """The parameter set."""
    shape: TaskShape = TaskShape()
    """Its initial state and what may change; models see only this, so that they describe the task and not
    the performance."""
    effects: ShownEffects = ShownEffects()
    """What it changed, for offline rules."""


class EvaluationWriterInput(PromptInput[EvaluationWriterReply]):
    """Input of the evaluation writer (E.2)."""

    role: ClassVar[ModelRole] = ModelRole.EVALUATION_WRITER

    checks_reference: str
    """The checks that may be called."""
    operating_system: str
    """Operating system of the environment."""
    application: str
    """Application of the subtask."""
    title: str
    """Name that people use for it."""
    instruction_template: str
    """Instruction with placeholders."""
    parameter_names: tuple[str, ...]
    """Parameters of the function, in order."""
    performances: tuple[Performance, ...]
    """Recorded performances."""
    result_on_screen: bool = False
    """Whether the result is what the screen shows: an open document, a selection, a tab or a setting."""
    previous_source: str = ""
    """The function of the last round."""
    surviving_families: tuple[str, ...] = ()
    """Families of wrong evidence that it accepted."""
    untested_checks: tuple[str, ...] = ()
    """Its idle conditions, all of which can be removed together."""
    refusing_checks: tuple[str, ...] = ()
    """Its conditions that right work does not meet."""
    feedback: tuple[str, ...] = ()
    """What was wrong with it, in words."""


class InstanceInPool(Record):
    """A verified subtask with one of its parameter sets."""

    instruction: str
    """Its instruction."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """Its values."""
    inputs: tuple[ResourceInView, ...] = ()
    """Resources it reads."""
    outputs: tuple[ResourceInView, ...] = ()
    """Resources it writes."""


class SubtaskInPool(Record):
    """A verified subtask as shown to the intent extractor."""

    subtask_id: str
    """Its id."""
    application: str
    """Name that people use for its application."""
    application_category: str
    """Category of the application."""
    instruction_template: str
    """Instruction with placeholders."""
    inputs: tuple[ResourceInView, ...] = ()
    """Resources it reads, over all its parameter sets."""
    outputs: tuple[ResourceInView, ...] = ()
    """Resources it writes, over all its parameter sets."""
    instances: tuple[InstanceInPool, ...] = ()
    """The subtask with each of its parameter sets."""


class ScenarioInView(Record):
    """A scenario that the extractor may name."""

    name: str
    """Its name."""
    application_categories: tuple[str, ...] = ()
    """Application categories that define it; empty for the remainder."""


class IntentExtractorInput(PromptInput[IntentExtractorReply]):
    """Input of the intent extractor (3.2)."""

    role: ClassVar[ModelRole] = ModelRole.INTENT_EXTRACTOR

    scenarios: tuple[ScenarioInView, ...]
    """The scenarios."""
    subtasks: tuple[SubtaskInPool, ...]
    """The pool."""
    known_goals: tuple[str, ...] = ()
    """Goals already accepted."""
    wanted: int
    """Maximum number of intents to propose."""
    smallest_group: int = Field(default=3, ge=1)
    """Minimum number of subtasks in a group."""
    largest_group: int = Field(default=14, ge=1)
    """Maximum number of subtasks in a group."""
    feedback: tuple[str, ...] = ()
    """Why earlier proposals were rejected."""


class NumberedSubtask(Record):
    """A node as shown to the summarizer, the judge and the critic."""

    number: int
    """Its number in this prompt."""
    application: str
    """Name that people use for its application."""
    instruction: str
    """Its instantiated instruction."""
    subtask_id: str = ""
    """Its id in the catalogue."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """Its values."""
    reads: tuple[ResourceInView, ...] = ()
    """What it reads; the prompts do not show it."""
    makes: tuple[ResourceInView, ...] = ()
    """What it makes; the prompts do not show it."""


class ResourceLink(Record):
    """A dependency as shown to the summarizer."""

    producer: int
    """Number of the subtask that writes."""
    consumer: int
    """Number of the subtask that reads."""
    category: str
    """Category of the resource."""
    kind: str
    """Kind of that category."""
    value: str = ""
    """Value of the resource."""


class SummarizerInput(PromptInput[SummarizerReply]):
    """Input of the summarizer (B.4)."""

    role: ClassVar[ModelRole] = ModelRole.SUMMARIZER

    goal: str = ""
    """The intent; empty if the goal is to be written too."""
    subtasks: tuple[NumberedSubtask, ...]
    """Nodes in an order in which they can be done."""
    links: tuple[ResourceLink, ...]
    """Dependencies."""
    called: dict[str, str] = Field(default_factory=dict)
    """What people call the resources, by their values: "the March sales"."""
    uses: dict[str, str] = Field(default_factory=dict)
    """What the resources are needed for, by their values: "the tax return"."""
    readers: str = ""
    """Who reads what is published in the world of these resources: "the club board"."""
    previous_instruction: str = ""
    """The instruction of the last round."""
    feedback: tuple[str, ...] = ()
    """What was wrong with it."""


class DependencyJudgeInput(PromptInput[DependencyJudgeReply]):
    """Input of the dependency judge: the instruction, and the subtasks in random order (B.4)."""

    role: ClassVar[ModelRole] = ModelRole.DEPENDENCY_JUDGE

    instruction: str
    """The instruction to judge."""
    subtasks: tuple[NumberedSubtask, ...]
    """The subtasks, shuffled and numbered in that order."""


class CriticInput(PromptInput[CriticReply]):
    """Input of the critic of a task: its instruction and subtasks, but nothing of how it was made."""

    role: ClassVar[ModelRole] = ModelRole.CRITIC

    instruction: str
    """The instruction."""
    subtasks: tuple[NumberedSubtask, ...]
    """The subtasks in an order in which they can be done."""
    dependencies: tuple[DependencyPair, ...]
    """Their dependencies."""


class AttemptCriticInput(PromptInput[AttemptCriticReply]):
    """Input of the critic of an attempt: what was asked and done, but nothing of its other verdicts."""

    role: ClassVar[ModelRole] = ModelRole.CRITIC
    template: ClassVar[str] = "attempt_critic"

    instruction: str
    """The agent's instruction."""
    steps: tuple[StepInHistory, ...]
    """Its steps."""
    ending: str
    """How the attempt ended, with the agent's last words."""
    screenshot: Screenshot
    """The last screen."""

    @property
    def images(self) -> tuple[Screenshot, ...]:
        """The last screen."""
        return (self.screenshot,) if self.screenshot.png else ()
