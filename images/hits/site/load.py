"""Adds projects to the golden state while an image is built: python load.py FOLDER

Each file of FOLDER has JSON lines: a project's `name` and `template`, then its tasks, with an `id` and `inputs` by name.
"""
import datetime
import json
import os
import pathlib
import sys

import time_machine

time_machine.travel(datetime.datetime(2023, 6, 15, 9, tzinfo=datetime.timezone.utc), tick=False).start()
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
import django  # noqa: E402

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.exceptions import ValidationError  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from turkle.models import Batch, Project, Task  # noqa: E402

with transaction.atomic():
    boss = User.objects.get(username="admin")
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            head, *tasks = map(json.loads, lines)
        project = Project(name=head["name"], html_template=head["template"], filename=f"{path.stem}.html", created_by=boss, updated_by=boss)
        try:
            project.process_template()
        except ValidationError as error:
            sys.exit(f"{path.name}: Turkle does not take the template ({error.messages[0]}); remove the file, and its tasks from the suite")
        project.save()
        batch = Batch.objects.create(name=head["name"], project=project, created_by=boss, filename=f"{path.stem}.csv")
        Task.objects.bulk_create([Task(id=task["id"], batch=batch, input_csv_fields=task["inputs"]) for task in tasks], batch_size=500)
        print(f"{path.stem}: {len(tasks)} tasks")
with connection.cursor() as cursor:
    cursor.execute("VACUUM")
    cursor.execute("ANALYZE")
