"""Families of the elementwise ops, with every element type each takes."""
import numpy as np

from case import EXACT, Bound, Builder, coin, family, pick, random_dims
import elements as el

REAL_UNARY = ("acos", "acosh", "asin", "asinh", "atanh", "cbrt", "cosh", "cosine", "erf", "exponential",
              "exponential-minus-one", "log", "log-plus-one", "logistic", "rsqrt", "sine", "sinh", "sqrt",
              "tan", "tanh")
COMPLEX_UNARY = tuple(op for op in REAL_UNARY if op not in ("cbrt", "erf"))
ROUNDING = ("abs", "ceil", "floor", "is-finite", "negate", "real", "imag", "round-nearest-afz",
            "round-nearest-even", "sign")
# Units in the last place between the C library's float functions and correct rounding; compiled
# code has approximations of its own.
LIBRARY = Bound(ulps=4)
VECTOR_CODE = Bound(ulps=16, absolute=1e-6)
COMPLEX_LIBRARY = Bound(ulps=16, absolute=1e-6)

FLOATS = el.FLOATS + el.F8
INTEGERS = el.INTEGERS + el.TINY_INTEGERS


def shape(rng):
    return random_dims(rng, 0, 2, 6)


def library_bounds(op, t):
    if op == "sqrt" and not el.is_complex(t):
        return EXACT, EXACT
    if el.is_complex(t):
        return COMPLEX_LIBRARY, Bound(64, 1e-4)
    return LIBRARY, (VECTOR_CODE if t in ("f32", "f64") else Bound(ulps=2, absolute=1e-6))


@family("transcendental", 6)
def transcendental(rng):
    t = pick(rng, FLOATS + el.COMPLEX)
    op = pick(rng, COMPLEX_UNARY if el.is_complex(t) else REAL_UNARY)
    b = Builder()
    x = b.input(t, el.specials(rng, t, shape(rng)))
    return b.case(op, [b.op(op, [x], t, x.dims)], *library_bounds(op, t))


@family("rounding", 4)
def rounding(rng):
    op = pick(rng, ROUNDING)
    types = FLOATS
    if op in ("abs", "negate", "sign"):
        types += el.SIGNED + ("s4",) + el.COMPLEX
    if op in ("real", "imag"):
        types = el.COMPLEX * 3 + ("f32", "f64")
    if op == "negate":
        types += el.UNSIGNED
    t = pick(rng, types)
    b = Builder()
    x = b.input(t, el.specials(rng, t, shape(rng)))
    result = "pred" if op == "is-finite" else t
    if op in ("abs", "real", "imag") and el.is_complex(t):
        result = el.part(t)
    loose = el.is_complex(t) and op in ("abs", "sign")
    return b.case(op, [b.op(op, [x], result, x.dims)], Bound(2) if loose else EXACT,
                  Bound(8, 1e-6) if loose else EXACT, (t,))


@family("arithmetic", 8)
def arithmetic(rng):
    op = pick(rng, ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power",
                    "atan2", "add", "multiply"))
    types = FLOATS if op == "atan2" else FLOATS + INTEGERS
    if op in ("add", "subtract", "multiply", "divide", "power"):
        types += el.COMPLEX
    if op in ("add", "multiply", "maximum", "minimum"):
        types += ("pred",)
    t = pick(rng, types)
    b = Builder()
    dims = shape(rng)
    x = b.input(t, el.specials(rng, t, dims))
    y = b.input(t, el.specials(rng, t, dims))
    evaluator = compiled = EXACT
    if el.is_complex(t):
        evaluator, compiled = (Bound(2), Bound(8, 1e-5)) if op != "power" else (Bound(64, 1e-4),) * 2
    elif op in ("power", "atan2") and el.is_float(t):
        evaluator, compiled = library_bounds(op, t)
    return b.case(op, [b.op(op, [x, y], t, dims)], evaluator, compiled)


@family("bits", 4)
def bits(rng):
    op = pick(rng, ("and", "or", "xor", "not", "popcnt", "count-leading-zeros", "shift-left",
                    "shift-right-arithmetic", "shift-right-logical"))
    t = pick(rng, INTEGERS + (("pred",) if op in ("and", "or", "xor", "not") else ()))
    b = Builder()
    dims = shape(rng)
    operands = [b.input(t, el.specials(rng, t, dims))]
    if op not in ("not", "popcnt", "count-leading-zeros"):
        operands.append(b.input(t, el.specials(rng, t, dims)))
    return b.case(op, [b.op(op, operands, t, dims)])


@family("mulhi")
def mulhi(rng):
    t, wide = pick(rng, (("s8", "s16"), ("u8", "u16"), ("s16", "s32"), ("u16", "u32"), ("s32", "s64"), ("u32", "u64")))
    b = Builder()
    dims = shape(rng)
    x, y = (b.input(t, el.specials(rng, t, dims)) for _ in range(2))
    case = b.case("mulhi", [b.op("mulhi", [x, y], t, dims)])
    b.lines.pop()
    x, y = (b.op("convert", [v], wide, dims) for v in (x, y))
    width = b.op("broadcast", [b.constant(wide, np.array(el.BITS[t], el.NUMPY[wide]))], wide, dims, "dimensions={}")
    high = b.op("shift-right-logical", [b.op("multiply", [x, y], wide, dims), width], wide, dims)
    case.spelled_out = b.case("mulhi", [b.op("convert", [high], t, dims)]).text
    return case


