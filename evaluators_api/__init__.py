"""What generated evaluation functions may call, and the sandbox they run in.

`checks/` are the functions they call, `evidence/` what the checks read, `interpreter/` admits and runs the code.
`state/` reads files as trees of addressed values, compares states (effects) and edits them.
`reference` writes the page that models are given.
"""
