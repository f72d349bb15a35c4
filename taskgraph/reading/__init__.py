"""Task graphs from JSON: `task_graphs` reads any of three forms and binds resources, `forms` describes them,
`faults` words what is wrong."""
