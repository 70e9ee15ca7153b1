import { element } from "./element.ts";
import { findEntries, type SearchEntry } from "./find-entries.ts";
import { loadSearchEntries } from "./search-entries.ts";

const maxResults = 30;

/** Adds the search to the page: a combobox (WAI-ARIA) whose options are links. `/` and Ctrl K focus it. */
export function addSearchBox(place: HTMLElement): void {
  const input = element("input", {
    type: "search",
    role: "combobox",
    autocomplete: "off",
    spellcheck: false,
    placeholder: "Search services, RPCs, fields, reasons",
    "aria-label": "Search the documentation",
    "aria-expanded": "false",
    "aria-controls": "search-results",
    "aria-autocomplete": "list",
  });
  const list = element("div", { id: "search-results", role: "listbox", "aria-label": "Results" });
  const summary = element("p", { role: "status" });
  const popup = element("div", { className: "results", hidden: true }, list, summary);
  let active = 0;

  function options(): HTMLElement[] {
    return [...list.querySelectorAll<HTMLElement>("[role=option]")];
  }

  function select(index: number): void {
    const all = options();
    active = all.length === 0 ? 0 : (index + all.length) % all.length;
    for (const [at, option] of all.entries()) {
      option.setAttribute("aria-selected", String(at === active));
    }
    all[active]?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", all[active]?.id ?? "");
  }

  function show(isShown: boolean): void {
    popup.hidden = !isShown;
    input.setAttribute("aria-expanded", String(isShown));
  }

  async function search(): Promise<void> {
    const query = input.value.trim();
    if (query === "") {
      show(false);
      return;
    }
    try {
      const found = findEntries(await loadSearchEntries(), query, maxResults);
      if (query !== input.value.trim()) {
        return;
      }
      list.replaceChildren(...found.map((entry, index) => optionOf(entry, index, query)));
      summary.textContent = summaryOf(found.length);
      select(0);
    } catch (error) {
      list.replaceChildren();
      summary.textContent = `The search could not be loaded: ${(error as Error).message}`;
    }
    show(true);
  }

  input.addEventListener("focus", () => loadSearchEntries().catch(() => {}), { once: true });
  input.addEventListener("input", search);
  input.addEventListener("focus", search);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      select(active + step);
    } else if (event.key === "Enter") {
      options()[active]?.click();
    } else if (event.key === "Escape") {
      show(false);
    }
  });
  place.addEventListener("focusout", ({ relatedTarget }) =>
    show(place.contains(relatedTarget as Node | null)),
  );
  list.addEventListener("click", () => {
    show(false);
    input.blur();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = (event.target as Element).matches("input, textarea");
    const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping;
    if (isSlash || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
  place.append(input, element("kbd", { "aria-hidden": "true" }, "/"), popup);
}

function summaryOf(count: number): string {
  if (count === 0) {
    return "Nothing found. Every word must be in a name, its place or its description.";
  }
  return count === maxResults
    ? `The first ${count} results`
    : `${count} ${count === 1 ? "result" : "results"}`;
}

function optionOf([kind, name, place, href, text]: SearchEntry, index: number, query: string): HTMLElement {
  const words = element(
    "span",
    {},
    element("span", {}, ...marked(name, query)),
    ...(place === "" ? [] : [element("span", { className: "where" }, place)]),
    element("span", { className: "text" }, text),
  );
  return element(
    "a",
    { id: `search-result-${index}`, role: "option", href, tabIndex: -1 },
    element("span", { className: "kind" }, kind),
    words,
  );
}

/** Marks the words of the query in a name. */
function marked(name: string, query: string): (Node | string)[] {
  const words = query.split(/[\s/]+/).map((word) => word.replace(/[^\w]/g, "\\$&"));
  return name
    .split(new RegExp(`(${words.join("|")})`, "i"))
    .map((part, index) => (index % 2 === 1 ? element("mark", {}, part) : part));
}