@family("compare", 4)
def compare(rng):
    t = pick(rng, FLOATS + INTEGERS + ("pred",) + el.COMPLEX)
    directions = ("EQ", "NE") if el.is_complex(t) else ("EQ", "NE", "LT", "LE", "GT", "GE")
    b = Builder()
    dims = shape(rng)
    a = el.specials(rng, t, dims)
    y = el.specials(rng, t, dims)
    y = np.where(rng.integers(0, 3, dims) == 0, a, y).astype(a.dtype)
    refs = [b.input(t, a), b.input(t, y)]
    total = "type=TOTALORDER" if el.is_float(t) and coin(rng) else ""
    r = b.op("compare", refs, "pred", dims, f"direction={pick(rng, directions)}", total)
    return b.case("compare", [r], types=(t,))


@family("choose", 3)
def choose(rng):
    t = pick(rng, FLOATS + INTEGERS + ("pred",))
    b = Builder()
    dims = shape(rng)
    if coin(rng):
        which = b.input("pred", el.specials(rng, "pred", dims if coin(rng, 3) else dims))
        operands = [which] + [b.input(t, el.specials(rng, t, dims)) for _ in range(2)]
        return b.case("select", [b.op("select", operands, t, dims)])
    operands = [b.input(t, el.specials(rng, t, dims)) for _ in range(3)]
    return b.case("clamp", [b.op("clamp", operands, t, dims)])


@family("convert", 8)
def convert(rng):
    every = FLOATS + INTEGERS + ("pred", "f4e2m1fn") + el.COMPLEX
    source, target = pick(rng, every), pick(rng, every)
    if el.is_complex(source) and not el.is_complex(target):
        target = pick(rng, el.COMPLEX)
    b = Builder()
    x = b.input(source, el.specials(rng, source, shape(rng)))
    return b.case("convert", [b.op("convert", [x], target, x.dims)], types=(source, target))


@family("bitcast-convert", 3)
def bitcast_convert(rng):
    every = FLOATS + INTEGERS
    source, target = pick(rng, every), pick(rng, every)
    a, z = el.BITS[source], el.BITS[target]
    dims = random_dims(rng, 0, 2, 4)
    if a < z:
        dims += (z // a,)
    result = dims + (a // z,) if a > z else dims[:-1] if a < z else dims
    b = Builder()
    values = el.specials(rng, source, dims)
    if el.is_float(source) or el.is_float(target):  # a NaN's payload may change on the way
        values = el.small_integers(rng, source, dims, 0, 3)
    return b.case("bitcast-convert", [b.op("bitcast-convert", [b.input(source, values)], target, result)],
                  types=(source, target))


@family("reduce-precision", 2)
def reduce_precision(rng):
    t = pick(rng, ("f32", "f64", "bf16", "f16"))
    most = {"f32": (8, 23), "f64": (11, 52), "bf16": (8, 7), "f16": (5, 10)}[t]
    e, m = int(rng.integers(2, most[0] + 1)), int(rng.integers(0, most[1] + 1))
    b = Builder()
    x = b.input(t, el.specials(rng, t, shape(rng)))
    return b.case("reduce-precision", [b.op("reduce-precision", [x], t, x.dims, f"exponent_bits={e}",
                                            f"mantissa_bits={m}")])


@family("complex")
def complex_of(rng):
    t = pick(rng, el.COMPLEX)
    b = Builder()
    dims = shape(rng)
    parts = [b.input(el.part(t), el.specials(rng, el.part(t), dims)) for _ in range(2)]
    return b.case("complex", [b.op("complex", parts, t, dims)])


@family("stochastic-convert")
def stochastic_convert(rng):
    t, r, result = pick(rng, (("f32", "u32", "s32"), ("f32", "u32", "s8"), ("f64", "u64", "s64"),
                              ("bf16", "u16", "s8"), ("f16", "u16", "s16"), ("f32", "u32", "s16")))
    b = Builder()
    dims = shape(rng)
    x = b.input(t, el.specials(rng, t, dims))
    bits_ = b.input(r, rng.integers(0, el.info(r).max, dims, dtype=el.NUMPY[r], endpoint=True))
    return b.case("stochastic-convert", [b.op("stochastic-convert", [x, bits_], result, dims)],
                  types=(t, result))


@family("map", 2)
def mapped(rng):
    t = pick(rng, ("s32", "u8", "s64", "f32", "f64", "pred"))
    ops = ("and", "or", "xor") if t == "pred" else ("add", "multiply", "maximum", "subtract", "minimum")
    count = int(rng.integers(1, 4))
    s = f"{t}[]"
    lines = [f"  a{i} = {s} parameter({i})\n" for i in range(count)]
    names = [f"a{i}" for i in range(count)]
    for i in range(int(rng.integers(1, 4))):
        lines.append(f"  b{i} = {s} {pick(rng, ops)}({pick(rng, names)}, {pick(rng, names)})\n")
        names.append(f"b{i}")
    lines[-1] = lines[-1].replace("  b", "  ROOT b", 1)
    b = Builder()
    dims = shape(rng)
    operands = [b.input(t, el.small_integers(rng, t, dims)) for _ in range(count)]
    body = b.computation("".join(lines))
    r = b.op("map", operands, t, dims, f"dimensions={{{','.join(map(str, range(len(dims))))}}}",
             f"to_apply={body}")
    return b.case("map", [r])
