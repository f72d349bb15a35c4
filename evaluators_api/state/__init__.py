"""The state that evidence holds, read as trees of addressed values, compared and edited.

formats/                    one module per file format: text to tree, and values back into text
reading                     finds the format of a file and reads it
references                  the records behind ids that applications make up
nodes, records              the tree, and the records in it: rows, objects, elements
comparison                  what differs between two trees
effects                     what differs between two pieces of evidence, in terms of the parameters
essential, side_effects     which effects every performance has, and which go beyond the work
editing, further_editing    evidence in which an effect is undone, altered or moved, or something else is
                            changed or lost
adding                      evidence in which more was made than was asked for
mixing                      evidence in which the right values are not together
removing                    evidence in which a sibling is removed instead
templates                   values in terms of parameters, and how those look that applications make up
kept_data                   how many records of all that applications keep differ
noise                       which changes are none, because applications make them by themselves
"""
