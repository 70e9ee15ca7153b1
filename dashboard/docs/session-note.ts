import { element } from "./element.ts";
import { type PageCaller, readPageCaller } from "./page-caller.ts";

/** Shows who the page's calls are made as. */
export interface SessionNote {
  readonly element: HTMLElement;
  /** Asks the gateway again. */
  refresh(): Promise<void>;
}

/** Creates the note. It asks again when the user comes back to the page, who may have logged in elsewhere. */
export function createSessionNote(): SessionNote {
  const place = element("div", { role: "status" });

  async function refresh(): Promise<void> {
    place.replaceChildren(...contentOf(await readPageCaller()));
  }

  window.addEventListener("focus", () => {
    if (place.isConnected) {
      void refresh();
    }
  });
  return { element: place, refresh };
}

function contentOf(caller: PageCaller): Node[] {
  if (caller.state === "in") {
    return [element("span", { className: "quiet" }, `Sends as ${caller.actor}, role ${caller.role}.`)];
  }
  return caller.state === "unknown"
    ? []
    : [
        element(
          "p",
          { className: "note warn" },
          "You are not logged in. ",
          element("a", { href: "/", target: "_blank" }, "Log in to the dashboard"),
          " in this browser; calls from this page then use the same session.",
        ),
      ];
}
