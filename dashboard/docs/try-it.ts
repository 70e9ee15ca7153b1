import { callableMethodOf } from "./callable-method.ts";
import { button } from "./element.ts";
import { createTryPanel } from "./try-panel.ts";

/** Adds the button to a method's section that opens the panel to call it. */
export function addTryIt(section: HTMLElement): void {
  const method = callableMethodOf(section);
  const head = section.querySelector(".rpc-head");
  const place = section.querySelector(".halves");
  if (method === undefined || head === null || place === null) {
    return;
  }
  let panel: HTMLElement | undefined;
  const toggle = button("Try it", () => {
    if (panel === undefined) {
      panel = createTryPanel(method);
      place.prepend(panel);
    } else {
      panel.hidden = !panel.hidden;
    }
    toggle.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) {
      panel.querySelector("textarea")?.focus();
    }
  });
  toggle.setAttribute("aria-expanded", "false");
  toggle.setAttribute("aria-label", `Try it: ${method.name}`);
  head.append(toggle);
}
