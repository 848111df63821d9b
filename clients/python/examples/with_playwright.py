"""Playwright in the browser of one task. Needs ``pip install playwright``; its own browsers are not needed.

    python3 clients/python/examples/with_playwright.py [SANDBOX]
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sandbox_agents

sandbox = sys.argv[1] if len(sys.argv) > 1 else "sandbox"
with sandbox_agents.Door("tasks/demo", "guest-booking", sandbox=sandbox) as door:
    print(door.goal)
    with door.playwright() as page:
        page.get_by_role("link", name="My trips").click()
        page.get_by_role("link", name="Continue as guest").click()
        page.get_by_role("link", name="RE 406").click()
        page.wait_for_url("**/trains/**")
    result = door.answer("This is the train.")
print(result["outcome"]["kind"], result["score"])
