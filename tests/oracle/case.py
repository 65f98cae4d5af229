"""A case: one HLO module, its inputs, and how close results of two implementations must be.

`Builder` writes the text; families (functions from a random generator to a case) register by name.
"""
import dataclasses
import re
from typing import Callable

import numpy as np

import elements


@dataclasses.dataclass(frozen=True)
class Ref:
    name: str
    type: str
    dims: tuple

    def __str__(self):
        return f"{self.type}[{','.join(map(str, self.dims))}]"


@dataclasses.dataclass(frozen=True)
class Bound:
    """Largest difference: bits equal unless `ulps` of the result or `absolute` allow more."""
    ulps: float = 0
    absolute: float = 0
    zero_sign: bool = True  # -0 is not +0


EXACT = Bound()
NOT_FOLDED = None  # XLA aborts when it folds tuples of several results
SUM = Bound(zero_sign=False)  # a sum that starts with its first term keeps -0, one that starts with 0 does not


@dataclasses.dataclass
class Case:
    op: str
    types: tuple
    text: str
    inputs: list            # numpy arrays, in parameter order
    parameters: list        # their Refs
    results: list           # Refs
    evaluator: Bound        # against constant folding; None: never folded
    compiled: Bound         # against compiled code
    spelled_out: str = ""   # the same in plainer ops, for XLA, where it has no way in

    def for_xla(self, fold):
        """The text for XLA; with `fold`, inputs are constants, which XLA folds with its evaluator."""
        text = self.spelled_out or self.text
        if not fold:
            return text
        for i, (ref, value) in enumerate(zip(self.parameters, self.inputs)):
            text = text.replace(f"{ref.name} = {ref} parameter({i})\n",
                                f"{ref.name} = {ref} constant({elements.hlo_text(value, ref.type)})\n")
        return text


class Builder:
    def __init__(self):
        self.lines, self.parameters, self.inputs, self.computations, self.count = [], [], [], [], 0

    def input(self, t, array):
        ref = Ref(f"p{len(self.inputs)}", t, tuple(array.shape))
        self.lines.append(f"  {ref.name} = {ref} parameter({len(self.inputs)})\n")
        self.parameters.append(ref)
        self.inputs.append(array)
        return ref

    def constant(self, t, array):
        return self.line(t, array.shape, f"constant({elements.hlo_text(array, t)})")

    def line(self, t, dims, text):
        self.count += 1
        ref = Ref(f"v{self.count}", t, tuple(int(d) for d in dims))
        self.lines.append(f"  {ref.name} = {ref} {text}\n")
        return ref

    def op(self, opcode, operands, t, dims, *attributes):
        inside = ", ".join(o.name for o in operands)
        tail = "".join(f", {a}" for a in attributes if a)
        return self.line(t, dims, f"{opcode}({inside}){tail}")

    def tuple_op(self, opcode, operands, shapes, *attributes):
        """An op with a tuple result: the refs of its elements."""
        self.count += 1
        name = f"v{self.count}"
        refs = [Ref("", t, tuple(d)) for t, d in shapes]
        tail = "".join(f", {a}" for a in attributes if a)
        inside = ", ".join(o.name for o in operands)
        self.lines.append(f"  {name} = ({', '.join(map(str, refs))}) {opcode}({inside}){tail}\n")
        return [self.line(r.type, r.dims, f"get-tuple-element({name}), index={i}")
                for i, r in enumerate(refs)]

    def computation(self, body):
        """Adds a computation: `body` is its text without a name; returns the name."""
        name = f"comp{len(self.computations)}"
        self.computations.append(f"{name} {{\n{body}}}\n\n")
        return name

    def fold(self, opcode, t):
        """opcode(a, b) as a computation."""
        s = f"{t}[]"
        return self.computation(f"  a = {s} parameter(0)\n  b = {s} parameter(1)\n"
                                f"  ROOT r = {s} {opcode}(a, b)\n")

    def case(self, op, results, evaluator=EXACT, compiled=EXACT, types=None):
        if len(results) == 1:
            lines = list(self.lines)
            at = next(i for i, l in enumerate(lines) if l.startswith(f"  {results[0].name} = "))
            lines[at] = "  ROOT " + lines[at][2:]
        else:
            inside = ", ".join(r.name for r in results)
            shape = ", ".join(map(str, results))
            lines = self.lines + [f"  ROOT out = ({shape}) tuple({inside})\n"]
        text = "HloModule case\n\n" + "".join(self.computations) + "ENTRY main {\n" + "".join(lines) + "}\n"
        return Case(op, tuple(types or (r.type for r in results)), text, self.inputs, self.parameters,
                    results, evaluator, compiled)


FAMILIES: dict[str, tuple[Callable, int]] = {}


def family(name, weight=1):
    def register(function):
        FAMILIES[name] = (function, weight)
        return function
    return register


def ints(values):
    return "{" + ",".join(str(int(v)) for v in values) + "}"


def pick(rng, choices):
    return choices[int(rng.integers(0, len(choices)))]


def random_dims(rng, low_rank=0, high_rank=3, largest=4, smallest=1):
    return tuple(int(d) for d in rng.integers(smallest, largest + 1, rng.integers(low_rank, high_rank + 1)))


def coin(rng, one_in=2):
    return rng.integers(0, one_in) == 0


def terms_bound(t, terms, largest):
    """What summing `terms` products of size `largest` in any order may differ by."""
    eps = float(elements.info(elements.part(t) if elements.is_complex(t) else t).eps)
    return Bound(1, 2 * eps * terms * max(largest, 1.0), zero_sign=False)
