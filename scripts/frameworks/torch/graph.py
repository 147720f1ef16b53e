"""A function of tensors as a graph of ATen operations, and the graph compiled."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from scripts.frameworks.torch.kernels import fast_kernels


def capture(function: Callable, variables: list, *examples) -> tuple[Any, list]:
    """Return `function` as a graph of ATen operations, and the tensors it closes over: the graph's first inputs.

    The graph holds for inputs of the shapes and types of `examples` only, and for Keras's functions of `fast_kernels`.
    `variables` are tensors that change from call to call: a function that takes a branch by one cannot be traced.
    Of other tensors torch thinks that they are constant, and keeps to the branch of the first call.
    """
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    known = list({id(variable): variable for variable in variables}.values())
    with fast_kernels(), _no_host_values(), torch.no_grad():
        graph = make_fx(lambda *inputs: function(*inputs[len(known) :]))(*known, *examples)
    places = [node for node in graph.graph.nodes if node.op == "placeholder"]
    found, inserted = {}, {}
    for node in list(graph.graph.nodes):
        if node.op != "get_attr":
            continue
        if node.target not in inserted:
            found[node.target] = getattr(graph, node.target)
            with graph.graph.inserting_before(places[0]):
                inserted[node.target] = graph.graph.placeholder(node.target)
        node.replace_all_uses_with(inserted[node.target])
        graph.graph.erase_node(node)
    used = []
    for place, tensor in zip(places, known, strict=False):
        if place.users:
            used.append(tensor)
        else:
            graph.graph.erase_node(place)
    graph.graph.lint()
    graph.recompile()
    # Detached: the graph holds its own backward pass, and oneDNN's LSTM runs where recording is on.
    return graph, [tensor.detach() for tensor in (*found.values(), *used)]


@contextmanager
def _no_host_values() -> Iterator[None]:
    """Let what takes the values of a tensor to the host fail: a graph would hold them for ever.

    torch refuses the same of `item` and `bool`.
    """
    import torch

    def refused(tensor, *arguments, **options):
        raise RuntimeError("the value of a tensor was asked for while it was traced")

    names = "__array__", "numpy", "tolist"
    stock = {name: vars(torch.Tensor).get(name) for name in names}
    for name in names:
        setattr(torch.Tensor, name, refused)
    try:
        yield
    finally:
        for name, method in stock.items():
            if method is None:
                delattr(torch.Tensor, name)  # that of the class below shows again
            else:
                setattr(torch.Tensor, name, method)


def compile_graph(graph: Any, inputs: list) -> tuple[Callable, str]:
    """Return the graph compiled by TorchInductor, and how it runs; the graph itself where it cannot be compiled.

    `inputs` are all of the graph: it is compiled for their shapes, and run once. What runs out of memory is raised: it
    is no want of a compiler, and the graph would run out of it too.
    """
    import torch
    from torch._inductor.cpp_builder import get_cpp_compiler

    try:
        get_cpp_compiler()  # else TorchInductor finds out only after minutes
        compiled = torch.compile(graph, fullgraph=True, dynamic=False)
        with torch.enable_grad():
            compiled(*inputs)
        # JAX loops on the device, and a captured CUDA graph would, too: none is captured here, as no card has tried it.
        each = ", a call of Python for each batch" if any(one.is_cuda for one in inputs) else ""
        return compiled, f"compiled by TorchInductor{each}"
    except Exception as error:
        if exhausted := out_of_memory(error):
            raise exhausted from None
        return graph, f"not compiled ({type(error).__name__})"


def out_of_memory(error: BaseException) -> BaseException | None:
    """Return what ran out of memory of an error and what it came of (its causes, a compiler's inner ones); or None."""
    import torch

    seen: list[BaseException] = []
    found: list[BaseException | None] = [error]
    while found:
        one = found.pop()
        if one is None or one in seen:
            continue
        if isinstance(one, MemoryError | torch.OutOfMemoryError) or "out of memory" in str(one).lower():
            return one
        seen.append(one)
        found += [one.__cause__, one.__context__, getattr(one, "inner_exception", None)]
    return None
