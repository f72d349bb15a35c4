-- Contents of a table or view, column by column.
-- parameter table: Table or view; `any` lists all [default: any]
SELECT table_name, column_name, column_type, comment
FROM data_model
WHERE $table = 'any' OR table_name = $table
