"""Drives the task `quiet-coach` of the demo suite with Selenium."""

import os

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

address = os.environ["SANDBOX_WEBDRIVER"]
with webdriver.Remote(command_executor=address, options=webdriver.ChromeOptions()) as driver:
    wait = WebDriverWait(driver, 20)
    assert driver.current_url == os.environ["SANDBOX_START_URL"], driver.current_url

    # Pictures, scripts, dialogs, tabs, and what is not the episode's.
    assert driver.get_screenshot_as_png().startswith(b"\x89PNG")
    assert driver.execute_script("return [arguments[0] + 1, document.title]", 1) == [2, driver.title]
    driver.execute_script("setTimeout(() => { window.reply = confirm('Is it?') })")
    wait.until(lambda driver: driver.switch_to.alert).accept()
    assert driver.execute_script("return window.reply") is True
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get("https://www.cityscreen.test/")
    for url in ("file:///etc/passwd", "chrome://version/"):
        try:
            driver.get(url)
            raise AssertionError(f"{url} was opened")
        except WebDriverException as error:
            assert "addresses are not opened" in error.msg, error.msg
    driver.close()
    driver.switch_to.window(first)

    Select(driver.find_element(By.NAME, "from")).select_by_visible_text("Brackwater")
    Select(driver.find_element(By.NAME, "to")).select_by_visible_text("Aldport Central")
    driver.find_element(By.XPATH, "//button[. = 'Find trains']").click()
    wait.until(lambda driver: driver.find_elements(By.LINK_TEXT, "IC 104"))[0].click()
    # The page is told of free seats by and by.
    row = wait.until(lambda driver: driver.find_elements(By.XPATH, "//tr[td[. = 'Quiet']]"))[0]
    free = wait.until(lambda _: row.text.split()[-1] if row.text.split()[-1].isdigit() else None)
with open(os.environ["SANDBOX_ANSWER_FILE"], "w") as answer:
    answer.write(free)
