"""Metrics of an agent's actions against recorded ones, without an environment: actions as PyAutoGUI
statements, recorded ones with their target boxes; the right actions at a step of a replay; and the metrics,
which `taskloom.omnieval.lookup` finds in `ROWS`."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, hypot, log

from pydantic import JsonValue

from taskloom.omnieval.replies.calls import Call, calls_in
from taskloom.omnieval.replies.verbs import numbers
from taskloom.taskgraph.records.gestures import PointedGesture
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Replay
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""
_MAXIMUM_NGRAM = 4
"""Longest n-gram that BLEU compares, in words."""
_FIRST, _FURTHER = 0.1, 1.0
"""Score of the first action of an example (β₁ of OmniACT), and of each further one (β₂)."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of the action space of OmniACT (its Table 2)."""

    name: str
    """Name of the function, such as `click` or `hotkey`."""
    point: tuple[float, float] | None = None
    """Its target, in pixels."""
    keys: tuple[str, ...] = ()
    text: str = ""
    box: Box | None = None
    """The box in which a point counts as right; only recorded statements have one."""

    def holds(self, point: tuple[float, float] | None) -> bool:
        """Whether a point is in the box, edges included."""
        return self.point is None or (point is not None and distance(self, point) == 0)


@dataclass(frozen=True, slots=True)
class Example:
    """One comparison: of a whole script, or of only the next action."""

    gold: tuple[Statement, ...]
    """The recorded actions."""
    predicted: tuple[Statement, ...]
    """The agent's actions."""
    whole: bool = True
    """Whether all actions of a task are compared, rather than one step."""
    also_right: tuple[tuple[Statement, ...], ...] = ()
    """Alternatives that are also right at that step, derived from the task's graph."""


def statements_in(code: str) -> tuple[Statement, ...]:
    """The statements of a script, which is parsed and never run.

    >>> [(item.name, item.point, item.keys) for item in statements_in("pyautogui.click(3, 4)")]
    [('click', (3.0, 4.0), ())]
    """
    return tuple(_statement(call) for call in calls_in(code, ("code",)))


def statements_of(steps: Iterable[TrajectoryStep]) -> tuple[Statement, ...]:
    """Recorded steps as statements; any point of the control that was acted on counts as right.

    Steps that were not carried out, slips and their recovery are omitted.

    >>> statements_of(())
    ()
    """
    statements: list[Statement] = []
    for step in steps:
        if step.problem or step.slip:
            continue
        action = step.action
        points = list(getattr(action, "points", ()) or ())
        box = step.target_rectangle
        if not points and isinstance(action, PointedGesture):
            centre = ((box[0] + box[2]) // 2, (box[1] + box[3]) // 2) if box else None
            points = [point for point in [action.point or centre] if point is not None]
        for item in statements_in("\n".join(action.statements(points))):
            is_first = item.point is not None and points and item.point == tuple(map(float, points[0]))
            statements.append(_in_box(item, box if is_first else None))
    return tuple(statements)


def distance(gold: Statement, point: tuple[float, float]) -> float:
    """The shortest distance from a point to the box of a recorded statement, in pixels; 0 inside it.

    >>> gold = boxed(statements_in("click(5, 5)"), [[4, 4, 6, 6]])[0]
    >>> distance(gold, (5, 5)), distance(gold, (9, 10))
    (0.0, 5.0)
    """
    left, top, right, bottom = gold.box or (0, 0, 0, 0)
    across = max(left - point[0], 0.0, point[0] - right)
    down = max(top - point[1], 0.0, point[1] - bottom)
    return float((across**2 + down**2) ** 0.5)


def boxed(script: Sequence[Statement], boxes: JsonValue) -> tuple[Statement, ...]:
    """The statements, each with the smallest box that contains its point, otherwise the pixel itself.

    >>> boxed(statements_in("click(5, 5)"), [[0, 0, 9, 9], [4, 4, 6, 6], "?"])[0].box
    (4, 4, 6, 6)
    """
    rows = [numbers(box) for box in boxes] if isinstance(boxes, list) else []
    valid = [(int(row[0]), int(row[1]), int(row[2]), int(row[3])) for row in rows if len(row) == 4]
    statements: list[Statement] = []
    for item in script:
        around = [box for box in valid if item.point and distance(_in_box(item, box), item.point) == 0]
        smallest = min(around, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]), default=None)
        statements.append(_in_box(item, smallest))
    return tuple(statements)


def _in_box(item: Statement, box: Box | None) -> Statement:
    """The statement with `box`, or with its pixel as the box."""
    if item.point is None:
        return item
    x, y = map(round, item.point)
    return replace(item, box=box or (x, y, x, y))


