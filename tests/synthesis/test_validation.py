from collections.abc import Collection, Mapping, Sequence

import networkx
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from taskloom.prompts.replies import DependencyJudgeReply, DependencyPair, SummarizerReply
from taskloom.synthesis.instructions import goal_problems, in_order, literal_problems, names_value
from taskloom.synthesis.validation.validation import (
    Pair,
    ValidatedTask,
    ValidationSettings,
    closure,
    compare_orders,
    validate_task,
)
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.task import Task
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import PROVENANCE
from tests.synthesis.task_samples import TITLES, sample_tasks


def a_task(edges: int = 2) -> Task:
    return next(task for task in sample_tasks(80) if len(task.graph.pairs) >= edges)


async def validated(
    task: Task, rounds: int = 3, scripted: Mapping[ModelRole, Sequence[BaseModel | str]] | None = None
) -> tuple[ValidatedTask, TestModels]:
    models = TestModels({}, scripted=scripted)
    done = await validate_task(
        task, TITLES, models=models, settings=ValidationSettings(rounds=rounds), provenance=PROVENANCE
    )
    return done, models


async def test_a_right_instruction_is_accepted_at_once_and_kept_on_both_levels() -> None:
    task = a_task()
    done, _ = await validated(task)
    assert done.rejection is None
    assert len(done.rounds) == 1
    assert done.rounds[0].accepted
    assert done.task.instruction == done.rounds[0].instruction
    assert done.task.low_level_instructions == tuple(node.instruction for node in in_order(task))


async def test_every_sampled_task_can_be_told_and_read_back() -> None:
    for task in sample_tasks(80):
        done, _ = await validated(task, rounds=1)
        assert done.rejection is None, done.rounds[-1]


async def test_the_judge_sees_no_graph_and_no_telling_order() -> None:
    task = a_task()
    _, models = await validated(task)
    inputs = models.calls[ModelRole.DEPENDENCY_JUDGE][0].question
    assert set(inputs.model_dump()) == {"instruction", "subtasks"}
    shown = [item.instruction for item in inputs.subtasks]
    assert sorted(shown) == sorted(node.instruction for node in task.graph.nodes)


async def test_a_reversed_dependency_is_told_to_the_summarizer_and_repaired() -> None:
    task = a_task()
    done, models = await validated(task, rounds=1)
    right = models.calls[ModelRole.DEPENDENCY_JUDGE][0].reply
    assert isinstance(right, DependencyJudgeReply)
    first, *others = right.dependencies
    turned = DependencyJudgeReply(
        dependencies=[DependencyPair(before=first.after, after=first.before), *others]
    )
    done, models = await validated(task, rounds=2, scripted={ModelRole.DEPENDENCY_JUDGE: [turned]})
    assert not done.rounds[0].accepted
    assert done.rounds[0].reversed
    assert done.rejection is None
    feedback = models.calls[ModelRole.SUMMARIZER][1].question.feedback
    assert "it is the other way round" in str(feedback)


async def test_what_is_never_repaired_is_rejected_with_the_last_differences() -> None:
    task = a_task()
    nothing = DependencyJudgeReply(dependencies=[])
    done, _ = await validated(task, rounds=2, scripted={ModelRole.DEPENDENCY_JUDGE: [nothing] * 2})
    assert done.rejection is not None
    assert done.rejection.reason == "dependency_missing"
    assert "cannot tell" in done.rejection.message
    assert len(done.rounds) == 2
    assert done.task.instruction == ""


async def test_pairs_that_name_no_subtask_are_not_dependencies() -> None:
    task = a_task()
    odd = DependencyJudgeReply(
        dependencies=[DependencyPair(before=0, after=99), DependencyPair(before=1, after=1)]
    )
    done, _ = await validated(task, rounds=1, scripted={ModelRole.DEPENDENCY_JUDGE: [odd]})
    assert done.rounds[0].inferred == ()


