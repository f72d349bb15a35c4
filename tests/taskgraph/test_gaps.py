"""What is empty or thin is named, with what it lacks."""

from taskloom.resources.capability_presets import Capability
from taskloom.resources.dimensions import LEVELS, TABLE
from taskloom.taskgraph.measures.cells import gaps_of

SMALL = (1, 2, 1, 2, 1)
LARGE = (9, 10, 4, 5, 5)
PLANNING = Capability(
    name="planning",
    title="Planning",
    as_printed={"dependency": "hard", "branch": "hard"},
    repaired={"dependency": "hard", "branch": "hard"},
)


def test_every_level_that_no_task_has_is_named_and_no_other() -> None:
    named = {gap.name for gap in gaps_of({SMALL: 50, LARGE: 50}, [])}
    assert named == {f"medium in {row.name}" for row in TABLE}
    assert not gaps_of({}, [PLANNING])
    few = {gap.name: gap for gap in gaps_of({SMALL: 97, LARGE: 3}, [])}
    assert len(few) == (len(LEVELS) - 1) * len(TABLE)
    assert str(few["hard in knowledge"]).startswith(
        "3 tasks (3.0%); it takes 4 and more application categories"
    )
    assert "the most is" not in str(few["hard in knowledge"])


def test_a_level_of_no_task_says_how_near_the_nearest_comes() -> None:
    found = {gap.name: str(gap) for gap in gaps_of({SMALL: 10}, [])}
    assert found["hard in hierarchy"].startswith("none; it takes depth 5 and more, the most is 2. For more:")
    assert found["medium in branch"].startswith("none; it takes width 3 to 4, the most is 1.")
    easy = {gap.name: str(gap) for gap in gaps_of({LARGE: 10}, [])}
    assert easy["easy in dependency"] == "none; it takes at most 1 edges, the fewest is 9"
    assert all("composition." in text for name, text in easy.items() if name.startswith("medium"))


def test_a_capability_says_which_of_its_levels_are_absent() -> None:
    (absent,) = [gap for gap in gaps_of({SMALL: 10}, [PLANNING]) if gap.name == "Planning"]
    assert (
        str(absent)
        == "none; it takes tasks that are hard in dependency and hard in branch, and none is hard in"
        " dependency or hard in branch"
    )
    deep, wide = (9, 10, 4, 5, 2), (3, 6, 4, 2, 5)
    (apart,) = [gap for gap in gaps_of({deep: 5, wide: 5}, [PLANNING]) if gap.name == "Planning"]
    assert (
        str(apart)
        == "none; of the tasks, 5 are hard in dependency and 5 are hard in branch, few of them both"
    )
    assert "Planning" not in {gap.name for gap in gaps_of({LARGE: 10}, [PLANNING])}
