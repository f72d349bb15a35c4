-- Price of model calls by stage and model.
SELECT stage, role, provider, model, sum(calls)::BIGINT AS calls, sum(input_tokens)::BIGINT AS input_tokens, sum(cached_input_tokens)::BIGINT AS cached_input_tokens, sum(output_tokens)::BIGINT AS output_tokens, round(sum(cost_usd), 4) AS cost_usd
FROM costs
GROUP BY ALL
ORDER BY cost_usd DESC, stage, role, provider, model