def _statement(call: Call) -> Statement:
    values = [*call.positional, *call.arguments.values()]
    if call.name in ("press", "hotkey", "keyDown", "keyUp"):
        flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
        return Statement(call.name, keys=tuple(str(item).lower() for item in flat if isinstance(item, str)))
    if call.name in ("write", "typewrite"):
        return Statement("write", text=next((item for item in values if isinstance(item, str)), ""))
    named = [call.arguments.get(name) for name in ("x", "y")]
    point = numbers(named if None not in named else list(call.positional[:2]))
    is_pointed = len(point) == 2 and call.name not in ("scroll", "hscroll", "sleep")
    return Statement(call.name, point=(point[0], point[1]) if is_pointed else None)


def also_right(
    graph: TaskGraph, replay: Replay, step: int, replays: Iterable[Replay], recorded: Mapping[str, Trajectory]
) -> tuple[tuple[Statement, ...], ...]:
    """Alternatives to what was done at `step` of `replay`: the first steps of independent subtasks, taken
    from the `recorded` trajectories of all replays of the task, by id. None in the middle of a subtask.

    Of two independent subtasks whose first steps are 1 and 2, the other may come first:

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> from taskloom.taskgraph.records.interaction import ClickInput
    >>> from taskloom.taskgraph.records.task import ReplayedSubtask
    >>> from taskloom.taskgraph.records.trajectory import TrajectoryStep
    >>> parts = [
    ...     ReplayedSubtask(instance_id=name, success=True, first_step=step, last_step=step)
    ...     for step, name in enumerate("ab", start=1)
    ... ]
    >>> replay = Replay(
    ...     replay_id="1(0)", task_id="1", order=("a", "b"), success=True, subtasks=parts, trajectory_id="t"
    ... )
    >>> steps = [
    ...     TrajectoryStep.model_construct(step=step, action=ClickInput(point=(10 * step, 5)))
    ...     for step in (1, 2)
    ... ]
    >>> recorded = {"t": Trajectory.model_construct(steps=steps)}
    >>> graph = read_task_graph({"nodes": ["a", "b"]}, {}, str)
    >>> [item.point for (item,) in also_right(graph, replay, 1, [replay], recorded)]
    [(20.0, 5.0)]
    """
    if any(node.first_step < step <= node.last_step for node in replay.subtasks):
        return ()
    done = {node.instance_id for node in replay.subtasks if node.last_step < step}
    now = {node.instance_id for node in replay.subtasks if node.first_step == step}
    waiting = {edge.consumer for edge in graph.edges if edge.producer not in done}
    free = {node.instance_id for node in graph.nodes} - done - now - waiting
    alternatives = (
        statements_of([item for item in trajectory.steps if item.step >= node.first_step][:1])
        for other in replays
        if (trajectory := recorded.get(other.trajectory_id)) is not None
        for node in other.subtasks
        if node.instance_id in free
    )
    return tuple(dict.fromkeys(filter(None, alternatives)))


def sequence_score(examples: Sequence[Example]) -> float | None:
    """Sequence score of OmniACT (section 4.1, equation 1): whether the predicted actions are the recorded
    ones; None without whole tasks.

    An example whose actions have the recorded names in the recorded order scores β₁ + β₂ · (s − 1), where s
    is its number of actions, β₁ = 0.1 and β₂ = 1; any other scores 0. The value is the sum over the examples,
    divided by the score of the recorded actions themselves, as in Table 4.

    >>> script = statements_in("click(5, 5); write('tea')")
    >>> sequence_score([Example(script, statements_in("click(9, 9); write('')"))])
    1.0
    """
    return _share_of_maximum(examples, _sequence_score_of)


def action_score(examples: Sequence[Example]) -> float | None:
    """Action score of OmniACT (section 4.2, equations 2 to 6): the sequence score minus penalties; None
    without whole tasks.

    A penalty is at most the score of one action of its example, α = score / s. A point costs
    α · (1 − μ / (μ + d)), where d is its distance to the control's box and μ the inverse of the box's
    diagonal; wrong keys cost α; a text costs α · (1 − BLEU). An example scores no less than 0. The value
    is the sum over the examples, divided by the score of the recorded actions, as in Table 4, where the score
    is the sequence score minus the three penalties.

    The evaluator published with the dataset uses the diagonal itself for μ, which is milder and contradicts
    the paper's text; this function follows the paper.

    >>> keys = statements_in("hotkey('ctrl', 's')")
    >>> action_score([Example(keys, keys)]), action_score([Example(keys, statements_in("hotkey('s')"))])
    (1.0, 0.0)
    """
    return _share_of_maximum(examples, _score_after_penalties)


