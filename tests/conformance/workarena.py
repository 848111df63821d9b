"""What WorkArena's package says of its own tasks: every goal, and what its validation gives for states of an instance that
are made up here, and which of them its published seeds are. One JSON object a line; prints where the package has its files. It is run as it is, on an instance and a page that only
answer.

Usage: workarena.py OUTPUT [CASES], where CASES is of how many tasks of each kind states are made up (60)."""

import ast
import importlib
import json
import random
import sys
import types
from pathlib import Path
from urllib.parse import quote

import numpy

ADDRESS = "https://desk.test"


class Anything(type):
    def __getattr__(cls, name):
        return cls


class Nothing(metaclass=Anything):
    """Takes whatever it is given. As a decorator it leaves a function as it is."""

    def __init__(self, *_, **__):
        pass

    def __call__(self, *given, **_):
        return given[0] if len(given) == 1 and callable(given[0]) else self

    def __getattr__(self, name):
        return Nothing()

    def __or__(self, other):
        return self


class Task:
    """BrowserGym's task, as far as it is needed."""

    def __init__(self, seed=None):
        self.random = random.Random(0)

    def setup_goal(self, page):
        pass

    def validate(self, page, chat_messages):
        pass

    def teardown(self):
        pass


class Faker:
    def first_name(self):
        return random.choice(["Ada", "Bela"])

    def last_name(self):
        return random.choice(["Finch", "Moss"])

    def __getattr__(self, name):
        return lambda *_, **__: name


def stand_in(name, **given):
    """A module in place of one that would reach for a browser or a network."""
    module = types.ModuleType(name)
    module.__dict__.update(given)
    module.__path__ = []
    module.__getattr__ = lambda _: Nothing
    sys.modules[name] = module
    above, _, last = name.rpartition(".")
    if above in sys.modules:
        setattr(sys.modules[above], last, module)


def load():
    """The package, without what runs when it is imported as a whole."""
    for name in ["playwright", "playwright._impl", "requests", "huggingface_hub", "huggingface_hub.utils"]:
        stand_in(name)
    for name in ["playwright.sync_api", "playwright.sync_api._generated"]:
        stand_in(name, Error=type("Error", (Exception,), {}), TimeoutError=type("TimeoutError", (Exception,), {}))
    stand_in("requests.exceptions", HTTPError=type("HTTPError", (Exception,), {}))
    stand_in("requests", HTTPError=sys.modules["requests.exceptions"].HTTPError)
    stand_in("tenacity", retry=lambda *_, **__: lambda function: function)
    stand_in("faker", Faker=Faker)
    stand_in("english_words", get_english_words_set=lambda _: {"oak"})
    stand_in("browsergym.core")
    stand_in("browsergym.core.task", AbstractBrowserTask=Task)
    stand_in("browsergym.core.registration")
    whole = types.ModuleType("browsergym.workarena")
    for folder in sys.path:
        if (Path(folder) / "browsergym/workarena").is_dir():
            whole.__path__ = [str(Path(folder) / "browsergym/workarena")]
    sys.modules["browsergym.workarena"] = whole
    kinds = {}
    modules = {}
    for name in ["navigation", "knowledge", "list", "form", "service_catalog", "dashboard"]:
        module = importlib.import_module(f"browsergym.workarena.tasks.{name}")
        modules[name] = module
        for kind in module.__TASKS__:
            kinds[kind.get_task_id().removeprefix("workarena.servicenow.")] = kind
    return kinds, modules


# The order in which the package's own list of kinds takes its modules.
ORDER = ["dashboard", "form", "knowledge", "list", "navigation", "service_catalog"]


def published(modules):
    """The seeds of the published tasks by kind: `get_all_tasks_agents` of the package, without what is imported around it."""
    kinds = [kind for name in ORDER for kind in modules[name].__TASKS__]
    text = (Path(sys.modules["browsergym.workarena"].__path__[0]) / "__init__.py").read_text()
    wanted = [part for part in ast.parse(text).body if isinstance(part, ast.FunctionDef) and part.name == "get_all_tasks_agents"]
    scope = {"np": numpy, "ATOMIC_TASKS": kinds}
    exec(compile(ast.Module(wanted, []), "__init__.py", "exec"), scope)  # noqa: S102
    seeds = {}
    for kind, seed in scope["get_all_tasks_agents"]("l1"):
        seeds.setdefault(kind, []).append(seed)
    return seeds


