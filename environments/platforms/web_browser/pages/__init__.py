"""Observing and acting in pages.

tab                one page: waiting, questions, scripts, pictures, mouse and keyboard
tab_set            the open tabs of an environment, and the state that a browser starts an application with
screen             page and task bar as one observation, and the fonts of its texts
environment_page   windows that the environment itself shows: file picker, questions, lists
controls.js        lists the controls of a page
settle.js          waits until a page is at rest
"""
