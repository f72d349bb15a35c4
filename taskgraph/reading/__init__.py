"""Task graphs from JSON: `task_graphs` reads either of two forms and binds resources, `forms` describes them,
`faults` words what is wrong."""
