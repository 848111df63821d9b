"""Tables for people, and the figures that are kept."""

import statistics

import measured

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


def values(results):
    """The kept figures (`figures/bench.toml`) by their ids; only for the parts that ran."""
    kept = {}
    if "replay" in results:
        rows = results["replay"]
        ours = rows["sandbox"]
        kept["replay-pywb"] = times(ours, rows["pywb"])
        kept["replay-mitmproxy"] = times(ours, rows["mitmdump"])
        kept["replay-p99"] = ours["p99_ms"] / rows["direct"]["p99_ms"]
        kept["replay-p99-20000"] = rows["sandbox, 20,000 requests"]["p99_ms"]
    if "record" in results:
        rows = results["record"]
        ours = rows["sandbox record"]
        kept["record-loss"] = 100 * (1 - times(ours, rows["sandbox, forwarding"]))
        kept["record-mitmdump"] = times(ours, rows["mitmdump -w"])
    if "size" in results:
        few, many = (results["size"][count(results["size"])] for count in (min, max))
        kept["memory-2000"] = few["rss_mb"]
        kept["memory-million"] = many["rss_mb"]
        kept["open-million"] = many["open_ms"]
    if "unrecorded" in results:
        rows = results["unrecorded"]
        kept["unrecorded"] = rows["sandbox"]["wrong"]
        kept["unrecorded-pywb"] = rows["pywb"]["wrong"]
        kept["unrecorded-mitmproxy"] = rows["mitmdump"]["wrong"]
        kept["recorded-served"] = rows["sandbox"]["recorded"]
    return kept


def times(ours, peer):
    """How many times the peer's rate ours is: the median over runs that followed one another."""
    return statistics.median(own / other for own, other in zip(ours["rps_runs"], peer["rps_runs"]))


def print_targets(rows):
    """What was measured beside its target; `rows` are kept figures with their new values."""
    print("\n### Targets\n\n| figure | measured | target | |\n|---|---|---|---|")
    for row in rows:
        peer = f", against {row['peer']}" if "peer" in row else ""
        value = measured.value_text({**row, "value": measured.kept_value(row["value"])})
        print(f"| {row['name']}{peer} | {value} | {measured.target_text(row)} | {measured.state(row)} |")
