"""Ways from one place to another: A* over the street graph, by bicycle, by car or on foot."""

import heapq
import math

from world import NODES, WAYS, metres

# kilometres an hour by kind of way; None where one may not go
SPEED = {
    "bicycle": {"primary": 17, "secondary": 16, "residential": 15, "footway": None, "path": 11},
    "car": {"primary": 42, "secondary": 32, "residential": 22, "footway": None, "path": None},
    "foot": {"primary": 4.8, "secondary": 4.8, "residential": 4.8, "footway": 4.8, "path": 4.5},
}
TURNS = [(20, "Continue onto"), (60, "Bear {} onto"), (130, "Turn {} onto"), (181, "Make a sharp turn {} onto")]


def build(mode):
    graph = {}
    for way in WAYS:
        speed = SPEED[mode][way["level"]]
        if speed is None:
            continue
        seconds = way["metres"] / speed * 3.6 + (4 if mode == "car" else 1)
        graph.setdefault(way["a"], []).append((way["b"], seconds, way))
        if not way["oneway"] or mode == "foot":
            graph.setdefault(way["b"], []).append((way["a"], seconds, way))
    return graph


GRAPHS = {mode: build(mode) for mode in SPEED}
FASTEST = {mode: max(v for v in speeds.values() if v) / 3.6 for mode, speeds in SPEED.items()}


def closest(graph, point):
    return min(graph, key=lambda n: (metres(NODES[n], point), n))


def path(mode, start, goal):
    graph, came, cost = GRAPHS[mode], {}, {start: 0}
    heap, done = [(0, start)], set()
    while heap:
        _, node = heapq.heappop(heap)
        if node == goal:
            steps = []
            while node != start:
                before, way = came[node]
                steps.append((before, node, way))
                node = before
            return list(reversed(steps)), cost[goal]
        if node in done:
            continue
        done.add(node)
        for other, seconds, way in graph.get(node, []):
            total = cost[node] + seconds
            if total < cost.get(other, math.inf):
                cost[other], came[other] = total, (node, way)
                heapq.heappush(heap, (total + metres(NODES[other], NODES[goal]) / FASTEST[mode], other))
    return None, None


def heading(a, b):
    return math.degrees(math.atan2((b[1] - a[1]) * 0.579, b[0] - a[0]))


def compass(angle):
    return ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"][int((angle % 360 + 22.5) // 45) % 8]


def instructions(steps):
    """Joined steps along one name: (text, metres, where)."""
    out, angle = [], None
    for before, after, way in steps:
        a, b = NODES[before], NODES[after]
        turned = heading(a, b)
        if out and out[-1]["name"] == way["name"]:
            out[-1]["metres"] += way["metres"]
        else:
            if angle is None:
                text = f"Go {compass(turned)} on {way['name']}"
            else:
                delta = (turned - angle + 180) % 360 - 180
                words = next(w for limit, w in TURNS if abs(delta) < limit)
                text = f"{words.format('right' if delta > 0 else 'left')} {way['name']}"
            out.append({"text": text, "name": way["name"], "metres": way["metres"], "at": a})
        angle = turned
    return out


def route(mode, start, goal):
    """From point to point: metres, seconds, the line and what to do on it; None where there is no way."""
    graph = GRAPHS[mode]
    first, last = closest(graph, start), closest(graph, goal)
    steps, seconds = path(mode, first, last)
    if steps is None:
        return None
    length = sum(way["metres"] for _, _, way in steps)
    line = [start, NODES[first]] + [NODES[after] for _, after, _ in steps] + [goal]
    return {"metres": length, "seconds": seconds, "line": line, "steps": instructions(steps)}
