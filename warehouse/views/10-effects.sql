-- One change that a performance of a subtask made between its start and its end.
-- subtask_id: The subtask.
-- trajectory_id: The performance.
-- essential: Whether every performance that agrees with this one makes it; NULL where there is nothing to compare with.
-- area: Part of the state: file, directory, clipboard, window or screen.
-- container: Path of the file or directory; empty for the other areas.
-- format: Format that the file was read as.
-- address: Place in the container, from the outside in.
-- kind: Kind of change: added, removed or changed.
-- before: Value at the start.
-- after: Value at the end.
-- source: Place that held the whole new value at the start: `clipboard` or a path.
-- container_template: The container with the values of parameters replaced by their names in braces.
-- address_template: The address in terms of the parameters; `*` for positions and generated ids.
-- before_template: The value at the start in terms of the parameters.
-- after_template: The value at the end in terms of the parameters.
SELECT
    subtask_id,
    trajectory_id,
    CASE WHEN compared > 1 THEN essential END AS essential,
    effect.area AS area,
    effect.container AS container,
    effect.format AS format,
    effect.address AS address,
    effect.kind AS kind,
    effect.before AS before,
    effect.after AS after,
    effect.source AS source,
    effect.container_template AS container_template,
    effect.address_template AS address_template,
    effect.before_template AS before_template,
    effect.after_template AS after_template
FROM (
    SELECT subtask_id, trajectory_id, compared, true AS essential, unnest(essential) AS effect FROM performance_effects
    UNION ALL
    SELECT subtask_id, trajectory_id, compared, false AS essential, unnest(incidental) AS effect FROM performance_effects
)
