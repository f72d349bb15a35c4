"""Evaluation functions examined again, from recorded evidence alone."""
