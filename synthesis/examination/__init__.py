"""Whether a function tells right from wrong.

examination         the cases, mutants of the function and the kill matrix; `verdict` accepts or rejects
subject             what is examined
counterfeits        wrong work made from right work
other_work          wrong work otherwise
other_content       another content given at the start
genuine_variants    right work by other ways
"""
