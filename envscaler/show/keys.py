"""Keys for a widget: what is pressed while the focus is in it goes to Python, and not to JupyterLab.

JupyterLab's command mode takes single letters for itself: `x` would cut the cell. So while the focus is in a
widget that has a `Keys` in it, letters stop there: those it listens for become calls, the others do nothing.
Text fields and choices keep their own keys, and so does everything with Ctrl, Alt or Cmd. The widget becomes a
stop for Tab and shows that it has the focus. What a key does is not known here.
"""

from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

KEYED = "es-keyed"
"""Class of the widget whose keys are listened to: the nearest one around the `Keys`."""

_SCRIPT = """
const REPEAT = 120;  // milliseconds between two calls while a key is held down

function render({ model, el }) {
  el.classList.add("es-keys");
  el.textContent = model.get("hint");
  let root = null, waiting = 0, last = 0;
  const attach = () => {
    root = el.closest(".KEYED");
    if (root) root.tabIndex = 0;
    else waiting = requestAnimationFrame(attach);
  };
  const pressed = event => {
    if (!root || !root.contains(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    if (event.target.closest(".KEYED") !== root) return;
    const known = model.get("listened").includes(event.key);
    if (known) event.preventDefault();
    if (known || event.key.length === 1) event.stopPropagation();
    if (!known || (event.repeat && event.timeStamp - last < REPEAT)) return;
    last = event.timeStamp;
    model.send({ key: event.key });
  };
  attach();
  // Before JupyterLab, which listens on the document as well.
  window.addEventListener("keydown", pressed, true);
  return () => {
    cancelAnimationFrame(waiting);
    window.removeEventListener("keydown", pressed, true);
  };
}
export default { render };
""".replace("KEYED", KEYED)

_LOOK = """
.es-keys { margin-left: 14px; color: var(--jp-ui-font-color2, #767676); font-size: 12px;
  line-height: 28px; white-space: nowrap; }
.KEYED { outline: none; border-radius: 4px; padding: 4px; }
.KEYED:focus-visible { box-shadow: 0 0 0 2px var(--jp-brand-color1, #0072b2); }
.es-code textarea { font-family: var(--jp-code-font-family, monospace) !important; font-size: 12px; tab-size: 4; }
""".replace("KEYED", KEYED)


class Keys(anywidget.AnyWidget):
    """Listens for keys inside the nearest widget around it that has the class `es-keyed`.

    Args:
        acts: what each key does, by its name in the browser (`n`, `ArrowRight`, …).
        hint: a few words on the keys, shown in its place.
    """

    _esm = _SCRIPT
    _css = _LOOK
    hint = traitlets.Unicode("").tag(sync=True)
    listened = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, acts: Mapping[str, Callable[[], Any]], hint: str = "") -> None:
        self._acts = dict(acts)
        super().__init__(hint=hint, listened=list(acts))
        self.on_msg(self._told)

    def press(self, key: str) -> None:
        """Do what a key does; nothing for a key that nobody listens for."""
        if isinstance(key, str) and key in self._acts:
            self._acts[key]()

    def _told(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and isinstance(content.get("key"), str):
            self.press(content["key"])
