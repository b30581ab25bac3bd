"""What tools/ngspice_compare knows of circuits and waveforms: a mesh as a netlist, ngspice's raw files, the largest difference."""
import array
import bisect
import math


def rc_mesh(side):
    """A netlist without analyses: side x side nodes, a resistor to each neighbour and a capacitor to the ground. A pulse enters at one
    corner, "out" is the corner opposite to it. Values differ from element to element by a rule, so the same side gives the same text."""
    lines = [f"* RC mesh, {side} x {side} nodes", "v1 in 0 dc 1 ac 1 pulse(0 1 0 10p 10p 2n 4n)", "rin in n0_0 50"]
    node = lambda i, j: "out" if i == j == side - 1 else f"n{i}_{j}"
    for i in range(side):
        for j in range(side):
            spread = 1 + (7 * i + 13 * j) % 10 / 10
            lines.append(f"c{i}_{j} {node(i, j)} 0 {spread:g}f")
            if i + 1 < side:
                lines.append(f"rd{i}_{j} {node(i, j)} {node(i + 1, j)} {10 * spread:g}")
            if j + 1 < side:
                lines.append(f"rr{i}_{j} {node(i, j)} {node(i, j + 1)} {15 * spread:g}")
    return "\n".join([*lines, f"rload {node(side - 1, side - 1)} 0 10k", ""])


def read_raw(content):
    """(names, kinds, columns) of the first plot of a binary raw file; columns of complex values are lists of complex."""
    head, mark, numbers = content.partition(b"\nBinary:\n")
    if not mark:
        raise ValueError("no binary raw file")
    lines = head.decode(errors="replace").splitlines()
    field = dict(line.split(":", 1) for line in lines if ":" in line and not line.startswith("\t"))
    count, points = int(field["No. Variables"]), int(field["No. Points"])
    listed = [line.split() for line in lines[lines.index("Variables:") + 1:][:count]]
    width = 2 if "complex" in field["Flags"] else 1
    if len(numbers) < 8 * width * count * points:
        raise ValueError(f"a raw file of {len(numbers)} bytes instead of {8 * width * count * points}")
    values = array.array("d", numbers[:8 * width * count * points])
    if width == 2:
        values = [complex(re, im) for re, im in zip(values[::2], values[1::2])]
    columns = [list(values[k::count]) for k in range(count)]
    if listed and listed[0][2] == "frequency" and width == 2:
        columns[0] = [one.real for one in columns[0]]  # nothing sets the other half
    return [one[1] for one in listed], [one[2] for one in listed], columns


def at(times, values, time):
    """values between the times at which they are known: on the straight line."""
    after = bisect.bisect_left(times, time)
    if after == len(times):
        return values[-1]
    if after == 0 or times[after] == time:
        return values[after]
    part = (time - times[after - 1]) / (times[after] - times[after - 1])
    return values[after - 1] + part * (values[after] - values[after - 1])


def largest_difference(one, other):
    """Between two plots of read_raw: max |a - b| over all times of `one`, relative to the largest |a| of a variable of its kind.

    Where the first variable is the time and its values differ, `other` is taken between its own points."""
    names, kinds, columns = one
    if names != other[0]:
        raise ValueError("the plots have different variables")
    is_scale = kinds[0] in ("time", "frequency")
    same_points = columns[0] == other[2][0] if is_scale else True
    if not same_points and kinds[0] != "time":
        raise ValueError("the plots have different frequencies")
    largest = {}
    for kind, mine in zip(kinds, columns):
        largest[kind] = max([largest.get(kind, 0.0), *map(abs, mine)])
    worst = 0.0
    for k in range(1 if is_scale else 0, len(names)):
        theirs = other[2][k] if same_points else [at(other[2][0], other[2][k], time) for time in columns[0]]
        if len(theirs) != len(columns[k]):
            raise ValueError("the plots have different numbers of points")
        differences = [abs(a - b) for a, b in zip(columns[k], theirs)]
        if any(math.isnan(one) for one in differences):
            return math.nan
        worst = max([worst, *(one / (largest[kinds[k]] or 1.0) for one in differences)])
    return worst
