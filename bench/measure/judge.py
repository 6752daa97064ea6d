"""Whether a measured row reaches its goals."""


def figure_of(result, goal):
    """What was reached, as the goal counts it, or None if it was not measured; and whether more is better."""
    if goal == "peak":
        return result.get("peak_share"), True
    if goal == "best_peer":
        ratios = [peer["ratio"] for peer in result["peers"].values() if "ratio" in peer]
        return (min(ratios) if ratios else None), True
    if goal.startswith("peer."):
        return result["peers"].get(goal[5:], {}).get("ratio"), True
    if goal == "unaligned":
        return result.get("unaligned_ratio"), True
    if goal == "twin":
        return result.get("twin_ratio"), True
    if goal == "most_us":
        return result["own"]["seconds_min"] * 1e6, False
    if goal == "most_s":
        return result.get("seconds"), False
    if goal == "most_kb":
        return result.get("kilobytes"), False
    if goal == "most_workspace_kb":
        return result["workspace_bytes"] / 1e3 if "workspace_bytes" in result else None, False
    return (result["slope"] / result["work_slope"] if "slope" in result else None), None  # "growth": within 5 % of the goal


def meets(goal, reached, wanted):
    if goal == "growth":
        return abs(reached - wanted) <= 0.05 * wanted
    return reached <= wanted if goal.startswith("most_") else reached >= wanted


def judged(row, result, results):
    """Every goal of the row with what was reached; `met` is None where it could not be measured."""
    goals = []
    for is_stretch, table in ((False, row.goals), (True, row.stretch)):
        for goal, wanted in table.items():
            reached, _ = figure_of(result, goal)
            goals.append({"goal": goal, "wanted": wanted, "reached": reached, "is_stretch": is_stretch,
                          "met": None if reached is None else meets(goal, reached, wanted)})
    if row.beside:
        other = results.get(row.beside["row"], {})
        reached = result["speed"] / other["speed"] if other.get("speed") and result.get("speed") else None
        is_on_visited = row.beside.get("on") == "visited"
        if is_on_visited and reached is not None:
            reached = reached / result["visible_share"] if "visible_share" in result else None
        name = f"row.{row.beside['row']}" + (" on visited blocks" if is_on_visited else "")
        goals.append({"goal": name, "wanted": row.beside["times"], "reached": reached, "is_stretch": False,
                      "met": None if reached is None else reached >= row.beside["times"]})
    return goals
