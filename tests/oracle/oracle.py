"""Random modules, op by op and in small graphs, on XLA:CPU and on run_hlo; every difference is printed.

A case reaches XLA as compiled code with its inputs as parameters, or with its inputs as constants: then
XLA folds the module with its evaluator, whose bits are the ones to meet.
"""
import argparse
import collections
import dataclasses
import json
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np

import algebra, contract, elementwise, graphs, movement, reductions  # noqa: F401 (they register families)
import compare
import elements
import known
import xla_cpu
from case import FAMILIES


BATCH = 24    # modules that XLA takes together
COMPILED = 4  # of so many cases one is compiled, which takes longer; the others are folded


def generate(seed, count, only):
    names = [n for n in FAMILIES if not only or n in only]
    weights = np.array([FAMILIES[n][1] for n in names], float)
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        name = names[int(rng.choice(len(names), p=weights / weights.sum()))]
        yield i, FAMILIES[name][0](rng)


def run_here(run_hlo, cases, folder):
    """Outputs (or an error message) of every case, from one process."""
    shutil.rmtree(folder, ignore_errors=True)
    for i, case in cases:
        place = folder / f"{i:08}"
        place.mkdir(parents=True)
        (place / "module.hlo").write_text(case.text)
        inputs = [elements.nested(x, r.type) for x, r in zip(case.inputs, case.parameters)]
        (place / "case.json").write_text(json.dumps({"inputs": {"0,0": inputs}}))
    done = subprocess.run([run_hlo, f"--cases={folder}", "--json"], capture_output=True, text=True)
    documents = json.loads(done.stdout)["cases"]
    assert len(documents) == len(cases), done.stderr
    results = {}
    for (i, case), document in zip(cases, documents):
        if "outputs" in document:
            results[i] = [elements.from_json(node, r.type, r.dims)
                          for node, r in zip(document["outputs"]["0,0"], case.results)]
        else:
            results[i] = document["error"]["message"]
    return results


def difference(case, got, want, bound):
    for leaf, (g, w, r) in enumerate(zip(got, want, case.results)):
        where = compare.differs(g, w, r.type, bound)
        if where is not None:
            values = (g[where], w[where]) if isinstance(where, tuple) else (g.shape, w.shape)
            return f"output {leaf} {r} at {where}: here {values[0]!r}, XLA {values[1]!r}"
    return None


class Tally:
    def __init__(self):
        self.ops = collections.defaultdict(collections.Counter)
        self.workers = [xla_cpu.Worker(evaluator) for evaluator in (False, True)]
        self.known, self.refused, self.failures = collections.Counter(), collections.Counter(), 0

    def ask(self, numbered, fold):
        """XLA's answers by case number; what cannot be folded is compiled."""
        programs = [(c.for_xla(fold), [] if fold else c.inputs, [str(r) for r in c.results])
                    for _, c in numbered]
        answers, refused = {}, []
        for at in range(0, len(programs), BATCH):
            batch = self.workers[fold].run(programs[at:at + BATCH])
            for (i, case), answer in zip(numbered[at:at + BATCH], batch):
                if not isinstance(answer, str):
                    answers[i] = answer
                    continue
                self.refused[f"{case.op} {'constants' if fold else '/'.join(case.types)}: {answer}"[:150]] += 1
                refused.append((i, case))
        if fold and refused:
            answers.update(self.ask(refused, False))
        return answers

    def judge_all(self, numbered, here):
        parts = [], []
        for i, case in numbered:
            parts[i % COMPILED != 0 and case.evaluator is not None].append((i, case))
        answers = self.ask(parts[False], False) | self.ask(parts[True], True)
        for i, case in numbered:
            if i in answers:
                self.judge(i, case, here[i], *answers[i])
            else:
                self.ops[case.op]["refused by XLA"] += 1

    def judge(self, i, case, got, want, folded):
        count = self.ops[case.op]
        mode = "evaluator" if folded else "compiled"
        count[mode] += 1
        if isinstance(got, str):
            self.fail(i, case, f"run_hlo: {got}")
            return
        found = difference(case, got, want, (case.evaluator if folded else None) or case.compiled)
        if found is None:
            return
        reason = known.of_evaluator(case) if folded else self.arbitrate(case, got, want)
        if reason:
            count["known"] += 1
            self.known[f"{mode}: {case.op}: {reason}"] += 1
        else:
            self.fail(i, case, f"{mode}: {found}")

    def arbitrate(self, case, got, want):
        """Compiled code differs: does XLA's own evaluator side with us?"""
        if case.op in known.ZEROS:
            bound = dataclasses.replace(case.compiled, zero_sign=False)
            if difference(case, got, want, bound) is None:
                return known.ZEROS[case.op]
        if case.evaluator is not None:
            want, folded = self.ask([(0, case)], True).get(0, (None, False))
            if folded and difference(case, got, want, case.evaluator) is None:
                return known.COMPILED.get(case.op)
        return known.of_compiled(case)

    def fail(self, i, case, why):
        self.failures += 1
        self.ops[case.op]["DIFFERS"] += 1
        print(f"case {i} {case.op} {'/'.join(case.types)}: {why}", flush=True)

    def report(self):
        keys = ("evaluator", "compiled", "known", "refused by XLA", "DIFFERS")
        print(f"{'op':<24}" + "".join(f"{k:>16}" for k in keys))
        for op in sorted(self.ops):
            print(f"{op:<24}" + "".join(f"{self.ops[op][k]:>16}" for k in keys))
        total = sum((c for c in self.ops.values()), collections.Counter())
        print(f"{'total':<24}" + "".join(f"{total[k]:>16}" for k in keys))
        for title, found in (("known", self.known), ("refused", self.refused)):
            for reason, n in found.most_common(40):
                print(f"{title}: {n:6} {reason}")
        print(f"{total['evaluator'] + total['compiled']} modules compared, {self.failures} differ")


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--run-hlo", required=True)
    flags.add_argument("--scratch", required=True, type=pathlib.Path)
    flags.add_argument("--count", type=int, default=20000)
    flags.add_argument("--seed", type=int, default=1)
    flags.add_argument("--chunk", type=int, default=500)
    flags.add_argument("--only", action="append", help="family; may be repeated")
    flags.add_argument("--print", type=int, help="print one case and stop")
    options = flags.parse_args()
    tally, chunk = Tally(), []

    def flush():
        results = run_here(options.run_hlo, chunk, options.scratch)
        tally.judge_all(chunk, results)
        chunk.clear()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a run that is stopped reports what it saw
    try:
        for i, case in generate(options.seed, options.count, options.only):
            if options.print is not None:
                if i == options.print:
                    print(case.text, *(f"{r.name}: {x!r}\n" for r, x in zip(case.parameters, case.inputs)))
                continue
            chunk.append((i, case))
            if len(chunk) == options.chunk:
                flush()
                print(f"{i + 1} cases, {tally.failures} differ", file=sys.stderr, flush=True)
        if chunk:
            flush()
    finally:
        tally.report()
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
