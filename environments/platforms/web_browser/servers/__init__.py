"""The servers behind applications.

hosting              all servers of one environment, and files served from a folder
application_server   one server process, or one that somebody else started; what it answers of its state
template_state       clean states, prepared once (with a user logged in) and copied at every reset
relay                runs inside a confined server's network and carries its connections
"""
