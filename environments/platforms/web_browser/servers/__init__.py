"""The servers behind applications.

hosting              all servers of one environment
application_server   one server process
resting              whether one can run on while its files are put back
running_application  one that somebody else started
static_server        files served from a folder
telling              what a server answers when it is asked for its state
template_state       clean states, prepared once and copied at every reset
login                logs a user in once, for the clean state
relay                runs inside a confined server's network and carries its connections
"""
