"""Makes the oracle of a task do one thing otherwise. What is judged stays as it was."""

import copy
import types


def spoil(task):
    """Replaces `task.cheat` by that of a copy with another aim."""
    other = copy.copy(task)
    words = None
    kind = type(task).__name__
    if kind.startswith("Sort"):
        other.sort_dirs = ["desc" if one == "asc" else "asc" for one in task.sort_dirs]
    elif kind.startswith("Filter"):
        other.filter_kind = "OR" if task.filter_kind == "AND" else "AND"
    elif kind.startswith("Create"):
        other.template_record, other.task_fields = other_record(task)
    elif kind.startswith("Order"):
        other.quantity = task.quantity % 9 + 1
    elif kind == "AllMenuTask":
        other.module = next(one for one in task.all_configs if one["application"] != task.module["application"])
    elif kind == "ImpersonationTask":
        other.user_full_name = next(one for one in task.all_configs if one != task.user_full_name)
    else:
        words = "I have looked, and I do not know."

    def cheat(self, page, chat_messages):
        type(task).cheat(other, page, chat_messages)
        if words:
            chat_messages[-1] = {**chat_messages[-1], "message": words}

    task.cheat = types.MethodType(cheat, task)


def other_record(task):
    """The record with another text in one field; without the last field where none is a text."""
    record, fields = dict(task.template_record), list(task.task_fields)
    texts = ("short_description", "description", "close_notes", "asset_tag", "serial_number", "first_name", "last_name",
             "email", "user_name", "title", "number")
    for name in texts:
        if name in fields and record.get(name):
            record[name] = record[name][:-1] + ("a" if record[name][-1] != "a" else "b")
            return record, fields
    return record, fields[:-1]
