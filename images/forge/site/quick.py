"""What makes the forge start and answer quickly; none of it changes what a page says.

Pagure has a thousand routes, and the way back from each to its URL is compiled at start: here that waits until a page
links to the route. It also collects garbage by hand at the end of each request, which is two thirds of a request's time:
the interpreter's own collector is enough. Templates are compiled once, while the image is built.
"""
import gc
import os
import types

import jinja2
import pagure.flask_app
import pagure.lib.tasks_utils
import werkzeug.routing

TEMPLATES = os.environ.get("TEMPLATE_CACHE", "/srv/templates")
compile_now = werkzeug.routing.Rule._compile_builder


def compile_later(rule, append_unknown=True):
    made = []

    def build(*arguments, **values):
        if not made:
            made.append(compile_now(rule, append_unknown))
        return made[0](*arguments, **values)

    return build


werkzeug.routing.Rule._compile_builder = compile_later
pagure.flask_app.gc = pagure.lib.tasks_utils.gc = types.SimpleNamespace(collect=lambda: 0)


def create_app():
    """Pagure's application, with what it has loaded out of the collector's sight."""
    gc.disable()
    app = pagure.flask_app.create_app()
    app.jinja_env.bytecode_cache = jinja2.FileSystemBytecodeCache(TEMPLATES)
    gc.freeze()
    gc.enable()
    return app


def compile_templates():
    """Fills the cache of templates: run once, while the image is built."""
    os.makedirs(TEMPLATES, exist_ok=True)
    templates = create_app().jinja_env
    for name in sorted(templates.list_templates(extensions=["html"])):
        templates.get_template(name)


if __name__ == "__main__":
    compile_templates()
