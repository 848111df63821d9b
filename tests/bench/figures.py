"""Tables for people, and the promises the figures are held against."""

import statistics

COLUMNS = "| | rps (median) | runs | p50 ms | p99 ms | connects | CPU ms a request | RSS MB |"


def print_rows(title, rows):
    print(f"\n### {title}\n\n{COLUMNS}\n|---|---|---|---|---|---|---|---|")
    for name, row in rows.items():
        runs = " / ".join(f"{rps:,}" for rps in row["rps_runs"])
        print(f"| {name} | {row['rps']:,.0f} | {runs} | {row['p50_ms']:.2f} | {row['p99_ms']:.2f} "
              f"| {row['connects']:.0f} | {row['cpu_ms']:.2f} | {row['rss_mb']} |")


def print_replay(rows):
    print_rows("Replay: 2,000 URLs over HTTPS, 8 connections, bodies checked", rows)


def print_record(rows):
    print_rows("Recording the same URLs from a live origin", rows)


def print_size(rows):
    print("\n### Size\n\n| records | first open, indexing (ms) | open (ms) | RSS MB after 2,000 requests | rps | p99 ms |"
          "\n|---|---|---|---|---|---|")
    for records, row in rows.items():
        print(f"| {records:,} | {row['index_ms']:,.0f} | {row['open_ms']:.0f} | {row['rss_mb']} "
              f"| {row['rps']:,.0f} | {row['p99_ms']:.2f} |")


def print_unrecorded(rows):
    total = next(iter(rows.values()))["requests"]
    print(f"\n### Recorded bodies for {total:,} requests that were never recorded\n\n| | {' | '.join(rows)} |"
          f"\n|---|{'---|' * len(rows)}")
    for kind in next(iter(rows.values()))["kinds"]:
        print(f"| {kind} | {' | '.join(str(row['kinds'][kind]) for row in rows.values())} |")
    print(f"| all | {' | '.join(str(row['wrong']) for row in rows.values())} |")
    print(f"| recorded requests that were served | {' | '.join(str(row['recorded']) for row in rows.values())} |")


def promises(results):
    """What is promised, what was measured, whether it holds; only for the parts that ran."""
    held = []

    def promise(text, value, unit, kept):
        held.append({"promise": text, "measured": f"{value:.2f}{unit}", "kept": bool(kept)})

    if "replay" in results:
        rows = results["replay"]
        ours = rows["sandbox"]
        for peer, factor in (("pywb", 10), ("mitmdump", 5)):
            ratio = times(ours, rows[peer])
            promise(f"replay at least {factor} times {peer}", ratio, " times", ratio >= factor)
        ratio = ours["p99_ms"] / rows["direct"]["p99_ms"]
        promise("replay p99 at most 2 times that without a proxy", ratio, " times", ratio <= 2)
        lasting = rows["sandbox, 20,000 requests"]["p99_ms"]
        promise("replay p99 under 5 ms over 20,000 requests", lasting, " ms", lasting < 5)
    if "record" in results:
        rows = results["record"]
        ours = rows["sandbox record"]
        loss = 100 * (1 - times(ours, rows["sandbox, forwarding"]))
        promise("recording at most 20 % below plain forwarding", loss, " % below", loss <= 20)
        ratio = times(ours, rows["mitmdump -w"])
        promise("recording at least 3 times mitmdump -w", ratio, " times", ratio >= 3)
    if "size" in results:
        row = results["size"][max(results["size"])]
        promise("1,000,000 records in at most 150 MB", row["rss_mb"], " MB", row["rss_mb"] <= 150)
        promise("1,000,000 records open within 200 ms", row["open_ms"], " ms", row["open_ms"] <= 200)
    if "unrecorded" in results:
        ours = results["unrecorded"]["sandbox"]
        promise("no recorded body for what was never recorded", ours["wrong"], " bodies", ours["wrong"] == 0)
        promise("every recorded request served", ours["recorded"], " of 1,000", ours["recorded"] == 1000)
    return held


def times(ours, peer):
    """How many times the peer's rate ours is: the median over runs that followed one another."""
    return statistics.median(own / other for own, other in zip(ours["rps_runs"], peer["rps_runs"]))


def print_promises(held):
    print("\n### Promises\n\n| promise | measured | kept |\n|---|---|---|")
    for row in held:
        print(f"| {row['promise']} | {row['measured']} | {'yes' if row['kept'] else '**no**'} |")
