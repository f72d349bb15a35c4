"""Publishing by hand: the gates decide, unless they are overruled."""

from __future__ import annotations

from taskloom.flows.errors import CommandError
from taskloom.flows.nights.gates import gate_results
from taskloom.flows.running.clock import now
from taskloom.flows.setting_groups import GateSettings
from taskloom.resources.errors import ExitCode
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.warehouse.store import Warehouse


def pass_gates(warehouse: Warehouse, settings: GateSettings, *, force: bool = False) -> list[str]:
    """Hold the present state against the gates and keep the results; what does not hold, in words, if `force`
    overrules it.

    Raises:
        CommandError: a gate does not hold.
    """
    name = f"by hand {now().isoformat(timespec='seconds')}"
    found = gate_results(warehouse, settings, name, Provenance(stage="publishing"))
    failed = [item.explanation for item in found if not item.held]
    if failed and not force:
        raise CommandError(
            f"nothing is published, because {'a gate does' if len(failed) == 1 else 'gates do'} not hold:"
            f" {'; '.join(failed)}. Change the limits with the settings gates.…, or publish all the same with"
            " --force.",
            ExitCode.GATE_FAILED,
        )
    warehouse.write(
        [item.model_copy(update={"forced": not item.held}) for item in found],
        replace=True,
    )
    return failed
