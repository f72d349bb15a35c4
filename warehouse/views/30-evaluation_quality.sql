-- How well an evaluation function tells right from wrong.
-- function_id: The function.
-- subtask_id: The subtask it judges.
-- application: Application of the subtask.
-- negatives: Pieces of evidence it was examined with.
-- negatives_killed: Those it judged rightly.
-- kill_rate: Share judged rightly; NULL without any.
-- mutants: Mutated versions of the function.
-- mutants_killed: Those that some evidence told from the original.
-- mutation_score: Share of mutants killed; NULL without mutants.
-- route_dependence: Share of its checks that read the input log rather than state.
-- untested_checks: Number of checks that no evidence tests.
-- families: Families of negatives used.
SELECT
    f.function_id AS function_id,
    f.subtask_id AS subtask_id,
    s.application AS application,
    coalesce(list_sum([family.total FOR family IN f.families]), 0)::BIGINT AS negatives,
    coalesce(list_sum([family.killed FOR family IN f.families]), 0)::BIGINT AS negatives_killed,
    list_sum([family.killed FOR family IN f.families]) / nullif(list_sum([family.total FOR family IN f.families]), 0) AS kill_rate,
    f.mutants AS mutants,
    f.mutants_killed AS mutants_killed,
    f.mutants_killed / nullif(f.mutants, 0) AS mutation_score,
    f.route_dependence AS route_dependence,
    len(f.untested_checks) AS untested_checks,
    [family.family FOR family IN f.families] AS families
FROM evaluation_functions AS f
LEFT JOIN subtasks AS s USING (subtask_id)
WHERE f.accepted
