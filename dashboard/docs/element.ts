type Child = Node | string;

/** Creates an element with properties, attributes (those with a dash, and `role`) and children. Text is never read as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Readonly<Record<string, unknown>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role") {
      created.setAttribute(key, String(value));
    } else {
      Object.assign(created, { [key]: value });
    }
  }
  created.append(...children);
  return created;
}

/** Creates a button that does something on this page. */
export function button(label: string, onclick: () => void, className = ""): HTMLButtonElement {
  return element("button", { type: "button", className, onclick }, label);
}