class Stream(numpy.random.RandomState):
    """A task's stream, which remembers what was chosen last."""

    def choice(self, listed, *rest, **named):
        self.chosen = super().choice(listed, *rest, **named)
        return self.chosen


def drawn(kind, seed, listed):
    """The number of the configuration that a task of this seed draws, after its user."""
    user = importlib.import_module("browsergym.workarena.api.user")
    row = {"sys_id": "0a", "system": "false"}
    user.table_api_call = lambda *_, json=None, **__: {"result": {**json, **row} if json else [row]}
    user.get_workarena_theme_variants = lambda _: [{"style.sys_id": str(theme)} for theme in range(10)]
    task = kind(instance=Instance(), seed=seed)
    task.random = Stream(seed)
    user.create_user(instance=task.instance, random=task.random)
    # What follows the choice needs a form, and draws nothing.
    task._get_form = task._get_fields = lambda _: None
    task.setup_goal(Page({"url": ""}))
    return next(number for number, config in enumerate(listed) if config == task.random.chosen)


class Instance:
    snow_url = ADDRESS
    snow_credentials = ("admin", "admin")
    report_filter_config = {"report_date_filter": "2026-01-02", "report_time_filter": "03:04:05"}


class Page:
    """Answers what validation asks of a page by the state that is given."""

    def __init__(self, state):
        self.state = state
        self.url = state.get("url", "")

    def evaluate(self, script):
        state = self.state
        if "window.location.href" in script:
            return state["url"]
        if script == "window.NOW":
            return {"user": {"isImpersonating": state["user"]["impersonating"], "userID": state["user"]["id"]}}
        if "WORKARENA_BAD_FIELD_CHANGED" in script:
            return state["sent"]["spoilt"]
        if script == "localStorage":
            return Sent(state["sent"]["sys_id"])
        if script.endswith(".getQuery()"):
            return state["list"]["query"]
        if script.endswith(".getOrderBy()"):
            return state["list"]["order"]
        if script.endswith(".sortDir"):
            return state["list"]["direction"]
        if script.endswith((".getTitle()", ".getTableName()", ".fields")):
            return ""
        if "renderTo.ariaLabel" in script:
            return [[chart["title"], str(place)] for place, chart in enumerate(state["charts"])]
        place = int(script.split("renderTo.id ===")[1].strip().strip("'\"").split("'")[0].split('"')[0])
        chart = state["charts"][place]
        if script.strip().endswith(".types"):
            return chart["types"]
        return [
            {
                "name": series["name"],
                "data": [
                    {
                        "label_cat": point["category"],
                        "label_name": point["name"],
                        "label_origx": point["original"],
                        "count": point["count"],
                        "percent": point["percent"],
                    }
                    for point in series["points"]
                ],
            }
            for series in chart["series"]
        ]

    def frame(self, name=None):
        return self

    def locator(self, _):
        return self

    def count(self):
        return 1

    def __getattr__(self, name):
        return lambda *_, **__: None


class Sent:
    """The browser's storage: whatever the key is, there is one record that was sent."""

    def __init__(self, sys_id):
        self.sys_id = sys_id

    def get(self, _, otherwise=None):
        return otherwise if self.sys_id is None else self.sys_id


def answering(modules):
    """Has the package's calls of tables answered from `tables`, by the table alone. Gives that dictionary."""
    tables = {}

    def call(instance=None, table=None, **_):
        return {"result": [dict(row) for row in tables.get(table, [])]}

    for module in modules.values():
        for name in ["table_api_call", "db_delete_from_table"]:
            if hasattr(module, name):
                setattr(module, name, call)
    requests = importlib.import_module("browsergym.workarena.api.requests")
    requests.table_api_call = call
    for name in ["list", "form"]:
        modules[name].table_column_info = lambda **_: {}
    modules["service_catalog"].sleep = lambda _: None
    modules["knowledge"].check_knowledge_base = lambda *_, **__: (None, False, False)
    modules["list"].ServiceNowListTask._get_visible_list = lambda *_: (None, None, "list")
    return tables


