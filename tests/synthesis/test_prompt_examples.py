"""What the prompts show as an example is itself right."""

from __future__ import annotations

import re

from taskloom.evaluators_api.interpreter.static_analysis import analyse
from taskloom.prompts.inputs import EvaluationWriterInput
from taskloom.prompts.replies import EvaluationWriterReply


def test_the_example_of_an_evaluation_function_passes_static_analysis() -> None:
    system = (
        EvaluationWriterInput(
            checks_reference="",
            operating_system="linux",
            application="notes",
            title="Notes",
            instruction_template="Write '{text}' into '{text_path}'.",
            parameter_names=("text_path", "text"),
            performances=(),
        )
        .rendered()
        .system
    )
    (example,) = re.findall(r"```json\n(.*?)\n```", system, flags=re.DOTALL)
    source = EvaluationWriterReply.model_validate_json(example).source
    assert analyse(source, ("text_path", "text")).problems == ()
