"""Task graphs from JSON: `task_graphs` reads any of three forms, `forms` describes them, `values` binds
resources, `faults` words what is wrong."""
