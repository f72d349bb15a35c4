"""One module per format of files, called as the format is; it defines what `state.reading.Format` says."""
