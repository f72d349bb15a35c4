"""What is seen and done in pages.

tab                one page: waiting, questions, looking, mouse and keyboard
tab_set            the open tabs of an environment, and what the browser keeps of an application at the start
screen             page and task bar as one observation, and the fonts of its texts
environment_page   windows that the environment shows itself: file picker, questions, lists
controls.js        lists the controls of a page
settle.js          waits until a page is at rest
"""
