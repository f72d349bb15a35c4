"""The state that evidence holds, read as trees of addressed values, compared and edited.

formats/                    one module per file format: text to tree, and values back into text
reading                     finds the format of a file and reads it
references                  the records behind ids and around changes, and the sources of copied values
nodes, records              the tree, and the records in it: rows, objects, elements
comparison                  the differences between two trees
effects                     the differences between two pieces of evidence, in terms of the parameters
essential                   the effects that every performance has: what writers see and examinations demand
allowances                  what the work on a subtask may change
account                     what an episode changed beyond what its subtasks may change
editing                     evidence in which an effect is undone or has another value
operators                   evidence in which a value is moved, exchanged or halved, or a sibling is damaged
templates                   values in terms of parameters, and what generated values look like
noise                       changes that applications make by themselves
"""
