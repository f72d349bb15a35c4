-- Combinations of complexity levels that occur, the most frequent first.
-- parameter limit: Rows at most [default: 50]
SELECT * FROM complexity_cells ORDER BY tasks DESC, dependency_level, instruction_level, knowledge_level, hierarchy_level, branch_level LIMIT $limit::BIGINT
