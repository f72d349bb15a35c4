-- How well an evaluation function distinguishes right from wrong work.
-- function_id: The function.
-- subtask_id: The subtask it judges.
-- application: Application of the subtask.
-- negatives: Pieces of wrong work it was examined with.
-- negatives_killed: Those it rejected.
-- kill_rate: Share rejected; NULL without any.
-- variants: Pieces of right work, done in other ways, it was examined with.
-- variants_accepted: Those it accepted.
-- routes: Different routes among the performances that it was tested on; 1 where only one is known.
-- unguarded_changes: Number of essential changes whose absence it does not notice.
-- mutants: Mutated versions of the function.
-- mutants_killed: Those that some evidence distinguished from the original.
-- mutation_score: Share of mutants killed; NULL without mutants.
-- route_dependence: Share of its checks that read the input log rather than state.
-- untested_checks: Number of checks that no evidence tests.
-- families: Families of wrong and right work used.
SELECT
    f.function_id AS function_id,
    f.subtask_id AS subtask_id,
    s.application AS application,
    coalesce(list_sum([family.total FOR family IN f.families IF family.family NOT IN genuine]), 0)::BIGINT AS negatives,
    coalesce(list_sum([family.killed FOR family IN f.families IF family.family NOT IN genuine]), 0)::BIGINT AS negatives_killed,
    list_sum([family.killed FOR family IN f.families IF family.family NOT IN genuine])
        / nullif(list_sum([family.total FOR family IN f.families IF family.family NOT IN genuine]), 0) AS kill_rate,
    coalesce(list_sum([family.total FOR family IN f.families IF family.family IN genuine]), 0)::BIGINT AS variants,
    coalesce(list_sum([family.killed FOR family IN f.families IF family.family IN genuine]), 0)::BIGINT AS variants_accepted,
    coalesce(f.routes, 0) AS routes,
    coalesce(len(f.unguarded_changes), 0) AS unguarded_changes,
    f.mutants AS mutants,
    f.mutants_killed AS mutants_killed,
    f.mutants_killed / nullif(f.mutants, 0) AS mutation_score,
    f.route_dependence AS route_dependence,
    len(f.untested_checks) AS untested_checks,
    [family.family FOR family IN f.families] AS families
FROM (SELECT *, ['second_positive', 'without_route', 'without_messages', 'incidental_change'] AS genuine FROM evaluation_functions) AS f
LEFT JOIN subtasks AS s USING (subtask_id)
WHERE f.accepted
