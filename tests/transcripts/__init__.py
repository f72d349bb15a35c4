"""Sessions of models, written by hand in the style of real ones, as YAML: who was asked, about what, and the
replies in turn."""
