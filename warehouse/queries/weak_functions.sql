-- Evaluation functions that distinguish right from wrong work worst.
-- parameter limit: Rows at most [default: 20]
SELECT function_id, application, kill_rate, variants, variants_accepted, routes, mutation_score, route_dependence, untested_checks, unguarded_changes
FROM evaluation_quality
ORDER BY kill_rate NULLS FIRST, mutation_score NULLS FIRST, route_dependence DESC, function_id
LIMIT $limit::BIGINT
