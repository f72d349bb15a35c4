"""One module per format of files; its name is the format's. See
`taskloom.evaluators_api.state.reading.Format` for what it defines."""
