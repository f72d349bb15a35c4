"""The servers behind applications.

hosting              all servers of one environment, and files served from a folder
application_server   one server process, started here or already running; the state that it reports
template_state       clean states, prepared once (with a user logged in) and copied at every reset
relay                runs inside a confined server's network and carries its connections
"""
