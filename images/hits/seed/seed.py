"""Fills the task site: run once while the image is built, with the clock at the world's first moment."""
import csv
import datetime
import hashlib
import io
import os
import random

import time_machine

NOW = datetime.datetime(2023, 6, 15, 9, tzinfo=datetime.timezone.utc)
clock = time_machine.travel(NOW, tick=False).start()
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
import django  # noqa: E402

django.setup()

from django.contrib.auth.hashers import make_password  # noqa: E402
from django.contrib.auth.models import Group, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from turkle.models import Batch, Project, TaskAssignment  # noqa: E402

import rows  # noqa: E402

PROJECTS = [  # name, template, allotted hours
    ("Describe a landscape", "scene", 2), ("Sort railway messages", "message", 1), ("Type in receipts", "receipt", 4),
    ("Compare two answers", "compare", 1), ("Neighbourhood survey", "survey", 24), ("Take addresses apart", "address", 2)]
BATCHES = [  # project, name, rows, how many, answers wanted for each, days ago, published
    (0, "Coast, first set", rows.scenes, 24, 1, 20, True), (1, "Messages of May", rows.messages, 30, 1, 14, True),
    (1, "Messages of June", rows.messages, 18, 2, 3, True), (2, "Shoebox A", rows.receipts, 20, 1, 11, True),
    (3, "Everyday science", rows.comparisons, 12, 2, 9, True), (4, "Spring round", rows.surveys, 15, 1, 30, True),
    (5, "Club members", rows.addresses, 22, 1, 6, True), (5, "Club members, second list", rows.addresses, 10, 1, 1, False)]
PEOPLE = [("admin", "admin1234", True), ("worker", "worker123", False), ("nora", "worker123", False),
          ("piotr", "worker123", False), ("samira", "worker123", False), ("walt", "worker123", False)]
SAMPLES = {"scene": {"boats": "2", "houses": "3", "trees": "2", "time": "day"}, "message": {"topic": "delay", "mood": "negative"},
           "receipt": {"shop": "Fenn Market", "date": "2023-04-12", "items": "4", "dearest": "Coffee", "total": "21.77", "paid": "card"},
           "compare": {"choice": "A", "why": "It gives a reason.", "sure": "4"},
           "survey": {"often": "Once a week", "content": "3", "age": "44", "wish": "Longer opening hours on Saturdays."},
           "address": {"name": "Ada Brook", "house": "12", "street": "Mill Lane", "town": "Coldwater"}}


def moment(days_ago):
    clock.move_to(NOW - datetime.timedelta(days=days_ago), tick=False)


def people():
    moment(60)
    annotators = Group.objects.create(name="Annotators")
    made = []
    for name, password, staff in PEOPLE:
        salt = hashlib.sha256(name.encode()).hexdigest()[:32]
        user = User.objects.create(username=name, email=f"{name}@piecework.example", password=make_password(password, salt=salt),
                                   is_staff=staff, is_superuser=staff)
        user.groups.add(*([] if staff else [annotators]))
        made.append(user)
    return made[0], made[2:]


def table(found):
    found = list(found)
    text = io.StringIO()
    writer = csv.DictWriter(text, found[0])
    writer.writeheader()
    writer.writerows(found)
    return io.StringIO(text.getvalue())


def fill():
    rng = random.Random(20230615)
    # The row for those who are not logged in comes with the tables, and with a password of chance that nobody can have.
    User.objects.filter(username="AnonymousUser").update(password="!nobody")
    boss, workers = people()
    moment(40)
    projects = []
    for name, template, hours in PROJECTS:
        with open(f"/srv/seed/templates/{template}.html") as file:
            projects.append(Project.objects.create(name=name, html_template=file.read(), filename=f"{template}.html", created_by=boss,
                                                   updated_by=boss, allotted_assignment_time=hours))
    for project, name, make, count, wanted, age, published in BATCHES:
        moment(age)
        batch = Batch.objects.create(name=name, project=projects[project], created_by=boss, filename=f"{name.lower().replace(' ', '-')}.csv",
                                     assignments_per_task=wanted, active=True, published=published, allotted_assignment_time=PROJECTS[project][2])
        batch.create_tasks_from_csv(table(make(rng, count)))
        # Others have worked on the older batches already; none of this is the account `worker`'s.
        for task in list(batch.task_set.order_by("id"))[:count // 4 if age > 5 else 0]:
            for helper in rng.sample(workers, wanted):
                clock.shift(datetime.timedelta(minutes=rng.randint(2, 9)))
                TaskAssignment.objects.create(task=task, assigned_to=helper, completed=True, answers=SAMPLES[PROJECTS[project][1]],
                                              expires_at=NOW)
    moment(0)


call_command("migrate", verbosity=0, interactive=False)
call_command("collectstatic", verbosity=0, interactive=False)
with transaction.atomic():
    fill()
with connection.cursor() as cursor:
    cursor.execute("VACUUM")
    cursor.execute("ANALYZE")