def elsewhere(state):
    return {**state, "url": ADDRESS + "/now/nav/ui/home"}


def menu(task, config, chance):
    right = {"url": ADDRESS + config["url"]}
    yield right, None, {}
    yield {"url": ADDRESS + config["url"].replace("%3F", "?")}, None, {}
    yield {"url": right["url"] + chance.choice(["#", "?", "x", "/"])}, None, {}
    yield elsewhere(right), None, {}


def impersonation(task, config, chance):
    state = {"url": ADDRESS + "/now/nav/ui/home", "user": {"id": "a", "impersonating": True}}
    yield state, None, {"sys_user": [{"name": config}]}
    yield state, None, {"sys_user": [{"name": config + " "}]}
    yield state, None, {"sys_user": []}
    yield {**state, "user": {"id": "a", "impersonating": False}}, None, {"sys_user": [{"name": config}]}


def knowledge(task, config, chance):
    state = {"url": ADDRESS + "/kb"}
    for answer in [config["value"], *config["alternative_answers"]]:
        for said in [answer, answer.upper(), f"It is {answer}.", answer[:-1]]:
            yield state, said, {}
    yield state, None, {}
    yield state, chance.choice(["", "no", config["item"]]), {}


def filter_(task, config, chance):
    state = {"url": f"{ADDRESS}/now/nav/ui/classic/params/target/{task.table_name}_list.do%3Fsysparm_query%3Dx"}
    tables = {}

    def part(column, value):
        info = config["list_info"]["columns"][column]
        if info["type"] == "reference" and value:
            shown = {info["reference_attributes"]["display_field"]: {"display_value": value}}
            tables.setdefault(info["reference"], []).append(shown)
            return f"{column}=0a"
        if info["type"] == "choice":
            kept = [kept for kept, label in info["choices"].items() if label == value]
            value = kept[0] if kept else ""
        return column + ("ISEMPTY" if value == "" else "=" + value)

    joint = "^" if config["filter_kind"] == "AND" else "^OR"
    parts = [part(*one) for one in zip(config["filter_columns"], config["filter_values"])]
    # One record answers for a whole table here, so tables that are asked twice would be ambiguous:
    # both sides take the first.
    for query in [
        joint.join(parts),
        joint.join(reversed(parts)),
        joint.join(parts).replace("ISEMPTY", "EMPTYSTRING"),
        joint.join(parts).replace("^OR", "^NQ"),
        joint.join(parts[1:]),
        joint.join(parts + parts[:1]),
        joint.join(parts[:1] * len(parts)),
        ("^OR" if joint == "^" else "^").join(parts),
        joint.join(parts).replace("=", chance.choice(["!=", "STARTSWITH", "LIKE", ">", "= "]), 1),
        joint.join(parts[:-1] + [parts[-1] + "x"]),
        joint.join([*parts[:-1], "other=1"]),
        "",
    ]:
        found = {**state, "list": {"query": query, "order": "", "direction": ""}}
        yield found, None, tables
    yield elsewhere({**state, "list": {"query": joint.join(parts), "order": "", "direction": ""}}), None, tables


