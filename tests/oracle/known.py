"""Where XLA disagrees, with the reason. Anything else is a failure.

XLA executes an op in two ways that do not always agree with each other: compiled code and the evaluator
that folds constants. The evaluator's rules hold here (docs/evaluation.md).
"""
import elements as el

# Compiled code differs, and the evaluator gives our bits: by op.
COMPILED = {
    "convert": "float bounds of the target are compared in the source type, which may not hold them",
    "power": "compiled integer powers read six bits of the exponent as signed, and (-1)^-1 is -1",
    "select-and-scatter": "compiled code loses windows that begin in the padding",
}

# Compiled code differs in the sign of zeros alone.
ZEROS = {op: "compiled code orders +0 above -0; the evaluator keeps the left operand"
         for op in ("maximum", "minimum", "clamp", "map", "reduce", "reduce-window", "scatter")}

# Compiled code differs, and the evaluator does not run the op or has the same fault.
_ROUNDED_TWICE = "f8 computes in f16, whose rounding comes first"
COMPILED_ONLY = {"popcnt": "sign bits above the width of s4 are counted"} | {
    op: _ROUNDED_TWICE for op in ("add", "subtract", "multiply", "divide", "sqrt")}

_FLOATS = el.FLOATS + el.F8

# The evaluator differs from compiled code, which gives our bits: ops, a test of the types, reason.
_EVALUATOR = (
    (("round-nearest-afz", "round-nearest-even", "ceil", "floor"), lambda t: "f8e3m4" in t,
     "the evaluator's rounding functions of f8e3m4 give NaN"),
    (("clamp",), lambda t: "pred" in t, "where low > high the evaluator gives true, compiled code high"),
    (("compare",), lambda t: t[0] in _FLOATS,
     "total order of constants is folded on the way into XLA as IEEE order: NaNs come out unordered"),
    (("convert",), lambda t: t[1] == "f4e2m1fn", "the zero that stands for NaN in f4 has another sign"),
    (("count-leading-zeros",), lambda t: t[0][0] == "s",
     "the evaluator's count for a negative number is negative"),
    (("popcnt",), lambda t: t[0] == "s4", "sign bits above the width of s4 are counted"),
    (("add", "subtract", "multiply", "divide", "sqrt"), lambda t: t[0] in el.F8, _ROUNDED_TWICE),
    (("reduce",), lambda t: t[0] in el.F8 + el.HALVES,
     "narrow sums are rewritten into rounded steps before the evaluator, which sums in f64, sees them"),
    (("bitcast-convert",), lambda t: "s4" in t or "u4" in t, "the evaluator misreads elements of 4 bits"),
)


def of_compiled(case):
    reason = COMPILED_ONLY.get(case.op)
    return None if reason == _ROUNDED_TWICE and case.types[0] not in el.F8 else reason


def of_evaluator(case):
    return next((reason for ops, fits, reason in _EVALUATOR if case.op in ops and fits(case.types)), None)
