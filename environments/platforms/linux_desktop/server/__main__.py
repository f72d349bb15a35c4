"""`python -m taskloom.environments.platforms.linux_desktop.server`, in a machine."""

from taskloom.environments.platforms.linux_desktop.server.http_server import serve

serve()