def sort(task, config, chance):
    start = task.start_url
    words = {"asc": "ORDERBY", "desc": "ORDERBYDESC"}
    parts = [words[way] + column for column, way in zip(config["sort_fields"], config["sort_dirs"])]

    def state(query, order, direction):
        address = f"{start}%3Fsysparm_query%3D{quote(quote(query, safe=''), safe='')}" if query is not None else start
        return {"url": address, "list": {"query": query or "", "order": order, "direction": direction}}

    first, way = config["sort_fields"][0], config["sort_dirs"][0]
    other = "DESC" if way == "asc" else "ASC"
    yield state("^".join(parts), first, way.upper()), None, {}
    yield state("active=true^" + "^".join(parts) + "^EQ", first, way), None, {}
    yield state("^".join(reversed(parts)), config["sort_fields"][-1], way), None, {}
    yield state("^".join([*parts, "ORDERBYother"]), "other", way), None, {}
    yield state("^".join(["ORDERBYother", *parts]), first, other), None, {}
    yield state("^".join(parts).replace("DESC", ""), first, other), None, {}
    yield state(None, "", ""), None, {}
    yield elsewhere(state("^".join(parts), first, way)), None, {}


def form(task, config, chance):
    at = task.start_url
    table = task.table_name
    record = {field: task.template_record[field] for field in task.task_fields}
    sent = {"sys_id": "0a", "spoilt": False}
    shown = {field: {"display_value": value} if chance.random() < 0.3 else value for field, value in record.items()}
    field = chance.choice(task.task_fields)
    for url in [at, at.replace(".do", "_list.do"), at + "%3Fsys_id%3D0a", ADDRESS + "/now/nav/ui/home",
                ADDRESS + "/now/nav/ui/classic/params/target/sn_chg_model_ui_landing.do"]:
        yield {"url": url, "sent": sent}, None, {table: [shown]}
    yield {"url": at, "sent": sent}, None, {table: [{**shown, field: record[field] + "x"}]}
    yield {"url": at, "sent": sent}, None, {table: [{key: value for key, value in shown.items() if key != field}]}
    yield {"url": at, "sent": sent}, None, {table: []}
    yield {"url": at, "sent": {"sys_id": None, "spoilt": False}}, None, {table: [shown]}
    yield {"url": at, "sent": {"sys_id": "0a", "spoilt": True}}, None, {table: [shown]}


def order(task, config, chance):
    page = ADDRESS + "/now/nav/ui/classic/params/target/com.glideapp.servicecatalog_checkout_view_v2.do"
    state = {"url": page + "%3Fsysparm_sys_id%3D0a"}

    def tables(description=config["description"], quantity=config["quantity"], items=1, **changed):
        answers = {question: answer for question, (_, answer) in config["configuration"].items()}
        answers.update({question: answer for question, answer in changed.items() if question in answers})
        asked = "sc_item_option.item_option_new.question_text"
        rows = [{asked: key, "sc_item_option.value": str(value).lower().replace(" ", "_") if config["configuration"][key][0]
                 != "textarea" else "please: " + str(value)} for key, value in answers.items() if value is not None]
        item = {"sys_id": "0b", "short_description": description, "quantity": str(quantity)}
        return {"sc_request": [{"sys_id": "0a"}], "sc_req_item": [item] * items, "sc_item_option_mtom": rows}

    yield state, None, tables()
    yield state, None, tables(description=config["description"].upper())
    yield state, None, tables(description="Another")
    yield state, None, tables(quantity=config["quantity"] + 1)
    yield state, None, tables(items=0)
    yield state, None, tables(items=2)
    yield state, None, {**tables(), "sc_request": []}
    yield {"url": page}, None, tables()
    yield {"url": page + "%3Fsysparm_sys_id%3D"}, None, tables()
    yield {"url": page + "?sysparm_sys_id=0a&sysparm_sys_id=0b"}, None, tables()
    for question in config["configuration"]:
        yield state, None, tables(**{question: "other"})
        yield state, None, tables(**{question: None})


