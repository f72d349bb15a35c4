"""What is seen and done in pages.

tab                one page: waiting, questions, looking
tab_set            the open tabs of an environment, and what the browser keeps of an application at the start
fonts              texts drawn by a font that was not meant for them
screen             page and task bar as one observation
inputs             mouse and keyboard
task_bar           the bar below the page
environment_page   windows that the environment shows itself: file picker, questions, lists
controls.js        lists the controls of a page
settle.js          waits until a page is at rest
"""
