"""An agent of browser-use in the browser of one task. Needs ``pip install browser-use`` and a model, as its documentation says.

    OPENAI_API_KEY=... python3 clients/python/examples/with_browser_use.py MODEL [SANDBOX]
"""

import asyncio
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sandbox_agents


async def play(session, model):
    import browser_use

    agent = browser_use.Agent(task=session.goal, llm=browser_use.ChatOpenAI(model=model), browser=session.browser_use())
    history = await agent.run(max_steps=20)
    return history.final_result() or ""


model, sandbox = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "sandbox"
with sandbox_agents.AttachedSession("tasks/demo", "guest-booking", sandbox=sandbox) as session:
    result = session.answer(asyncio.run(play(session, model)))
print(result["outcome"]["kind"], result["score"])
