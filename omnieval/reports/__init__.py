"""What becomes of attempts: figures, tables, pages.

statistics       intervals, paired differences, pass@k, agreement
standings        the figures of each agent
tables           the paper's tables, a leaderboard, and second opinions beside the functions
figures          the paper's figures, as SVG, and all of it on one page
"""