async def test_a_missing_value_is_found_before_the_judge_is_asked() -> None:
    task = a_task()
    vague = SummarizerReply(instruction="Put everything in order.")
    done, models = await validated(task, rounds=2, scripted={ModelRole.SUMMARIZER: [vague]})
    assert any("is missing" in item for item in done.rounds[0].literal_problems)
    assert len(models.calls[ModelRole.DEPENDENCY_JUDGE]) == 1
    assert done.rejection is None


async def test_permuted_instructions_tell_the_same_task_in_other_orders() -> None:
    task = next(item for item in sample_tasks(80) if item.successful_order_count >= 4)
    done = await validate_task(
        task,
        TITLES,
        models=TestModels({}),
        settings=ValidationSettings(permuted_instructions=3),
        provenance=PROVENANCE,
    )
    assert len(done.task.permuted_instructions) == 3
    assert len({done.task.instruction, *done.task.permuted_instructions}) >= 3  # two orders can be told alike
    assert all(judged.accepted for judged in done.rounds)


async def test_a_summarizer_without_a_usable_reply_rejects_the_task() -> None:
    done, _ = await validated(a_task(), scripted={ModelRole.SUMMARIZER: ["[]"]})
    assert done.rejection is not None
    assert done.rejection.reason == "no_usable_reply"


def told(task: Task) -> str:
    return "; ".join(node.instruction.removesuffix(".") for node in task.graph.nodes) + "."


def test_literals_of_the_subtasks_are_no_problem() -> None:
    assert literal_problems(a_task(), told(a_task()), TITLES) == ()


def test_a_placeholder_that_is_left_is_a_problem() -> None:
    assert literal_problems(a_task(), told(a_task()) + " Save it as {text_path}.", TITLES) == (
        "the placeholder {text_path} is left",
    )


def test_names_that_no_subtask_uses_are_problems() -> None:
    problems = literal_problems(a_task(), told(a_task()) + " Send 'Zebra' to Documents/zoo.txt.", TITLES)
    assert problems == (
        "it names 'Zebra', which no subtask does",
        "it names the path 'Documents/zoo.txt', which no subtask uses",
    )


def test_categories_and_repeated_openings_are_problems() -> None:
    text = told(a_task()) + " After that, rest. After that, look at the text_path."
    problems = literal_problems(a_task(), text, TITLES)
    assert "it begins 2 sentences with “After that”" in problems
    assert any("resource category" in item for item in problems) == any(
        item.category == "text_path"
        for node in a_task().graph.nodes
        for item in (*node.inputs, *node.outputs)
    )


def test_a_path_may_be_told_by_its_folder_and_its_name() -> None:
    assert names_value("Downloads/a.csv", "move a.csv to Downloads")
    assert not names_value("Downloads/a.csv", "move a.csv to Documents")
    assert not names_value("Downloads/a.csv", "move data.csv to Downloads")


def ends(task: Task) -> list[str]:
    producers = {edge.producer for edge in task.graph.edges}
    last = [node for node in task.graph.nodes if node.instance_id not in producers]
    return [item.value for node in last for item in (node.outputs or node.inputs) if item.slot is None]


def test_a_goal_names_every_end_product_and_nothing_else() -> None:
    task = next(item for item in sample_tasks(80) if ends(item))
    goal = f"See to {', '.join(ends(task))}"
    assert goal_problems(task, goal, TITLES) == ()
    assert "there is no goal" in goal_problems(task, " ", TITLES)
    assert any("does not name" in item for item in goal_problems(task, "Do some everyday work", TITLES))
    assert any(
        "Documents/zoo.txt" in item for item in goal_problems(task, f"{goal} and Documents/zoo.txt", TITLES)
    )


async def test_a_false_intent_is_replaced_by_a_goal_written_from_the_graph() -> None:
    task = next(item for item in sample_tasks(80) if ends(item))
    done, models = await validated(
        task.model_copy(update={"intent": "Analyse 'Documents/zoo.csv' in a database"})
    )
    assert models.calls[ModelRole.SUMMARIZER][0].question.goal == ""
    assert done.rejection is None
    assert goal_problems(task, done.task.intent, TITLES) == ()


