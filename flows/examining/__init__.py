"""Examines evaluation functions again, from recorded evidence alone (`examination`)."""
