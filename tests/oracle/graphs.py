"""Small graphs: random elementwise chains, movement and reductions inside calls, loops, conditionals
and fusions. All values are small integers, so that every order of arithmetic gives the same bits."""
import numpy as np

from case import Builder, coin, family, ints, pick, random_dims
import elements as el
from reductions import init_value

TYPES = ("s32", "u32", "s8", "s64", "u8", "f32", "f64")


class Scope:
    """Grows a random graph of equally typed arrays line by line."""

    def __init__(self, rng, t, dims, names):
        self.rng, self.t, self.dims = rng, t, dims
        self.values = [(n, dims) for n in names]
        self.lines, self.needed = [], []

    def shape(self, dims): return f"{self.t}[{','.join(map(str, dims))}]"

    def add(self, dims, text):
        name = f"n{len(self.lines)}"
        self.lines.append(f"  {name} = {self.shape(dims)} {text}\n")
        self.values.append((name, tuple(dims)))

    def step(self):
        rng = self.rng
        name, dims = pick(rng, self.values)
        same = [n for n, d in self.values if d == dims]
        kind = rng.integers(0, 8)
        if kind < 4:
            op = pick(rng, ("add", "subtract", "maximum", "minimum", "add"))
            self.add(dims, f"{op}({name}, {pick(rng, same)})")
        elif kind == 4 and dims:
            perm = rng.permutation(len(dims))
            self.add([dims[p] for p in perm], f"transpose({name}), dimensions={ints(perm)}")
        elif kind == 5 and dims:
            d = int(rng.integers(0, len(dims)))
            self.add(dims, f"reverse({name}), dimensions={{{d}}}")
        elif kind == 6 and dims:
            d = int(rng.integers(0, len(dims)))
            sizes = dims[:d] + (2 * dims[d],) + dims[d + 1:]
            self.add(sizes, f"concatenate({name}, {pick(rng, same)}), dimensions={{{d}}}")
            low = int(rng.integers(0, dims[d] + 1))
            ranges = ", ".join(f"[{low if i == d else 0}:{(low if i == d else 0) + n}]"
                               for i, n in enumerate(dims))
            self.add(dims, f"slice(n{len(self.lines) - 1}), slice={{{ranges}}}")
        elif kind == 7:
            self.add(dims, f"multiply({name}, {pick(rng, same)})" if el.is_int(self.t)
                     else f"abs({name})")

    def grow(self, steps):
        for _ in range(steps):
            self.step()
        name = [n for n, d in self.values if d == self.dims][-1]
        op = "add" if name != self.values[0][0] else "maximum"
        self.add(self.dims, f"{op}({name}, {self.values[0][0]})")
        return f"n{len(self.lines) - 1}"


def body(rng, t, dims, parameters, steps):
    """A computation of `parameters` equal arrays."""
    scope = Scope(rng, t, dims, [f"q{i}" for i in range(parameters)])
    scope.grow(steps)
    head = "".join(f"  q{i} = {scope.shape(dims)} parameter({i})\n" for i in range(parameters))
    scope.lines[-1] = "  ROOT" + scope.lines[-1][1:]
    return head + "".join(scope.lines)


def start(rng):
    t = pick(rng, TYPES)
    dims = random_dims(rng, 1, 3, 4)
    b = Builder()
    return b, t, dims, b.input(t, el.small_integers(rng, t, dims)), b.input(t, el.small_integers(rng, t, dims))


@family("graph", 6)
def graph(rng):
    b, t, dims, x, y = start(rng)
    scope = Scope(rng, t, dims, [x.name, y.name])
    scope.grow(int(rng.integers(3, 12)))
    b.lines += scope.lines
    last = b.op("maximum", [x, y], t, dims)
    b.lines[-1] = b.lines[-1].replace(f"maximum({x.name}", f"maximum(n{len(scope.lines) - 1}")
    if coin(rng) and dims:
        op = pick(rng, ("add", "maximum"))
        away = sorted(int(d) for d in rng.permutation(len(dims))[:int(rng.integers(1, len(dims) + 1))])
        init = b.constant(t, init_value(op, t))
        last = b.op("reduce", [last, init], t, [n for d, n in enumerate(dims) if d not in away],
                    f"dimensions={ints(away)}", f"to_apply={b.fold(op, t)}")
    return b.case("graph", [last])


@family("call", 2)
def call(rng):
    b, t, dims, x, y = start(rng)
    inner = b.computation(body(rng, t, dims, 2, 4))
    if coin(rng):
        return b.case("call", [b.op("call", [x, y], t, dims, f"to_apply={inner}")])
    case = b.case("fusion", [b.op("fusion", [x, y], t, dims, "kind=kLoop", f"calls={inner}")])
    case.spelled_out = case.text.replace("fusion(", "call(").replace("kind=kLoop, calls=", "to_apply=")
    return case


@family("conditional", 3)
def conditional(rng):
    b, t, dims, x, y = start(rng)
    if coin(rng):
        p = b.input("pred", np.array(coin(rng)))
        branches = [b.computation(body(rng, t, dims, 1, 3)) for _ in range(2)]
        return b.case("conditional", [b.op("conditional", [p, x, y], t, dims,
                                           f"true_computation={branches[0]}",
                                           f"false_computation={branches[1]}")])
    count = int(rng.integers(1, 5))
    i = b.input("s32", np.array(rng.integers(-2, count + 2), np.int32))
    branches = [b.computation(body(rng, t, dims, 1, 3)) for _ in range(count)]
    return b.case("conditional", [b.op("conditional", [i] + [pick(rng, (x, y)) for _ in range(count)], t, dims,
                                       "branch_computations={" + ", ".join(branches) + "}")])


@family("while", 3)
def loop(rng):
    b, t, dims, x, _ = start(rng)
    s = str(x)
    state = f"(s32[], {s})"
    step = b.computation(body(rng, t, dims, 1, 2))
    advance = b.computation(f"""  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = {s} get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = {s} call(v), to_apply={step}
  ROOT t = {state} tuple(next, w)
""")
    more = b.computation(f"""  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({int(rng.integers(0, 5))})
  ROOT less = pred[] compare(i, n), direction=LT
""")
    zero = b.constant("s32", np.array(0, np.int32))
    b.lines.append(f"  init = {state} tuple({zero.name}, {x.name})\n")
    b.lines.append(f"  loop = {state} while(init), condition={more}, body={advance}\n")
    return b.case("while", [b.line(t, dims, "get-tuple-element(loop), index=1")])
