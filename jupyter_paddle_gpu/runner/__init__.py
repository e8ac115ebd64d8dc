"""The only code that runs beside the user's notebook: standard library alone, Python 3.8 or later.

Started as `python <this folder, or a zip of it> <job folder>/spec.json`. Two processes: the supervisor (`supervisor`)
owns every file of the job folder; its child (`child`) executes the cells and owns nothing, so that whatever becomes of
the user's code, what it printed and showed up to there is kept.
"""
