-- Combinations of complexity levels that occur, the most frequent first.
-- parameter limit: Rows at most [default: 50]
SELECT *
FROM complexity_cells
ORDER BY
    tasks DESC
    , {dimension}_level
LIMIT $limit::BIGINT
