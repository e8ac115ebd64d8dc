"""Answers (`--set name=value`): the name gets the value wherever the notebook binds it at top level."""

import ast
from typing import Any, Dict, List


class Binder(ast.NodeTransformer):
    """Rewrites a cell's tree. A plain assignment gets the value instead of its expression, which is not evaluated;
    after any other statement that binds the name (loop, `with`, unpacking, import) an assignment is put."""

    def __init__(self, values: Dict[str, Any]) -> None:
        self._values = values

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Not top level."""
        return self._follow(node, [node.name])

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        """Not top level."""
        return self._follow(node, [node.name])

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Not top level."""
        return self._follow(node, [node.name])

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """Not top level."""
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """`name = …`, `a = name = …`, `name, other = …`."""
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id in self._values:
            node.value = self._constant(node.targets[0].id, node)
            return node
        return self._follow(node, _names(node.targets))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """`name: int = …`."""
        if isinstance(node.target, ast.Name) and node.target.id in self._values and node.value is not None:
            node.value = self._constant(node.target.id, node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """`name *= …`."""
        return self._follow(node, _names([node.target]))

    def visit_Import(self, node: ast.Import) -> Any:
        """`import name`."""
        return self._follow(node, [(alias.asname or alias.name).split(".")[0] for alias in node.names])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """`from module import name`."""
        return self._follow(node, [alias.asname or alias.name for alias in node.names])

    def visit_For(self, node: ast.For) -> Any:
        """`for name in …`: bound at the start of each turn."""
        node = self.generic_visit(node)  # type: ignore[assignment]
        node.body = self._bindings(_names([node.target]), node) + node.body
        return node

    def visit_With(self, node: ast.With) -> Any:
        """`with … as name`."""
        node = self.generic_visit(node)  # type: ignore[assignment]
        names = _names([item.optional_vars for item in node.items if item.optional_vars])
        node.body = self._bindings(names, node) + node.body
        return node

    def visit_NamedExpr(self, node: Any) -> Any:
        """`(name := …)`."""
        if node.target.id in self._values:
            node.value = self._constant(node.target.id, node)
        return node

    def _follow(self, node: ast.stmt, names: List[str]) -> Any:
        bindings = self._bindings(names, node)
        return [node, *bindings] if bindings else node

    def _bindings(self, names: List[str], place: ast.AST) -> List[ast.stmt]:
        out: List[ast.stmt] = []
        for name in names:
            if name in self._values:
                target = ast.copy_location(ast.Name(id=name, ctx=ast.Store()), place)
                out.append(ast.copy_location(ast.Assign(targets=[target], value=self._constant(name, place)), place))
        return out

    def _constant(self, name: str, place: ast.AST) -> ast.expr:
        return ast.copy_location(ast.Constant(value=self._values[name], kind=None), place)


def _names(targets: "List[Any]") -> List[str]:
    """Names that targets bind; attributes and subscripts bind none."""
    found: List[str] = []
    for target in targets:
        if isinstance(target, ast.Name):
            found.append(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            found += _names(target.elts)
        elif isinstance(target, ast.Starred):
            found += _names([target.value])
    return found


def bind(tree: ast.Module, values: Dict[str, Any]) -> ast.Module:
    """The tree with the answers in it; line numbers stay."""
    return ast.fix_missing_locations(Binder(values).visit(tree)) if values else tree
