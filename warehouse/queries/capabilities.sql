-- Tasks per capability of Table 12.
SELECT capability, count(*) AS tasks
FROM (SELECT unnest(capabilities) AS capability FROM tasks)
GROUP BY capability
ORDER BY tasks DESC, capability
