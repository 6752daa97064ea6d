"""A run's results as text and as a picture."""

import io

from goals import PEERS


def time_text(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def speed_text(result):
    if "slope" in result:
        return f"slope {result['slope']:.2f}, of the work {result['work_slope']:.2f}"
    if "kilobytes" in result:
        return f"{result['kilobytes']:.0f} kB"
    if "work" not in result:
        return ""
    return f"{result['speed'] / 1e9:.1f} {'GB/s' if result['counts'] == 'bytes' else 'GFLOP/s'}"


def goal_text(goal):
    name, sign = goal["goal"], "<=" if goal["goal"].startswith("most_") else "~" if goal["goal"] == "growth" else ">="
    reached = "?" if goal["reached"] is None else f"{goal['reached']:.2f}"
    mark = {True: "met", False: "MISSED", None: "not measured"}[goal["met"]]
    return f"{name} {reached} {sign} {goal['wanted']:g}: {mark}" + (" (stretch)" if goal["is_stretch"] else "")


def table_of(document):
    """One line for each row, its peers and goals below it."""
    lines = []
    for name, result in document["rows"].items():
        if "skipped" in result:
            lines.append(f"{name:14} skipped: {result['skipped']}")
            continue
        own = result["own"]
        times = f"{time_text(own['seconds_min']):>9} least {time_text(own['seconds_median']):>9} median" if own else " " * 34
        share = f"{100 * result['peak_share']:5.1f} % of {result['peak_kind']}" if result.get("peak_share") else ""
        unaligned = f"; unaligned {result['unaligned_ratio']:.2f} of it" if "unaligned_ratio" in result else ""
        lines.append(f"{name:14} {times}  {speed_text(result):>14}  {share:17}  {result['case']}{unaligned}".rstrip())
        for peer, figures in result["peers"].items():
            told = figures.get("skipped") or f"{time_text(figures['seconds_min']):>9} least {time_text(figures['seconds_median']):>9} median   attune is {figures['ratio']:.2f} x as fast"
            lines.append(f"    {peer:10} {told}")
        lines.extend(f"    {goal_text(goal)}" for goal in result["goals"])
    return "\n".join(lines)


def markdown_of(document):
    """The table as docs/performance.md holds it."""
    lines = ["| case | time | speed | share of peak | times as fast as | goals missed |", "| --- | --- | --- | --- | --- | --- |"]
    for name, result in document["rows"].items():
        if "skipped" in result:
            lines.append(f"| `{name}`: {result['case']} | | | | | not measured: {result['skipped']} |")
            continue
        own = time_text(result["own"]["seconds_min"]) if result["own"] else ""
        share = f"{100 * result['peak_share']:.1f} % {result['peak_kind']}" if result.get("peak_share") else ""
        peers = ", ".join(f"{peer} {figures['ratio']:.2f}" for peer, figures in result["peers"].items() if "ratio" in figures)
        missed = ", ".join(f"{g['goal']} {g['reached']:.2f} of {g['wanted']:g}{' (stretch)' if g['is_stretch'] else ''}" for g in result["goals"] if g["met"] is False)
        lines.append(f"| `{name}`: {result['case']} | {own} | {speed_text(result)} | {share} | {peers} | {missed or 'none'} |")
    return "\n".join(lines)


def summary_of(document):
    """How many goals are met, and which are not."""
    goals = [(name, goal) for name, result in document["rows"].items() for goal in result.get("goals", [])]
    firm = [(name, goal) for name, goal in goals if not goal["is_stretch"] and goal["met"] is not None]
    missed = sorted({name for name, goal in firm if not goal["met"]})
    text = f"{sum(goal['met'] for _, goal in firm)} of {len(firm)} goals that were measured are met"
    text += f"; rows that miss one: {', '.join(missed)}" if missed else ""
    return text + load_text(document["machine"])


def load_text(machine):
    """What else ran: the measurement itself is a load of 1, now and then 2."""
    loads = machine["load_before"], machine["load_after"]
    if max(loads) < machine["cpus"] + 0.5:
        return ""
    return f"\nother work ran beside: load averages of {loads[0]:.1f} before and {loads[1]:.1f} after on {machine['cpus']} CPUs; shares of peaks are too small"


def drawn(document):
    """The bytes of a picture (PNG): the share of the peak of each row, with its goal, and beside it the ratio to each peer."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    rows = [(name, r) for name, r in document["rows"].items() if r.get("peak_share") or any("ratio" in p for p in r.get("peers", {}).values())]
    figure, (shares, ratios) = pyplot.subplots(1, 2, sharey=True, figsize=(12, 1.5 + 0.34 * len(rows)), layout="constrained")
    colours = {peer: f"C{n}" for n, peer in enumerate(PEERS, start=1)}  # C0 is that of the bars
    for y, (name, result) in enumerate(rows):
        if result.get("peak_share"):
            shares.barh(y, 100 * result["peak_share"], color={"fma": "tab:blue", "bf16": "tab:cyan", "read": "tab:olive"}[result["peak_kind"]])
        for goal in result["goals"]:
            if goal["goal"] == "peak":
                shares.plot([100 * goal["wanted"]] * 2, [y - 0.42, y + 0.42], color="black" if not goal["is_stretch"] else "darkgray", linewidth=2)
        for peer, figures in result["peers"].items():
            if "ratio" in figures:
                ratios.plot(figures["ratio"], y, "o", color=colours[peer], label=peer)
    shares.set_yticks(range(len(rows)), [name for name, _ in rows])
    shares.invert_yaxis()
    shares.set_xlim(0, 100)
    shares.set_xlabel("% of the measured peak: FMA (blue), bf16 dot product (cyan), read bandwidth (olive); line: goal, gray if stretch")
    shares.xaxis.label.set_fontsize(8)
    ratios.axvline(1, color="black", linewidth=1)
    ratios.set_xscale("log")
    ticks = [0.5, 1, 2, 5, 10, 20]
    ratios.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ratios.minorticks_off()
    ratios.set_xlabel("times as fast as the peer")
    ratios.grid(axis="x", alpha=0.3)
    unique = dict(zip(*reversed(ratios.get_legend_handles_labels())))
    if unique:
        ratios.legend(unique.values(), unique.keys(), fontsize=8)
    figure.suptitle(f"{document['machine']['cpu']}, {document['date']}", fontsize=10)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=110)
    return picture.getvalue()
