const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** HTML that is safe to insert without escaping. */
export interface Html {
  readonly text: string;
}

/** Builds HTML from a template. Every value is escaped, unless it is Html or a list of Html. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | Html | readonly Html[])[]
): Html {
  const text = parts.map((part, index) => {
    const value = values[index];
    return value === undefined ? part : part + textOf(value);
  });
  return { text: text.join("") };
}

function textOf(value: string | Html | readonly Html[]): string {
  if (typeof value === "string") {
    return value.replace(/[&<>"']/g, (character) => entities[character] ?? "");
  }
  return "text" in value ? value.text : value.map(({ text }) => text).join("");
}
