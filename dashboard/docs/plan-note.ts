import { element } from "./element.ts";

/** A plan as PlanService returns it in JSON, which omits what is empty. */
export interface Plan {
  readonly changes?: readonly string[];
  readonly losses?: readonly string[];
  readonly steps?: readonly { readonly name: string; readonly command?: readonly string[] }[];
  readonly pointOfNoReturn?: number;
}

/** Shows what a change would do: first what is lost, then what changes, then the commands in the order they run. */
export function planNote({ changes = [], losses = [], steps = [], pointOfNoReturn = 0 }: Plan): HTMLElement {
  const items = steps.map(({ name, command = [] }, index) => {
    const isLimit = pointOfNoReturn < steps.length && index === pointOfNoReturn;
    return element(
      "li",
      {},
      name,
      ...(command.length === 0 ? [] : [" ", element("code", {}, command.map(shellWord).join(" "))]),
      ...(isLimit
        ? [
            element(
              "div",
              { className: "quiet" },
              "Point of no return: this step and later ones cannot be undone.",
            ),
          ]
        : []),
    );
  });
  return element(
    "div",
    {},
    ...(losses.length === 0 ? [] : [sentences("note err", "Permanently lost", losses)]),
    changes.length === 0
      ? element("p", {}, "The plan has no changes.")
      : sentences("", "This changes", changes),
    ...(items.length === 0 ? [] : [element("p", {}, "Steps"), element("ol", {}, ...items)]),
  );
}

function sentences(className: string, title: string, all: readonly string[]): HTMLElement {
  const list = element("ul", {}, ...all.map((sentence) => element("li", {}, sentence)));
  return element("div", { className }, element("strong", {}, title), list);
}

function shellWord(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
