"""A function of tensors as a graph of ATen operations, and the graph compiled."""

from collections.abc import Callable
from typing import Any

from scripts.frameworks.torch.kernels import fast_kernels


def capture(function: Callable, *examples) -> tuple[Any, list]:
    """Return `function` as a graph of ATen operations, and the tensors it closes over: the graph's first inputs.

    The graph holds for inputs of the shapes and types of `examples` only, and for Keras's functions of `fast_kernels`.
    """
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    with fast_kernels(), torch.no_grad():
        graph = make_fx(lambda *inputs: function(*inputs))(*examples)
    first = next(iter(graph.graph.nodes))
    state, places = {}, {}
    for node in list(graph.graph.nodes):
        if node.op != "get_attr":
            continue
        if node.target not in places:
            # Detached: the graph holds its own backward pass, and oneDNN's LSTM runs where recording is on.
            state[node.target] = getattr(graph, node.target).detach()
            with graph.graph.inserting_before(first):
                places[node.target] = graph.graph.placeholder(node.target)
        node.replace_all_uses_with(places[node.target])
        graph.graph.erase_node(node)
    graph.graph.lint()
    graph.recompile()
    return graph, list(state.values())


def compile_graph(graph: Any, inputs: list) -> tuple[Callable, str]:
    """Return the graph compiled by TorchInductor, and how it runs; the graph itself without a compiler.

    `inputs` are all of the graph: it is compiled for their shapes, and run once.
    """
    import torch
    from torch._inductor.cpp_builder import get_cpp_compiler

    try:
        get_cpp_compiler()  # else TorchInductor finds out only after minutes
        compiled = torch.compile(graph, fullgraph=True, dynamic=False)
        with torch.enable_grad():
            compiled(*inputs)
        return compiled, "compiled by TorchInductor"
    except Exception as error:
        return graph, f"not compiled ({type(error).__name__})"
