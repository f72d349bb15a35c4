-- How many subtasks and tasks reached each step, and why the others did not.
SELECT step, reason, items FROM funnel ORDER BY position, step, items DESC, reason