def next_action_match(examples: Sequence[Example]) -> float | None:
    """Share of single steps whose predicted action is right: the recorded one, or another that the task's
    graph allows at that point; None if only whole tasks are compared.

    An action matches if it is of the same kind, in the same control, with the same keys or text, ignoring
    letter case.

    >>> predicted = statements_in("write('Tea')")
    >>> next_action_match([Example(statements_in("write('tea')"), predicted, whole=False)])
    1.0
    """
    steps = [example for example in examples if example.gold and not example.whole]
    return sum(map(_is_next_action_right, steps)) / len(steps) if steps else None


def grounding_accuracy(examples: Sequence[Example]) -> float | None:
    """Share of recorded points for which the predicted action of the same number and kind is in the same
    control, as in ScreenSpot and OmniACT's click accuracy; None if no recorded action has a point.

    >>> gold = boxed(statements_in("click(5, 5)"), [[0, 0, 9, 9]])
    >>> grounding_accuracy([Example(gold, statements_in("click(8, 1)"))])
    1.0
    """
    hits = [
        index < len(example.predicted)
        and example.predicted[index].name == gold.name
        and gold.holds(example.predicted[index].point)
        for example in examples
        for index, gold in enumerate(example.gold)
        if gold.point is not None
    ]
    return sum(hits) / len(hits) if hits else None


def penalty(gold: Statement, predicted: Statement) -> float:
    """The penalty of one action, as a share of α: 0 if it is right.

    >>> gold = Statement("click", (5, 5), box=(0, 0, 3, 4))
    >>> penalty(gold, Statement("click", (3, 4))), round(penalty(gold, Statement("click", (4, 4))), 4)
    (0.0, 0.8333)
    """
    if gold.point is not None and gold.box is not None:
        if predicted.point is None:
            return 1.0
        left, top, right, bottom = gold.box
        mu = 1 / max(1.0, hypot(right - left, bottom - top))
        return 1 - mu / (mu + distance(gold, predicted.point))
    if gold.keys:
        return 0.0 if set(gold.keys) == set(predicted.keys) else 1.0
    if gold.name == "write":
        return 1 - bleu(gold.text, predicted.text)
    return 0.0


def bleu(reference: str, candidate: str) -> float:
    """BLEU of one sentence with one reference, with n-grams of words up to the length of the shorter text,
    at most 4.

    >>> bleu("a new note", "a new note"), bleu("a new note", ""), round(bleu("one two", "one two three"), 4)
    (1.0, 0.0, 0.5774)
    """
    reference_words, candidate_words = reference.split(), candidate.split()
    if not reference_words or not candidate_words:
        return float(reference_words == candidate_words)
    longest = min(_MAXIMUM_NGRAM, len(reference_words), len(candidate_words))
    logs = []
    for length in range(1, longest + 1):
        candidate_ngrams = _ngrams(candidate_words, length)
        common = (_ngrams(reference_words, length) & candidate_ngrams).total()
        if not common:
            return 0.0
        logs.append(log(common / candidate_ngrams.total()))
    brevity = min(1.0, exp(1 - len(reference_words) / len(candidate_words)))
    return brevity * exp(sum(logs) / longest)


def _share_of_maximum(examples: Sequence[Example], score: Callable[[Example], float]) -> float | None:
    """The score of whole tasks, as a share of the score of their recorded actions."""
    whole = [example for example in examples if example.whole]
    maximum = sum(_maximum_score(example) for example in whole)
    return sum(map(score, whole)) / maximum if maximum else None


def _maximum_score(example: Example) -> float:
    return _FIRST + _FURTHER * (len(example.gold) - 1) if example.gold else 0.0


def _sequence_score_of(example: Example) -> float:
    matches = [item.name for item in example.gold] == [item.name for item in example.predicted]
    return _maximum_score(example) if matches else 0.0


def _score_after_penalties(example: Example) -> float:
    score = _sequence_score_of(example)
    if not score:
        return 0.0
    penalties = sum(map(penalty, example.gold, example.predicted))
    return max(0.0, score - score / len(example.gold) * penalties)


def _ngrams(words: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + length]) for start in range(len(words) - length + 1))


def _is_next_action_right(example: Example) -> bool:
    return any(
        len(example.predicted) >= len(right) and all(map(_matches, right, example.predicted))
        for right in (example.gold, *example.also_right)
        if right
    )


def _matches(gold: Statement, predicted: Statement) -> bool:
    return (
        gold.name == predicted.name
        and gold.holds(predicted.point)
        and set(gold.keys) == set(predicted.keys)
        and gold.text.strip().casefold() == predicted.text.strip().casefold()
    )


@dataclass(frozen=True, slots=True)
class _Metric:
    """A metric of this module, with the interface of a metric's module."""

    measure: Callable[[Sequence[Example]], float | None]

    @property
    def description(self) -> str:
        return inspect.getdoc(self.measure) or ""


ROWS = {
    measure.__name__: _Metric(measure)
    for measure in (action_score, grounding_accuracy, next_action_match, sequence_score)
}
"""All metrics of actions, by name."""
