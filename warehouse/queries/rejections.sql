-- Reasons for rejection by stage, with an example of each.
SELECT stage, item_kind, reason, count(*) AS items, any_value(message) AS example
FROM rejections
GROUP BY stage, item_kind, reason
ORDER BY items DESC, stage, item_kind, reason
