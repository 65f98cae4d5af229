"""Runs HLO text on XLA:CPU in a process of its own: XLA crashes on some inputs.

Text -> HLO proto -> StableHLO -> compiled -> executed. Many modules go in at once, as calls of one:
compiling is what takes time. Where XLA refuses a batch or dies of it, its halves are tried. A worker for
the evaluator leaves out the passes that rewrite arithmetic before constant folding sees it.
"""
import multiprocessing
import os
import re

_FLAGS = ["--xla_cpu_multi_thread_eigen=false", "--xla_cpu_ftz=false", "--xla_cpu_enable_fast_math=false",
          "--xla_allow_excess_precision=false", "--xla_backend_optimization_level=0"]
_REWRITES = "algsimp,reduce-window-rewriter,tree_reduction_rewriter,convolution-group-converter"


class Worker:
    def __init__(self, evaluator):
        self.evaluator = evaluator
        self.process = None

    def run(self, programs):
        """For each (text, inputs, results): (outputs, folded by the evaluator?), or XLA's complaint."""
        answer = self._ask(programs)
        if not isinstance(answer, str):
            return answer
        if len(programs) == 1:
            return [answer]
        half = len(programs) // 2
        return self.run(programs[:half]) + self.run(programs[half:])

    def _ask(self, programs):
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, other = context.Pipe()
            self.process = context.Process(target=_serve, args=(other, self.evaluator), daemon=True)
            self.process.start()
            other.close()
        try:
            self.pipe.send(programs)
            return self.pipe.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            code, self.process = self.process.exitcode, None
            return f"XLA's process ends with {code}"


def _serve(pipe, evaluator):
    flags = _FLAGS + ([f"--xla_disable_hlo_passes={_REWRITES}"] if evaluator else [])
    os.environ["XLA_FLAGS"] = " ".join(flags)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # XLA's stack traces
    compiler = _Compiler()
    while True:
        try:
            programs = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(compiler.run(programs))
        except Exception as error:
            pipe.send(str(error).splitlines()[0][:200])


class _Compiler:
    def __init__(self):
        import jax
        from jax._src.lib import _jax
        from jaxlib import _hlo, xla_client
        jax.config.update("jax_enable_x64", True)
        self.put, self.client = jax.device_put, jax.devices("cpu")[0].client
        self.devices = xla_client.DeviceList(tuple(jax.devices("cpu")[:1]))
        self.options = xla_client.CompileOptions
        self.parse, self.translate = _hlo.hlo_module_from_text, _jax.mlir.hlo_to_stablehlo

    def run(self, programs):
        import numpy as np
        text = _joined(programs)
        program = self.translate(self.parse(text).as_serialized_hlo_module_proto())
        executable = self.client.compile_and_load(program, self.devices, self.options())
        inputs = [self.put(x) for _, inputs, _ in programs for x in inputs]
        outputs = [np.asarray(o) for o in executable.execute(inputs)]
        folded = _folded(executable.hlo_modules()[0].to_string())
        answers, at = [], 0
        for _, _, results in programs:
            end = at + len(results)
            answers.append((outputs[at:end], all(folded[at:end])))
            at = end
        return answers


def _joined(programs):
    """One module whose ENTRY calls each program's and returns all their results."""
    computations, body, outputs, count = [], [], [], 0
    for i, (text, inputs, results) in enumerate(programs):
        inner = re.sub(r"\bcomp(\d+)\b", rf"m{i}.comp\1", text.split("\n", 2)[2])
        callees, entry = inner.split("ENTRY main")
        computations.append(f"{callees}m{i}.main{entry}")
        operands = []
        for shape in re.findall(r" = (\S+) parameter\(", entry):
            body.append(f"  in{count} = {shape} parameter({count})\n")
            operands.append(f"in{count}")
            count += 1
        whole = results[0] if len(results) == 1 else "(" + ", ".join(results) + ")"
        body.append(f"  m{i} = {whole} call({', '.join(operands)}), to_apply=m{i}.main\n")
        names = [f"m{i}"]
        if len(results) > 1:
            names = [f"m{i}.{k}" for k in range(len(results))]
            body += [f"  {n} = {r} get-tuple-element(m{i}), index={k}\n"
                     for k, (n, r) in enumerate(zip(names, results))]
        outputs += list(zip(names, results))
    shape = ", ".join(r for _, r in outputs)
    body.append(f"  ROOT out = ({shape}) tuple({', '.join(n for n, _ in outputs)})\n")
    return "HloModule batch\n\n" + "\n".join(computations) + "\nENTRY main {\n" + "".join(body) + "}\n"


def _folded(text):
    """Per output: is it a constant of the optimised module?"""
    made, root = {}, []
    for line in text.split("ENTRY ")[-1].splitlines():
        found = re.match(r"\s+(ROOT )?%(\S+) = .*?[\]\})] ([a-z][a-z-]*)\((.*)", line)
        if not found:
            continue
        operands = re.findall(r"%([\w.\-]+)", found[4].split("), ")[0])
        made[found[2]] = (found[3], operands)
        if found[1]:
            root = operands if found[3] == "tuple" else [found[2]]

    def constant(name):
        opcode, operands = made.get(name, ("", []))
        return opcode == "constant" or (opcode in ("copy", "bitcast") and constant(operands[0]))
    return [constant(name) for name in root]
