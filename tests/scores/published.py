"""The published scorers, as PyPI has them, through their own entry points.

What they need of browsers, judges and sites is not asked for by the vectors, and stood in for by empty classes. Task files are parsed before: their evaluators
parse them at every call, ours are given them parsed, and what is compared is scoring.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
import types

# Not used by what is timed: other packages, and the parts that drive browsers and ask models.
ABSENT = ["PIL", "browsergym.assistantbench.task", "browsergym.core", "evaluate", "playwright"] + [
    f"{package}.{part}" for package in ("webarena", "visualwebarena")
    for part in ("browser_env", "llms", "evaluation_harness.image_utils")]


class Page:
    """All that is asked of a page: its address, and what a locator gives."""

    def __init__(self, url="http://page.test", content=None):
        self.url, self.text = url, content

    def content(self):
        return self.text


class Session:
    """What nobody asks anything of."""


class Module(types.ModuleType):
    """An absent module: what is asked of it is a class."""

    known = {"Action": dict, "StateInfo": dict, "Page": Page, "CDPSession": Session}

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = self.known.get(name) or type(name, (), {"__init__": lambda self, *_, **__: None})
        setattr(self, name, made)
        return made


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes absent modules."""

    def find_spec(self, name, path=None, target=None):
        if any(name == absent or name.startswith(absent + ".") for absent in ABSENT):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        module.__path__ = []


def answers(module, vector):
    evaluator = module.StringEvaluator()
    config = {"intent": "", "eval": {"reference_answers": vector["reference_answers"], "string_note": ""}}
    return task(module, evaluator, config, vector["prediction"], Page())


def addresses(module, vector, evaluator):
    rule = {key: vector[key] for key in ("reference_url", "url_note") if key in vector}
    return task(module, getattr(module, evaluator)(), {"eval": rule}, "", Page(url=vector["url"]))


def contents(module, vector):
    target = {"url": "last", "locator": "", "required_contents": vector["required_contents"]}
    return task(module, module.HTMLContentEvaluator(), {"eval": {"program_html": [target]}}, "", Page(content=vector["content"]))


def task(module, evaluator, config, answer, page):
    """A call of an evaluator, which opens its task's file and is given what is in it."""
    trajectory, opened = [{}, {"answer": answer}], contextlib.nullcontext(config)
    arguments = [trajectory, "task.json", page]
    if not module.__name__.startswith("visual"):
        arguments.append(Session())

    def call():
        module.open = lambda *_: opened
        return evaluator(*arguments)

    return call


def scorers():
    """What makes a call of a vector, by metric."""
    sys.meta_path.insert(0, Absent())
    webarena = importlib.import_module("webarena.evaluation_harness.evaluators")
    visual = importlib.import_module("visualwebarena.evaluation_harness.evaluators")
    for module in (webarena, visual):
        module.json = types.SimpleNamespace(load=lambda config: config)
    question_scorer = importlib.import_module("browsergym.assistantbench.evaluation.evaluator").question_scorer
    return {
        "assistantbench.answer": lambda v: lambda: question_scorer(v["prediction"], v["gold"])[0],
        "visualwebarena.string_match": lambda v: answers(visual, v),
        "visualwebarena.url_match": lambda v: addresses(visual, v, "URLExactEvaluator"),
        "webarena.required_contents": lambda v: contents(webarena, v),
        "webarena.string_match": lambda v: answers(webarena, v),
        "webarena.url_match": lambda v: addresses(webarena, v, "URLEvaluator"),
    }
