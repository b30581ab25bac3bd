"""The records of robustness_sweep as Markdown."""
import collections
import re

BAD = ("crash", "hang", "false success")
FAILURES = ("max_steps", "stagnated", "diverged", "not_finite", "breakdown", "singular", "out_of_memory", "time_limit",
            "refused")
BEGIN, END = "<!-- made by tools/robustness_sweep -->", "<!-- end of what it made -->"
MOST_NAMES = 8


def counts(records):
    """A line for each device, method and preconditioner."""
    shown = [outcome for outcome in FAILURES if any(r["outcome"] == outcome for r in records)]
    lines = ["| device | method | preconditioner | runs | converged | at once | " + " | ".join((*shown, *BAD, "late")) + " |",
             "|:--|:--|:--|" + "--:|" * (4 + len(shown) + len(BAD))]
    groups = collections.defaultdict(list)
    for record in records:
        groups[record["device"], record["method"], record["precond"]].append(record)
    for key, runs in groups.items():
        of = collections.Counter(r["outcome"] for r in runs)
        at_once = sum(r["outcome"] == "converged" and r["attempts"] == 1 for r in runs)
        numbers = [len(runs), of["converged"], at_once, *(of[o] for o in (*shown, *BAD)), sum("late" in r for r in runs)]
        lines.append("| " + " | ".join((*key, *map(str, numbers))) + " |")
    return lines


def pattern(reason):
    """Equal for reasons that differ in numbers and names only."""
    return re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", "#", reason)


def failures(records):
    """What failed, by outcome and reason, the most frequent first: ilux's words of the first, then which matrices."""
    groups = collections.defaultdict(list)
    for record in records:
        if record["outcome"] != "converged":
            groups[record["outcome"], pattern(record.get("reason", ""))].append(record)
    for (outcome, _), runs in sorted(groups.items(), key=lambda item: (item[0][0] not in BAD, -len(item[1]))):
        by_matrix = collections.Counter(run["matrix"] for run in runs)
        names = [f"{name} ({count})" for name, count in by_matrix.most_common(MOST_NAMES)]
        more = len(by_matrix) - len(names)
        ways = collections.Counter(f"{run['method']}/{run['precond']}" for run in runs)
        yield (f"- **{outcome}**, {len(runs)} runs of {len(by_matrix)} matrices: {runs[0].get('reason', 'no further words')}. "
               f"{', '.join(names)}{f' and {more} more' if more > 0 else ''}. Most by "
               f"{', '.join(f'{way} ({count})' for way, count in ways.most_common(3))}.")


def text(head, records, skipped):
    matrices = {record["matrix"] for record in records}
    late = [record for record in records if "late" in record]
    solved_by_any = {r["matrix"] for r in records if r["outcome"] == "converged"}
    lines = [BEGIN, f"`{head['command']}`, ilux {head['version']}, commit {head['commit']}, {head['processor']}, "
             f"GPU: {head['gpu']}; time limit {head['time_limit']:g} s, killed after {head['kill_after']:g} s.", "",
             f"{len(records)} runs of {len(matrices)} systems, {sum(r['outcome'] == 'converged' for r in records)} converged; "
             f"solved by none: {', '.join(sorted(matrices - solved_by_any)) or 'none'}.", "", *counts(records), "",
             "*At once*: without a retry. *Late*: ended by itself, but more than 2 s past the time limit.", ""]
    if late:
        lines += ["Late: " + ", ".join(f"{r['matrix']} {r['method']}/{r['precond']} {r['wall']:.0f} s" for r in late) + ".", ""]
    lines += ["What failed:", "", *failures(records)]
    if skipped:
        lines += ["", "Left out: " + ", ".join(f"{name} ({why})" for name, why in skipped) + "."]
    return "\n".join([*lines, END])


def replace(path, made):
    """Puts the table where the last one stood, or at the end."""
    old = path.read_text() if path.is_file() else ""
    head, begun, rest = old.partition(BEGIN)
    path.write_text(head + made + rest.partition(END)[2] if begun else old + made + "\n")
