-- A subtask of a task: one node of its graph.
-- task_id: The task.
-- position: Place of the node in the graph's topological order, from 1.
-- instance_id: The subtask bound to its parameters.
-- subtask_id: The subtask template.
-- application: Application it is done in.
-- application_category: Category of that application.
-- instruction: Instantiated instruction.
-- parameters: The parameter set.
-- inputs: Resources read.
-- outputs: Resources written.
SELECT
    task_id,
    place AS position,
    node.instance_id AS instance_id,
    node.subtask_id AS subtask_id,
    node.application AS application,
    node.application_category AS application_category,
    node.instruction AS instruction,
    node.parameters AS parameters,
    node.inputs AS inputs,
    node.outputs AS outputs
FROM (SELECT task_id, unnest(nodes) AS node, generate_subscripts(nodes, 1) AS place FROM tasks)
