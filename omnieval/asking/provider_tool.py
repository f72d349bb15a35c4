"""An agent that operates the screen through its provider's computer tool."""

from taskloom.environments.agent import Agent
from taskloom.environments.computer_use import ComputerConversation
from taskloom.omnieval.brief import AgentBrief
from taskloom.prompts.inputs import ComputerActorInput
from taskloom.taskgraph.records.computer_use import ComputerReply, ComputerTurn
from taskloom.taskgraph.records.interaction import Screenshot


def tool_agent(brief: AgentBrief) -> Agent:
    """The agent; with the setting `safety_checks: acknowledge` it does what the provider has doubts about."""
    task = brief.task
    safety = brief.settings.get("safety_checks", "refuse")

    async def ask(instruction: str, first: Screenshot, turns: tuple[ComputerTurn, ...]) -> ComputerReply:
        question = ComputerActorInput(
            application=", ".join(item.name for item in task.applications),
            title=", ".join(item.title for item in task.applications),
            manual="\n\n".join(f"# {item.title}\n{item.manual}" for item in task.applications),
            instruction=instruction,
            step_limit=task.step_limit,
            screenshot=first,
            computer=turns,
            own_prompt=brief.prompt,
        )
        return await brief.ask(question)

    return ComputerConversation(ask, "acknowledge" if safety == "acknowledge" else "refuse")
