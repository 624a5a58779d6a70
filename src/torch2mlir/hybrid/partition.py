"""A graph as compiled clusters and PyTorch: what can be compiled is, and every other node says why it is not."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import torch
from torch.fx import Graph, GraphModule, Node

from torch2mlir.api import compile, export_and_import
from torch2mlir.dialects.locations import describe
from torch2mlir.frontends.fx import locations
from torch2mlir.frontends.fx.exported import import_graph_module
from torch2mlir.frontends.fx.shared_memory import is_tensor_node
from torch2mlir.hybrid.cluster import Cluster, Compiled
from torch2mlir.hybrid.clustering import Phases, compute_nodes, find_phases, is_size
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.effects import Effects, effects, keep_views_of_results
from torch2mlir.hybrid.region import Region, Regions, hints_of, ranges_of
from torch2mlir.hybrid.support import LoneOps, problem_of, reason_against
from torch2mlir.hybrid.ways import Suited, Way, suited_to_graph
from torch2mlir.runtime.compiled import CompiledFunction

CompileRegion = Callable[[GraphModule, Way], Compiled]
"""Compiles a graph whose placeholders are all arguments and that returns a tuple; fails with any exception."""

TOO_SMALL = "too few ops beside it to be worth a cluster"
_MOST_CUTS = 8
"""How many ops a cluster that only the engine refuses may lose before all of it goes to PyTorch."""


@dataclass(frozen=True)
class Kept:
    """An op that PyTorch runs: its name, why, and the line of the model it comes from."""

    node: str
    op: str
    reason: str
    location: str | None = None


@dataclass
class Partition:
    """A graph in parts.

    Attributes:
        module: takes and returns what the graph does; clusters are its submodules ``cluster_0``, ...
        clusters: the compiled parts.
        kept: the ops that stay in PyTorch, with their reasons; arithmetic on sizes is not counted.
        failures: how many of them have been tried.
    """

    module: GraphModule
    clusters: list[Cluster] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    failures: int = 0

    def reasons(self) -> Counter[tuple[str, str]]:
        """How often each op stays in PyTorch for which reason."""
        return Counter((item.op, item.reason) for item in self.kept)


def partition(
    graph_module: GraphModule,
    config: Config | None = None,
    *,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    compile_region: CompileRegion | None = None,
    withheld: Mapping[str, str] | None = None,
) -> Partition:
    """Compiles the clusters of a graph and leaves the rest to PyTorch; never fails because of an op.

    Random numbers, writes to tensors, and views that are results stay in PyTorch, in the graph's order.

    Args:
        graph_module: ATen calls with ``meta["val"]``, as ``torch.export``, AOTAutograd and ``make_fx`` make. It is
            not changed; parameters and buffers are shared with the result.
        config: what may be compiled, and by whom.
        ranges: the smallest and largest value of each symbolic size; by default what PyTorch knows of them.
        compile_region: compiles a cluster in a way; by default ``torch2mlir.compile``.
        withheld: the names of nodes that are to stay in PyTorch, and why.
    """
    config = config or Config()
    return _Partitioning(graph_module, config, ranges, compile_region, withheld or {}).run()


class _Partitioning:
    """The work of one ``partition``."""

    def __init__(
        self,
        graph_module: GraphModule,
        config: Config,
        ranges: Mapping[str, tuple[int, int]] | None,
        compile_region: CompileRegion | None,
        withheld: Mapping[str, str],
    ) -> None:
        self.config = config
        self.root = _copied(graph_module)
        self.way = suited_to_graph(config.way, self.root.graph).ways[0]
        self.ranges = dict(ranges_of(self.root.graph) if ranges is None else ranges)
        self.hints = hints_of(self.root.graph)
        self.compile_region = compile_region or self._compile
        self.lone_ops = LoneOps(self._lower)
        self.effects: Effects = effects(self.root)
        keep_views_of_results(self.root.graph, self.effects)
        self.regions = Regions(self.root, self.effects.written)
        self.kept: dict[Node, str] = dict(self.effects.kept)
        self.kept |= {n: withheld[n.name] for n in self.root.graph.nodes if n.name in withheld}
        self.clusterable = set[Node]()
        self.compiled = dict[tuple[Node, ...], tuple[Region, Compiled, Way, str]]()
        self.cuts = Counter[Node]()
        self.failures = 0

    def run(self) -> Partition:
        self._choose()
        while True:
            phases = find_phases(self.root.graph, self.clusterable, self.effects.before)
            if self._drop_small(phases):
                continue
            if all([self._compiles(nodes) for nodes in phases.clusters.values()]):
                result = self._assemble(phases)
                self.compiled.clear()  # clusters compile in other ways, and let go of this one then
                return result

    # what goes where

    def _choose(self) -> None:
        for node in self.root.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output") or is_size(node):
                continue
            if node.target is operator.getitem:
                self._follow(node)
            elif node not in self.kept:
                reason = reason_against(node, self.config, self.way)
                if reason is None and not self.regions.sizes_can_be_made(node):
                    reason = "it takes a number that is computed from a tensor"
                if reason is None:
                    self.clusterable.add(node)
                else:
                    self.kept[node] = reason

    def _follow(self, item: Node) -> None:
        """A part of a result goes where the result goes."""
        if item.args[0] in self.clusterable and is_tensor_node(item):
            self.clusterable.add(item)

    def _keep(self, node: Node, reason: str) -> None:
        self.kept[node] = reason
        self.clusterable.discard(node)
        for user in node.users:
            if user.target is operator.getitem:
                self.clusterable.discard(user)

    def _drop_small(self, phases: Phases) -> bool:
        """Leaves to PyTorch what is not worth a call; whether there was something."""
        dropped = False
        for nodes in phases.clusters.values():
            if len(compute_nodes(nodes)) < self.config.min_cluster_size:
                dropped = True
                for node in nodes:
                    if node.target is not operator.getitem:
                        self._keep(node, TOO_SMALL)
        return dropped

    # compiling

    def _compile(self, module: GraphModule, way: Way) -> CompiledFunction:
        program = import_graph_module(module, ranges=self.ranges)
        compiled = compile(program, output_type=way.dialect, engine=way.engine)
        if names := program.signature.ranges:
            # what is tuned is tuned for the sizes of the example, and compiled for others when they come
            if not way.engine.needs_static_shapes and not self.config.tune:
                compiled.compile_for()
            elif all(name in self.hints for name in names):
                compiled.compile_for({name: self.hints[name] for name in names})
        return compiled

    def _lower(self, module: GraphModule) -> None:
        program = import_graph_module(module, ranges=self.ranges)
        export_and_import(program, output_type=self.way.dialect, weights="arguments")

    def _compiles(self, nodes: Sequence[Node]) -> bool:
        """Whether a cluster can be compiled; if not, some of its nodes are clusterable no more."""
        key = tuple(nodes)
        if key in self.compiled:
            return True
        region = self.regions.cut(nodes)
        suited = suited_to_graph(self.config.way, region.graph_module.graph)
        problem = self._try(key, region, suited)
        if problem is None:
            return True
        lone = {node: self._lone_problem(node) for node in nodes}
        culprits = {node: reason for node, reason in lone.items() if reason is not None}
        if not culprits:
            culprits = self._cut_off(nodes, problem, suited.ways[0])
        self.failures += len(culprits)
        for node, reason in culprits.items():
            self._keep(node, reason)
        return False

    def _try(self, key: tuple[Node, ...], region: Region, suited: Suited) -> str | None:
        """Compiles a region in the first way that can; what is against the first, if none can."""
        problems = list[str]()
        for way in suited.ways:

            def attempt(way: Way = way) -> None:
                compiled = self.compile_region(region.graph_module, way)
                self.compiled[key] = region, compiled, way, _rule(suited, problems)

            problem = problem_of(attempt)
            if problem is None:
                return None
            problems.append(problem)
        return problems[0]

    def _lone_problem(self, node: Node) -> str | None:
        if node.target is operator.getitem:
            return None
        items = [u for u in node.users if u.target is operator.getitem and u in self.clusterable]
        return self.lone_ops.problem(self.regions.cut([node, *items]).graph_module, node)

    def _cut_off(self, nodes: Sequence[Node], problem: str, way: Way) -> dict[Node, str]:
        """What to leave out of a cluster whose ops can all be lowered alone: the end of its shortest failing beginning.

        After a few of them it is all of the cluster.
        """
        first = nodes[0]
        self.cuts[first] += 1
        if self.cuts[first] > _MOST_CUTS:
            return {n: problem for n in nodes if n.target is not operator.getitem}
        whole = [n for n in nodes if n.target is not operator.getitem]
        good, bad = 0, len(whole)
        while bad - good > 1:
            middle = (good + bad) // 2
            part = _with_items(whole[:middle], nodes)
            failure = problem_of(partial(self._compile_part, part, way))
            good, bad = (middle, bad) if failure is None else (good, middle)
            problem = failure or problem
        return {whole[bad - 1]: problem}

    def _compile_part(self, nodes: Sequence[Node], way: Way) -> None:
        self.compile_region(self.regions.cut(nodes).graph_module, way)

    # putting together

    def _assemble(self, phases: Phases) -> Partition:
        result = Partition(self.root, failures=self.failures)
        graph, values = Graph(), dict[Node, Node]()
        graph._codegen = self.root.graph._codegen
        by_phase: dict[int, list[Node]] = {}
        output = next(n for n in reversed(self.root.graph.nodes) if n.op == "output")
        for node in self.root.graph.nodes:
            if node.op in ("placeholder", "get_attr"):
                values[node] = graph.node_copy(node)
            elif node not in self.clusterable and node is not output:
                by_phase.setdefault(phases.of[node], []).append(node)
        for phase in sorted({*by_phase, *phases.clusters}):
            if nodes := phases.clusters.get(phase):
                self._call_cluster(nodes, graph, values, result)
            for node in by_phase.get(phase, ()):
                values[node] = graph.node_copy(node, values.__getitem__)
        graph.node_copy(output, values.__getitem__)
        _drop_unused(graph)
        result.module = GraphModule(self.root, graph)
        result.kept = [
            Kept(node.name, str(node.target), reason, describe(locations.of_node(node.meta)))
            for node, reason in self.kept.items()
        ]
        return result

    def _call_cluster(
        self, nodes: Sequence[Node], graph: Graph, values: dict[Node, Node], result: Partition
    ) -> None:
        region, compiled, way, rule = self.compiled[tuple(nodes)]
        seen = [
            index
            for index, node in enumerate(region.outputs)
            if any(user not in self.clusterable for user in node.users)
        ]
        name = f"cluster_{len(result.clusters)}"
        cluster = Cluster(region.graph_module, compiled, seen, way, self.compile_region, rule)
        result.clusters.append(cluster)
        self.root.add_submodule(name, cluster)
        call = graph.call_module(name, tuple(values[node] for node in region.inputs))
        for index, node in enumerate(region.outputs):
            values[node] = item = graph.call_function(operator.getitem, (call, index))
            item.meta = dict(node.meta)


def _rule(suited: Suited, problems: Sequence[str]) -> str:
    """Why a way was taken: the rule, and how many before it refused."""
    refused = [way.name for way, _ in zip(suited.ways, problems)]
    return suited.rule + (f" ({', '.join(refused)} refused)" if refused else "")


def _with_items(nodes: Sequence[Node], region: Sequence[Node]) -> list[Node]:
    """Nodes of a region with the parts of their results, in order."""
    chosen = set(nodes)
    return [
        n
        for n in region
        if n in chosen or (n.target is operator.getitem and n.all_input_nodes[0] in chosen)
    ]


def _copied(graph_module: GraphModule) -> GraphModule:
    """The same program in a graph that may be changed, without what only checks what the capture assumed."""
    graph, values = Graph(), dict[Node, Node]()
    graph._codegen = graph_module.graph._codegen
    for node in graph_module.graph.nodes:
        if node.target is not torch.ops.aten._assert_tensor_metadata.default:
            values[node] = graph.node_copy(node, values.__getitem__)
    return GraphModule(graph_module, graph)


def _drop_unused(graph: Graph) -> None:
    """Removes sizes that only clusters used, and inputs of theirs that are weights."""
    for node in reversed(list(graph.nodes)):
        if not node.users and (node.op == "get_attr" or is_size(node)):
            graph.erase_node(node)
