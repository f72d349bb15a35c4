"""Reports on attempts: figures, tables, pages.

statistics       intervals, paired differences, pass@k, agreement
standings        the figures of each agent
tables           the paper's tables, a leaderboard, and second opinions on the functions' verdicts
figures          the paper's figures, as SVG, and the report page
"""
