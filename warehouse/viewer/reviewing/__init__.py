"""Reviews in the viewer: the only thing that it can write (`taskloom view --review`).

desk             takes reviews from pages that hold its token, and stores them
review_pages     the pages
"""
