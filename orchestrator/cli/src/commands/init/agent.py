"""An agent: a function from what it sees to what it does.

    sandbox run <<folder>> --agent 'program:python3 <<folder>>/agent.py'
"""

import sandbox_agents


def act(observation):
    # What there is to look at: goal, step, url, title, and the page as a tree of named elements in
    # `axtree`. What an agent does is written as in BrowserGym: click('12'), fill('7', 'text'),
    # goto('https://...'), send_msg_to_user('an answer').
    return f"send_msg_to_user({observation['title']!r})", "the title is what the task asks for"


sandbox_agents.run(act, name="title reader")