async def test_an_intent_that_tells_nothing_of_what_the_clipboard_brings_is_no_goal_of_the_task() -> None:
    """It binds what is wanted in the end; another text may have come there by the clipboard."""
    task, source = next(
        (item, edge.resource.value)
        for item in sample_tasks(80)
        if ends(item)
        for edge in item.graph.edges
        if edge.resource.slot is not None and edge.resource.value not in ends(item)
    )
    for intent, kept in ((f"See to {', '.join(ends(task))}", False), (f"{source}: {ends(task)}", True)):
        given = task.model_copy(update={"intent": intent})
        _, models = await validated(given)
        assert (models.calls[ModelRole.SUMMARIZER][0].question.goal == intent) == kept


async def test_a_goal_that_stays_false_rejects_the_task() -> None:
    task = next(item for item in sample_tasks(80) if ends(item))
    replies = [SummarizerReply(instruction=told(task), goal="Do some everyday work")] * 2
    done, models = await validated(task, rounds=2, scripted={ModelRole.SUMMARIZER: replies})
    assert done.rejection is not None
    assert done.rejection.reason == "goal_mismatch"
    assert not models.calls[ModelRole.DEPENDENCY_JUDGE]


async def test_what_the_judge_misses_or_finds_besides_rejects_the_instruction() -> None:
    task = a_task()
    done, models = await validated(task, rounds=1)
    right = models.calls[ModelRole.DEPENDENCY_JUDGE][0].reply
    assert isinstance(right, DependencyJudgeReply)
    for update, reason in (
        ({"not_asked_for": [1]}, "subtask_not_asked_for"),
        ({"not_listed": ["feed the cat"]}, "something_not_listed"),
    ):
        found = right.model_copy(update=update)
        done, _ = await validated(task, rounds=1, scripted={ModelRole.DEPENDENCY_JUDGE: [found]})
        assert done.rejection is not None
        assert done.rejection.reason == reason


def test_an_empty_instruction_is_a_problem() -> None:
    assert literal_problems(a_task(), " \n", TITLES) == ("the instruction is empty",)


@st.composite
def acyclic_pairs(draw: st.DrawFn) -> list[Pair]:
    size = draw(st.integers(2, 7))
    every = [(f"{a}", f"{b}") for a in range(size) for b in range(a + 1, size)]
    return draw(st.lists(st.sampled_from(every), unique=True))


@given(acyclic_pairs())
def test_closure_is_the_one_of_networkx(pairs: list[Pair]) -> None:
    assert closure(pairs) == set(networkx.transitive_closure(networkx.DiGraph(pairs)).edges)


@given(acyclic_pairs())
def test_closure_and_reduction_agree_with_each_other(pairs: list[Pair]) -> None:
    reduced: Collection[Pair] = networkx.transitive_reduction(networkx.DiGraph(pairs)).edges
    assert compare_orders(closure(pairs), reduced).agrees


@given(acyclic_pairs(), st.data())
def test_turning_an_edge_of_the_reduction_is_always_found(pairs: list[Pair], data: st.DataObject) -> None:
    reduced: list[Pair] = sorted(networkx.transitive_reduction(networkx.DiGraph(pairs)).edges)
    if not reduced:
        return
    turned = data.draw(st.sampled_from(reduced))
    seen = [pair for pair in reduced if pair != turned] + [turned[::-1]]
    assert turned in compare_orders(seen, pairs).reversed


@given(acyclic_pairs(), st.data())
def test_losing_an_edge_of_the_reduction_is_always_found(pairs: list[Pair], data: st.DataObject) -> None:
    reduced: list[Pair] = sorted(networkx.transitive_reduction(networkx.DiGraph(pairs)).edges)
    if not reduced:
        return
    lost = data.draw(st.sampled_from(reduced))
    comparison = compare_orders([pair for pair in reduced if pair != lost], pairs)
    assert lost in comparison.missing
    assert not comparison.extra
