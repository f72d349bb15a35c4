"""The viewer's pages; each module has `add_pages(application, site)`."""
