"""What WebArena-Verified's package says of runs that are made up here: of each task the one that its expectations describe, and others that
differ from that in some way. One JSON object a line; prints where the package has its tasks.

Usage: verified.py OUTPUT [CASES], where CASES is how many runs are made up of each task (6)."""

import copy
import json
import logging
import random
import string
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote, quote_plus, urlencode

import webarena_verified
from webarena_verified.api import WebArenaVerified
from webarena_verified.types.config import WebArenaVerifiedConfig
from webarena_verified.types.task import WebArenaSite

ADDRESSES = {site.url_name_template: f"http://{site.value.replace('_', '-')}.test:7770" for site in WebArenaSite}
CONFIG = {"environments": {name: {"urls": [url]} for name, url in ADDRESSES.items()}}


def with_addresses(text):
    for name, url in ADDRESSES.items():
        text = text.replace(name, url)
    return text


def one_of(value):
    """One of the alternatives that an expectation names."""
    return random.choice(value) if isinstance(value, list) and value else value


def plain(value):
    """A value as an agent may have found it: in lists, one of the alternatives."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(one_of(item)) for item in value]
    return value


def from_pattern(text):
    """Something that a pattern may stand for."""
    if not text.startswith("^"):
        return text
    return "".join(c for c in text.strip("^$").replace(".*", "x").replace("\\", "") if c not in "()?=|")


# --- answers

WORDS = [
    str.upper, str.lower, str.title, lambda text: f"  {text} ", lambda text: text + ".", lambda text: text.replace(" ", "  "),
    lambda text: text.replace("-", "\u2013"), lambda text: text.replace(",", ""), lambda text: f"${text}", lambda text: f"{text} USD",
    lambda text: text[:-1], lambda text: text + random.choice(string.ascii_letters + string.digits), lambda text: text.replace("'", "\u2019"),
    lambda text: text.replace("km", " kilometers").replace("min", " minutes").replace("h ", " hours "), lambda text: text.replace("/", "-"),
    lambda text: text.replace("http://", "https://"), lambda text: text.rstrip("/") + "/", lambda text: text.replace("0", "00"), lambda text: "",
    lambda text: text.replace("January", "Jan").replace("February", "02"), lambda text: f"about {text}", lambda text: text.encode("ascii", "ignore").decode(),
]
NUMBERS = [
    str, lambda n: f"${n}", lambda n: f"{n:,}", lambda n: f"{n:.2f}", lambda n: n + 1, lambda n: -n, lambda n: n * 1.0, lambda n: f"{n} items",
    lambda n: f"USD {n:,.2f}", lambda n: n + 0.004, lambda n: f" {n} ", lambda n: None, lambda n: f"\u20ac{n}", lambda n: f"({n})", lambda n: f"{n}%",
]


def otherwise(value):
    """A value as somebody else might write it, or another one."""
    if isinstance(value, bool):
        return random.choice([not value, str(value), str(value).lower(), int(value), "yes" if value else "no", "maybe", None])
    if isinstance(value, (int, float)):
        return random.choice(NUMBERS)(value)
    if isinstance(value, str):
        return random.choice(WORDS)(value)
    if isinstance(value, list):
        return random.choice([of_list, of_item])(value)
    if isinstance(value, dict) and value:
        value, key = dict(value), random.choice(list(value))
        way = random.random()
        if way < 0.15:
            del value[key]
        elif way < 0.25:
            value[random.choice(["more", key.upper(), f" {key}"])] = value[key]
        elif way < 0.3:
            return list(value.values())
        else:
            value[key] = otherwise(value[key])
        return value
    return random.choice([None, "", [], {}, "N/A", 0])


def of_list(value):
    ways = [lambda: value[::-1], lambda: value[1:], lambda: value + value[:1], lambda: [value], lambda: [], lambda: None, lambda: value + ["more"]]
    if len(value) == 1:
        ways.append(lambda: value[0])
    if all(isinstance(item, str) for item in value):
        ways.append(lambda: ", ".join(value))
    return random.choice(ways)()


def of_item(value):
    if not value:
        return value
    value, place = list(value), random.randrange(len(value))
    value[place] = otherwise(value[place])
    return value


def other_answer(answer):
    """The text that an agent may have given instead."""
    answer = dict(answer)
    way = random.random()
    if way < 0.7:
        answer["retrieved_data"] = otherwise(answer["retrieved_data"])
    elif way < 0.76:
        answer["status"] = random.choice(["SUCCESS", "success", "NOT_FOUND_ERROR", "UNKNOWN_ERROR", " SUCCESS ", "ACTION_NOT_ALLOWED_ERROR", "DONE", None])
    elif way < 0.82:
        answer["task_type"] = random.choice(["RETRIEVE", "retrieve", "navigate", "Mutate", " mutate", "look", None])
    elif way < 0.86:
        del answer[random.choice(list(answer))]
    elif way < 0.89:
        answer[random.choice(["note", "Status", "performed_operation"])] = "navigate"
    elif way < 0.92:
        return f"```json\n{json.dumps(answer)}\n```"
    elif way < 0.95:
        return random.choice(["", "done", "null", "[]", "42", '"SUCCESS"', json.dumps(answer)[:-1], f"The answer is {json.dumps(answer)}"])
    else:
        return json.dumps([answer])
    return json.dumps(answer, ensure_ascii=random.random() < 0.5)


# --- requests


def body_of(expected, content_type):
    """A body in which what is expected is found."""
    fields = {}
    for path, value in expected.items():
        value = from_pattern(value) if isinstance(value, str) else value
        place, keys = fields, [path]
        if path.startswith("$."):
            keys = path[2:].replace("[0]", "").split(".")
        for key in keys[:-1]:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                break
        else:
            place[keys[-1]] = value
    if content_type == "application/json":
        return json.dumps(fields)
    if content_type.startswith("multipart"):
        parts = (f'--XX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
        return "".join(parts) + "--XX--\r\n"
    return urlencode({name: "" if value is None else json.dumps(value) if isinstance(value, (dict, list)) else value for name, value in fields.items()})


def entry(url, method="GET", status=200, headers=(), body=None, content=None, cookies=()):
    request = {"method": method, "url": url, "headers": [{"name": name, "value": value} for name, value in headers]}
    if body:
        request["postData"] = {"mimeType": body[0], "text": body[1]}
    response = {
        "status": status, "headers": [], "redirectURL": url if 300 <= status < 400 else "",
        "content": {"mimeType": "application/json", "text": content} if content else {"mimeType": "text/html", "text": "<p>"},
        "cookies": [{"name": name, "value": quote(value)} for name, value in cookies],
    }
    return {"request": request, "response": response}


def asked_for(rule):
    """A request that an evaluator of the network looks for."""
    expected = rule["expected"]
    url = with_addresses(from_pattern(one_of(expected["url"])))
    if not url.startswith("http"):
        url = f"{random.choice(list(ADDRESSES.values()))}/{url.lstrip('/')}"
    query = [(name, from_pattern(str(one_of(values)))) for name, values in (expected.get("query_params") or {}).items()]
    if query:
        url += ("&" if "?" in url else "?") + "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in query)
    method = one_of(expected.get("http_method")) or "GET"
    headers = [("Accept", "text/html,application/xhtml+xml")]
    headers += [(name, with_addresses(from_pattern(one_of(value)))) for name, value in (expected.get("headers") or {}).items()]
    body = None
    if expected.get("post_data"):
        nested = any(name.startswith("$.") or isinstance(value, (dict, list)) for name, value in expected["post_data"].items())
        plain_types = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=XX"]
        content_type = "application/json" if nested and random.random() < 0.8 else random.choice([*plain_types, "application/json"])
        body = (content_type, body_of(expected["post_data"], content_type))
    content = body_of(expected["response_content"], "application/json") if expected.get("response_content") else None
    cookies = [(name, from_pattern(value)) for name, value in (expected.get("response_cookies") or {}).items()]
    return entry(url, method, expected.get("response_status") or 200, headers, body, content, cookies)


def other_request(asked):
    asked = copy.deepcopy(asked)
    request, response = asked["request"], asked["response"]
    url = request["url"]
    joint = "&" if "?" in url else "?"
    ways = [
        lambda: request.update(url=url.rstrip("/")), lambda: request.update(url=url + "/"), lambda: request.update(url=f"{url}{joint}page=2"),
        lambda: request.update(url=f"{url}{joint}_={random.randrange(99)}"), lambda: request.update(url=f"{url}#top"),
        lambda: request.update(url=url.replace(".test:7770", ".test")), lambda: request.update(url=url.replace("http:", "https:")),
        lambda: request.update(url=url.upper()), lambda: request.update(url=url.replace("+", "%20")), lambda: request.update(url=url.split("?")[0]),
        lambda: request.update(url="?".join([*url.split("?")[:1], *("&".join(part.split("&")[::-1]) for part in url.split("?")[1:])])),
        lambda: request.update(method=random.choice(["GET", "POST", "PUT", "DELETE"])), lambda: response.update(status=random.choice([200, 302, 404, 500])),
        lambda: request.update(headers=[]), lambda: response.update(cookies=[]), lambda: response.pop("content"),
    ]
    if "postData" in request:
        text = request["postData"]["text"]
        ways += [lambda: request.pop("postData"), lambda: request["postData"].update(text=text[:-2]), lambda: request["postData"].update(text=text.upper()),
                 lambda: request["postData"].update(text=text.replace("1", "2")), lambda: request["postData"].update(text=f"{text}&more=1")] * 2
    random.choice(ways)()
    return asked


def other_trace(trace):
    trace = list(trace)
    place = random.randrange(len(trace))
    way = random.random()
    if way < 0.65:
        trace[place] = other_request(trace[place])
    elif way < 0.75:
        trace.append(other_request(trace[place]))
    elif way < 0.85:
        trace.insert(0, other_request(trace[place]))
    elif way < 0.95:
        del trace[place]
    else:
        trace.reverse()
    return trace


def runs(task, cases):
    """What an agent answered, and what went over the network."""
    rule = task["eval"][0]["expected"]
    for number in range(cases):
        answer = {
            "task_type": rule["task_type"], "status": one_of(rule["status"]), "retrieved_data": plain(rule.get("retrieved_data")), "error_details": None,
        }
        trace = [entry(url, headers=[("Accept", "text/html")]) for url in map(with_addresses, task["start_urls"])]
        trace += [asked_for(rule) for rule in task["eval"][1:] if not rule.get("should_not_exist") or random.random() < 0.2]
        network = len(task["eval"]) > 1
        # Half of what is changed is the answer, where there is more to look at.
        changed = number > 0 and (not network or random.random() < 0.4)
        text = other_answer(answer) if changed else json.dumps(answer)
        if number > 0 and network and not changed:
            trace = other_trace(trace)
        yield text, trace


def main():
    logging.disable()
    output = Path(sys.argv[1])
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    package = WebArenaVerified(config=WebArenaVerifiedConfig(**CONFIG))
    dataset = Path(webarena_verified.__file__).parent / "assets/dataset/webarena-verified.json"
    random.seed(7)
    with tempfile.TemporaryDirectory() as folder, output.open("w") as lines:
        lines.write(json.dumps(CONFIG) + "\n")
        said, network = Path(folder) / "agent_response.json", Path(folder) / "network.har"
        for task in json.loads(dataset.read_text()):
            for text, trace in runs(task, cases):
                har = json.dumps({"log": {"entries": trace}})
                said.write_text(text)
                network.write_text(har)
                result = package.evaluate_task(task_id=task["task_id"], agent_response=said, network_trace=network)
                case = {"task": task["task_id"], "answer": text, "har": har, "status": str(result.status), "score": result.score,
                        "by_evaluator": [str(one.status) for one in result.evaluators_results]}
                lines.write(json.dumps(case) + "\n")
    print(dataset)


if __name__ == "__main__":
    main()
