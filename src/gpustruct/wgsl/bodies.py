"""Find the module's names that the bodies of functions use. WGSL §5 (declaration and scope).

Nothing is checked here. A name that a parameter or a local declaration hides is not counted. A local declaration
hides a name from the end of its statement to the end of its block.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from .source import BLANK, Source
from .syntax import Declaration
from .tokens import DIGITS, LINE_COMMENT, NAME, comment_end

# Functions that read a texture through a sampler. The two are neighbouring arguments, the texture first (§17.7).
SAMPLING = frozenset(
    [
        *(f"textureSample{kind}" for kind in ("", "Bias", "Compare", "CompareLevel", "Grad", "Level")),
        *("textureSampleBaseClampToEdge", "textureGather", "textureGatherCompare"),
    ]
)
_TOKEN = re.compile(
    rf"(?:[{BLANK}]|{LINE_COMMENT})*+"
    rf"(?:(?P<comment>/\*)|(?P<name>{NAME})|(?P<number>(?:{DIGITS})\w*)|(?P<sign>[{{}}()\[\],;.<>@])|(?P<other>[^{BLANK}]))"
)
_LOCAL = ("let", "var", "const")
# A texture or a sampler in a function: a parameter by its index, or a variable of the module by its name.
Handle = int | str


@dataclass(frozen=True, slots=True)
class Call:
    """A call with textures or samplers among its arguments; all other arguments are None."""

    callee: str
    arguments: tuple[Handle | None, ...]


@dataclass(slots=True)
class Body:
    """What one body uses: names of the module, and calls with textures or samplers as arguments, each once."""

    names: dict[str, None] = field(default_factory=dict[str, None])
    calls: dict[Call, None] = field(default_factory=dict[Call, None])


@dataclass(slots=True)
class _Bracket:
    """An open bracket, and its contents since the last comma."""

    sign: str = ""
    callee: str = ""
    arguments: list[Handle | None] = field(default_factory=list[Handle | None])
    tokens: int = 0
    handle: Handle | None = None

    def end_argument(self) -> None:
        self.arguments.append(self.handle if self.tokens == 1 else None)
        self.tokens, self.handle = 0, None


class BodyReader:
    """Reads the body of `function`.

    `known` are the names of the module; `variables` are its textures and samplers; `parameters` are the indices of
    those parameters of the function that are textures or samplers.
    """

    def __init__(
        self,
        function: Declaration,
        known: Container[str],
        variables: Container[str],
        parameters: Mapping[str, int],
    ) -> None:
        self._range = function.body
        self._body = Body()
        self._known, self._variables, self._handles = known, variables, parameters
        self._parameters = {parameter.name for parameter in function.members}
        self._hidden: dict[str, int] = {}
        # `let t = photo;` is another name for the texture (naga accepts that). The innermost declaration comes last.
        self._aliases: dict[str, list[Handle | None]] = {}
        # Each block has the names that it hides, and its aliases. A `for` is a block that ends with the block of its body.
        self._blocks: list[tuple[str, list[str], list[str]]] = [("{", [], [])]
        self._pending = ""
        self._before = ""
        self._frames = [_Bracket()]

    def read(self, source: Source) -> Body:
        """What the body uses."""
        text, (offset, end) = source.text, self._range
        while offset < end and (found := _TOKEN.match(text, offset, end)):
            offset = found.end()
            if found.lastgroup == "name":
                self._take_name(found["name"])
            elif found.lastgroup == "sign":
                self._take_sign(found["sign"])
            elif found.lastgroup == "comment":
                offset = comment_end(text, found.start("comment"))
                if offset < 0:
                    break
            else:
                self._take_other(found["other"])
        return self._body

    def _take_name(self, word: str) -> None:
        before, self._before = self._before, word
        frame = self._frames[-1]
        frame.tokens += 1
        if before == ".":
            self._before = ""
        elif before == "@":
            self._before = "@"
        elif before in _LOCAL:
            self._pending = word
        elif word == "for":
            self._blocks.append(("for", [], []))
        elif word not in _LOCAL and frame.sign not in ("@", "var"):
            self._use(word, frame)

    def _use(self, word: str, frame: _Bracket) -> None:
        aliases = self._aliases.get(word)
        if aliases and aliases[-1] is not None:
            frame.handle, self._before = aliases[-1], ""
        elif self._hidden.get(word):
            self._before = ""
        elif word in self._parameters:
            frame.handle, self._before = self._handles.get(word), ""
        elif word in self._known:
            self._body.names[word] = None
            frame.handle = word if word in self._variables else None

    def _take_other(self, sign: str | None) -> None:
        self._before = ""
        if sign == "=" and self._pending and len(self._frames) == 1:
            # What follows is the value of a local declaration.
            self._frames = [_Bracket()]
        else:
            self._frames[-1].tokens += 1

    def _take_sign(self, sign: str) -> None:
        before, self._before = self._before, sign
        frame = self._frames[-1]
        if sign in "{};":
            self._end_statement(sign)
        elif sign == "(":
            callee = before if before[:1].isidentifier() else ""
            self._frames.append(_Bracket("@" if before == "@" else "(", callee))
        elif sign == "[":
            self._frames.append(_Bracket("["))
        elif sign in ")]":
            self._close(sign)
        elif sign == ",":
            if frame.sign not in ("<", "var"):
                frame.end_argument()
        elif sign == "<" and (before in ("array", "var") or (frame.sign == "<" and before[:1].isidentifier())):
            self._frames.append(_Bracket("var" if before == "var" else "<"))
        elif sign == ">" and frame.sign in ("<", "var"):
            self._frames.pop()
            # After `var<function>` comes the name, as after `var`.
            self._before = "var" if frame.sign == "var" else ""
        elif sign in "<>.@":
            frame.tokens += 1

    def _close(self, sign: str) -> None:
        while len(self._frames) > 1:
            frame = self._frames.pop()
            if frame.sign in ("<", "var"):
                continue
            outer = self._frames[-1]
            if sign == "]" or frame.sign == "@":
                return
            frame.end_argument()
            if frame.callee:
                outer.tokens += 1
                self._called(frame)
            elif outer.tokens == 0 and len(frame.arguments) == 1:
                # (texture) means the texture.
                outer.tokens, outer.handle = 1, frame.arguments[0]
            else:
                outer.tokens += 1
            return

    def _called(self, frame: _Bracket) -> None:
        is_known = frame.callee in self._known
        if (is_known or frame.callee in SAMPLING) and any(handle is not None for handle in frame.arguments):
            self._body.calls[Call(frame.callee, tuple(frame.arguments))] = None

    def _end_statement(self, sign: str) -> None:
        if sign == ";" and self._pending:
            self._alias(self._pending, self._frames[-1])
            self._hide(self._pending)
        self._pending = ""
        if sign == "{":
            self._blocks.append(("{", [], []))
        elif sign == "}":
            self._end_block()
            if self._blocks and self._blocks[-1][0] == "for":
                self._end_block()
        if sign != ";" or len(self._frames) == 1:
            self._frames = [_Bracket()]

    def _alias(self, name: str, value: _Bracket) -> None:
        handle = value.handle if value.tokens == 1 else None
        if self._blocks and (handle is not None or name in self._aliases):
            self._blocks[-1][2].append(name)
            self._aliases.setdefault(name, []).append(handle)

    def _hide(self, name: str) -> None:
        if self._blocks and (name in self._known or name in self._parameters):
            self._blocks[-1][1].append(name)
            self._hidden[name] = self._hidden.get(name, 0) + 1

    def _end_block(self) -> None:
        if self._blocks:
            _, hidden, aliases = self._blocks.pop()
            for name in hidden:
                self._hidden[name] -= 1
            for name in aliases:
                self._aliases[name].pop()
