"""Task graphs from JSON: `task_graphs` reads either of two forms and binds resources, `forms` describes the
plain form, `faults` describes mistakes."""
