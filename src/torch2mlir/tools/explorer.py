"""The explorer's window: xDSL's interactive application with our parser, printer, dialects, passes and diagnostics."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.widgets import TextArea, Tree
from xdsl.dialects.builtin import ModuleOp
from xdsl.interactive import app as interactive_app
from xdsl.interactive.app import InputApp
from xdsl.interactive.passes import AvailablePass, get_condensed_pass_list
from xdsl.passes import ModulePass

from torch2mlir.dialects import Context, make_context
from torch2mlir.dialects.printer import module_text
from torch2mlir.errors import PassError
from torch2mlir.tools.diagnostics import from_exception
from torch2mlir.tools.pipeline import make_pipeline
from torch2mlir.tools.plugins import Plugins
from torch2mlir.tools.reading import read_located
from torch2mlir.tools.running import PassRunner
from torch2mlir.tools.verification import violations
from torch2mlir.transforms import PASSES

EXAMPLE = """\
func.func @main(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %0 = torch.aten.silu %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}
"""


class FailedError(Exception):
    """What is shown in place of a module: diagnostics."""


class Explorer(InputApp):
    """The application.

    Args:
        plugins: passes and dialects of the user's own.
        name: what the program is called.
        text: the program, an example by default.
        passes: the passes to begin with.
    """

    TITLE = "torch2mlir explore"
    BINDINGS: ClassVar = [*InputApp.BINDINGS, ("u", "unfold", "Unfold pipelines")]
    CSS_PATH = str(Path(interactive_app.__file__).with_name("app.tcss"))

    def __init__(self, plugins: Plugins, name: str, text: str | None, passes: str) -> None:
        self.plugins = plugins
        available = {**PASSES, **plugins.passes}
        pipeline = make_pipeline(passes, available).passes
        loaded = list[tuple[str, type[ModulePass]]]()
        for pass_name, load in sorted(available.items()):
            try:
                loaded.append((pass_name, load()))
            except PassError:
                continue  # it needs PyTorch, which is not installed
        super().__init__((), tuple(loaded), name, EXAMPLE if text is None else text, pipeline)

    def _known_dialects(self) -> Context:
        context = make_context()
        for name, load in self.plugins.dialects.items():
            context.register_dialect(name, load)
        return context

    def _transformed(self, context: Context, text: str, steps: tuple[ModulePass, ...]) -> ModuleOp:
        """The module after the passes.

        Raises:
            FailedError: the text is not valid, or a pass failed.
        """
        return self._ran(context, text, steps)[0]

    def _ran(
        self, context: Context, text: str, steps: tuple[ModulePass, ...]
    ) -> tuple[ModuleOp, list[ModulePass]]:
        """The module after the passes, and which they were: of a pipeline, the ones it consists of.

        Raises:
            FailedError: the text is not valid, or a pass failed.
        """
        name = self.current_file_path or "input"
        sources = {name: text}
        try:
            module = read_located(context, text, name)
        except Exception as error:
            raise FailedError(from_exception(error, name, "", sources).text(sources)) from error
        self.update_input_operation_count_tuple(module)
        runner = PassRunner(context, name, sources)
        wrong = violations(module, name)
        if not wrong and (failure := runner.run(steps, module)) is not None:
            wrong = failure.diagnostics
        if wrong:
            raise FailedError("\n".join(each.text(sources) for each in wrong))
        return module, runner.ran

    def action_unfold(self) -> None:
        """Puts the passes that the chosen pipelines consist of, for this program, in their place."""
        try:
            text = self.input_text_area.text
            _, ran = self._ran(self._known_dialects(), text, self.pass_pipeline)
        except FailedError:
            return  # the output says what is wrong
        self.pass_pipeline = tuple(ran)

    @on(TextArea.Changed, "#input")
    def update_current_module(self, event: TextArea.Changed | None = None) -> None:
        """Reads the program again and runs the passes over it."""
        if event is not None:
            event.prevent_default()  # xDSL's own handler reads with xDSL's parser
        text = self.input_text_area.text
        self.update_input_operation_count_tuple(ModuleOp([]))
        if not text:
            self.current_module = None
            return
        try:
            self.current_module = self._transformed(
                self._known_dialects(), text, self.pass_pipeline
            )
        except FailedError as failure:
            self.current_module = failure

    def watch_current_module(self) -> None:
        """Shows what the program has become, or why not."""
        shown = self.current_module
        text = module_text(shown) if isinstance(shown, ModuleOp) else str(shown or "No input")
        self.output_text_area.load_text(text)
        self.update_operation_count_diff_tuple()

    def compute_available_pass_list(self) -> tuple[AvailablePass, ...]:
        """The passes that can come next; with "Condense", those that change something."""
        return self._next_passes(())

    def _next_passes(self, more: tuple[ModulePass, ...]) -> tuple[AvailablePass, ...]:
        everything = tuple(AvailablePass(each) for _, each in self.all_passes)
        if not self.condense_mode:
            return everything
        context = self._known_dialects()
        steps = (*self.pass_pipeline, *more)
        try:
            module = self._transformed(context, self.input_text_area.text, steps)
        except FailedError:
            return ()
        return get_condensed_pass_list(context, module, self.all_passes)

    @on(Tree.NodeExpanded, "#passes_tree")
    def expand_tree_node(self, event: Tree.NodeExpanded[type[ModulePass] | ModulePass]) -> None:
        """Shows what can come after a pass."""
        event.prevent_default()
        data, before = event.node.data, tuple[ModulePass, ...]()
        if data is not None:
            chosen = data if isinstance(data, ModulePass) else data()
            before = (*self.get_root_to_child_pass_list(event.node), chosen)
        self.expand_node(event.node, self._next_passes(before))

    def get_query_string(self) -> str:
        """The command that does the same."""
        steps = ",".join(str(each.spec()) for each in self.pass_pipeline)
        file = f" {shlex.quote(self.current_file_path)}" if self.current_file_path else ""
        return f"torch2mlir-opt -pass-pipeline='builtin.module({steps})'{file}"
