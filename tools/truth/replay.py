"""One draw with one configuration again, with all that is known of it, and its systems as files."""

import json
import pathlib

import numpy
import scipy.io

from truth import c_library, exact, judge, kinds, work


def write(folder, systems, solved):
    folder.mkdir(parents=True, exist_ok=True)
    for k, (system, (x, report)) in enumerate(zip(systems, solved)):
        end = f"_{k}" if len(systems) > 1 else ""
        scipy.io.mmwrite(folder / f"A{end}.mtx", system.A, precision=17, symmetry="general")
        for name, vector in (("b", system.b), ("x", x), ("exact", system.x)):
            if vector is not None:
                scipy.io.mmwrite(folder / f"{name}{end}.mtx", numpy.asarray(vector).astype(x.dtype).reshape(-1, 1), precision=17)
        (folder / f"report{end}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def describe(system, x, report, row):
    print(f"  n {len(x)}, {'complex' if x.dtype == complex else 'real'}, {system.note}; rank {exact.rank(system.A)}; Hermitian {system.hermitian}")
    if system.regular:
        print(f"  condition of this x (Skeel) {system.condition:.1e}")
    print(f"  outcome {report['outcome']} by {row['by']}, {row['tries']} tries, {report.get('steps')} steps, {row['seconds']:.3f} s")
    print(f"  detail [{report.get('detail')}]")
    print(f"  warning [{row['warning']}]")
    print(
        f"  residual {report.get('relative_residual')}, row-wise {report.get('componentwise_error')}, estimated error {report.get('estimated_error')}"
    )
    for line in report.get("decisions", []):
        print(f"    {line}")
    print(f"  verdict {row['verdict']} {row.get('why', '')}{' FALSE ALARM' if row['alarm'] else ''}{' FALSE NO' if row['false_no'] else ''}")
    if system.x is None:
        return
    error = judge.errors(system, x)
    print("  the worst unknowns: number, exact, told, error")
    for i in numpy.argsort(-error, kind="stable")[:8]:
        print(f"    {i:4} {system.x[i]:24.16g} {x[i]:24.16g} {error[i]:.1e}")


def replay(path, line, folder):
    kind, seed, config = line.split(":")
    systems = kinds.draw(kind, int(seed))
    solved = work.solve(c_library.Library(path), kind, config, systems)
    for k, (system, (x, report)) in enumerate(zip(systems, solved)):
        print(f"{kind}:{seed}:{config} member {k}")
        describe(system, x, report, work.row_of(kind, int(seed), config, k, system, x, report))
    folder = pathlib.Path(folder or f"truth_{kind}_{seed}_{config}")
    write(folder, systems, solved)
    print(f"written into {folder}: " + " ".join(f"--option {k}={v}" for k, v in kinds.options_of(config).items()))
    return 0
