"""What becomes of attempts: figures, tables, pages.

statistics   intervals, paired differences, pass@k
standings    the figures of each agent
tables       the paper's tables, and a leaderboard
figures      the paper's figures, as SVG
page         all of it on one page
"""
