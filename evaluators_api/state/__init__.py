"""The state that evidence holds, read as trees of addressed values, compared and edited.

formats/                    one module per file format: text to tree, and values back into text
reading                     finds the format of a file and reads it
references                  the records behind ids, around changes, and what new values are copies of
nodes, records              the tree, and the records in it: rows, objects, elements
comparison                  what differs between two trees
effects                     what differs between two pieces of evidence, in terms of the parameters
essential                   which effects every performance has: what writers see and examinations demand
allowances                  what work may change
account                     what an episode changed beyond what its subtasks may change
editing                     evidence in which an effect is undone, or has another value
operators                   evidence in which it is moved, exchanged or halved, or a sibling is harmed
templates                   values in terms of parameters, and how those look that applications make up
noise                       which changes are none, because applications make them by themselves
"""
