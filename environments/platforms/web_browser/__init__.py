"""Real web applications in a real browser.

platform      what the platform offers
settings      its settings
environment   the environment
browser       one browser process, its driver, and what it keeps between episodes
pages/        observing and acting in pages: controls, pictures, inputs, tabs, the task bar
servers/      the applications' servers: clean states, processes, file servers
"""
