"""Drives the task `quiet-coach` of the demo suite with Selenium."""

import os

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

options = webdriver.ChromeOptions()
options.debugger_address = os.environ["SANDBOX_CDP"].removeprefix("http://")
service = webdriver.ChromeService(os.environ.get("SANDBOX_CHROMEDRIVER", "/usr/bin/chromedriver"))
driver = webdriver.Chrome(options=options, service=service)
wait = WebDriverWait(driver, 20)
assert driver.current_url == os.environ["SANDBOX_START_URL"], driver.current_url
Select(driver.find_element(By.NAME, "from")).select_by_visible_text("Brackwater")
Select(driver.find_element(By.NAME, "to")).select_by_visible_text("Aldport Central")
driver.find_element(By.XPATH, "//button[. = 'Find trains']").click()
wait.until(lambda driver: driver.find_elements(By.LINK_TEXT, "IC 104"))[0].click()
# The page is told of free seats by and by.
row = wait.until(lambda driver: driver.find_elements(By.XPATH, "//tr[td[. = 'Quiet']]"))[0]
free = wait.until(lambda _: row.text.split()[-1] if row.text.split()[-1].isdigit() else None)
with open(os.environ["SANDBOX_ANSWER_FILE"], "w") as answer:
    answer.write(free)
driver.quit()
