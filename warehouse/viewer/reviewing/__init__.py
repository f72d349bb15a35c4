"""Reviews in the viewer: the only thing that it can write (`taskloom view --review`).

desk             takes reviews from pages that hold its token, and stores them
turns            no page is made while a review is stored
queue            which task a person reviews next
review_pages     the pages
"""
