"""taskloom: datasets of verified, graph-structured tasks for computer-use agents, made from applications."""