def chart(task, config, chance):
    asked = [part.strip() for part in config["question"].split(";")]
    label = asked[2] if len(asked) == 3 else "Open"
    names = list(dict.fromkeys([label, "Closed 12", "North, old", "Label " + str(chance.randint(1, 99))]))
    chance.shuffle(names)
    kind = chance.choice(["pie", "bar", "column", "line", "spline", "area"])

    def point(name):
        count = chance.choice([0, 1, 3, 3, 12, 250, 1234.5])
        seen = name if kind in ["bar", "column", "spline"] else chance.choice(["", "other " + name])
        other = "" if kind in ["bar", "column", "spline"] else name
        return {"category": seen, "name": other, "original": chance.choice(["", "", "zz", " " + name]),
                "count": count, "percent": None if count == 0 else chance.choice([12.5, 33.333333333, 100.0])}

    def drawn(title, series):
        points = lambda: [point(name) for name in names]  # noqa: E731
        return {"title": title, "types": [kind] * len(series), "series": [{"name": one, "points": points()} for one in series]}

    title = config["chart_title"] or "Any"
    series = [config["chart_series"], "Another"] if config["chart_series"] else ["Only"]
    charts = [drawn(f"{title.upper()}. Highcharts interactive chart.", series), drawn("Other", ["Only"])]
    if config["chart_title"] and chance.random() < 0.5:
        charts.reverse()
    state = {"url": task.start_url, "charts": charts}
    answers = [None, "", "none", "12", f"{label}: 3", f"{label}, 1,234.5", f"{label.lower()} 250.0", "12 or 250", f"{label} 0",
               f"{label} 12.5%", f"{label} 33.3333", f"Closed 12: 3", f"Closed 12 and North, old have 1", f"{label} 1234.51"]
    for said in answers:
        yield state, said, {}
    yield elsewhere(state), "12", {}
    yield {**state, "charts": charts[1:]}, f"{label} 3", {}
    charts = [{**one, "types": ["pie", "map"]} for one in charts]
    yield {**state, "charts": charts}, f"{label} 3", {}


MAKERS = [("filter-", filter_), ("sort-", sort), ("create-", form), ("order-", order), ("all-menu", menu),
          ("impersonation", impersonation), ("knowledge", knowledge), ("single-", chart), ("multi-", chart)]


def main(output, cases):
    kinds, modules = load()
    seeds = published(modules)
    tables = answering(modules)
    lines = 0
    with open(output, "w") as out:
        for name, kind in sorted(kinds.items()):
            make = next(make for prefix, make in MAKERS if name.startswith(prefix))
            # The files of these two are read by an instance of the class.
            probe = kind(instance=Instance(), seed=0)
            listed = probe.all_configs() if callable(probe.all_configs) else probe.all_configs
            # Reading a file of tens of megabytes anew for every task would take the most of an
            # hour.
            kind.all_configs = lambda *_, listed=listed: listed
            draws = [[seed, drawn(kind, seed, listed)] for seed in seeds[kind]]
            chosen = set(random.Random(name).sample(range(len(listed)), min(cases, len(listed))))
            for number, config in enumerate(listed):
                task = kind(instance=Instance(), seed=0, fixed_config=json.loads(json.dumps(config)))
                page = Page({"url": ""})
                goal, _ = task.setup_goal(page)
                line = {"kind": name, "number": number, "goal": goal}
                if number == 0:
                    line["published"] = draws
                if make is form:
                    line["values"] = {field: task.template_record[field] for field in task.task_fields}
                    # Nothing of the form itself is asked.
                    task._get_form = task._get_fields = lambda _: None
                    task.fields = {field: {"label": field} for field in task.task_fields}
                if number in chosen:
                    line["start"] = task.start_url.removeprefix(ADDRESS)
                    line["cases"] = []
                    for state, said, rows in make(task, config, random.Random(f"{name} {number}")):
                        tables.clear()
                        tables.update(rows)
                        chat = [] if said is None else [{"role": "assistant", "message": said}]
                        case = {"state": state, "said": said, "tables": rows}
                        try:
                            reward, done, _, _ = task.validate(Page(state), chat)
                            case.update(reward=float(reward), done=done)
                        except Exception as problem:  # noqa: BLE001
                            case["raised"] = type(problem).__name__
                        line["cases"].append(case)
                out.write(json.dumps(line) + "\n")
                lines += 1
    print(f"{len(kinds)} kinds of WorkArena, {lines} tasks", file=sys.stderr)
    print(sys.modules["browsergym.workarena"].__path__[0] + "/data_files")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60)
