"""Task graphs with controlled complexity, without a model: `composition` is the entry, `request` says what is asked and answered."""
