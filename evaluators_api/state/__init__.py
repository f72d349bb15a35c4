"""The state that evidence holds, read as trees of addressed values, compared and edited.

`formats/`        one module per file format: text to tree, and values back into text
`nodes`           the tree
`comparison`      what differs between two trees
`effects`         what differs between two pieces of evidence, in terms of the parameters
`essential`       which effects every performance has, and which only some
`editing`         evidence in which an effect is undone, altered, moved, or in which something else is lost
`templates`       values in terms of parameters
`volatility`      files that applications write for themselves
"""
