"""Playwright in the browser of one task. Needs ``pip install playwright``; its own browsers are not needed.

    python3 clients/python/examples/with_playwright.py [SANDBOX]
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sandbox_agents

sandbox = sys.argv[1] if len(sys.argv) > 1 else "sandbox"
with sandbox_agents.AttachedSession("tasks/demo", "guest-booking", sandbox=sandbox) as session:
    print(session.goal)
    with session.playwright() as page:
        page.get_by_role("link", name="My trips").click()
        page.get_by_role("link", name="Continue as guest").click()
        page.get_by_role("link", name="RE 406").click()
        page.wait_for_url("**/trains/**")
    result = session.answer("This is the train.")
print(result["outcome"]["kind"], result["score"])
