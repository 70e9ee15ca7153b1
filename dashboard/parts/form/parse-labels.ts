/**
 * Parses labels: `tier=web disk=ssd`, separated by spaces or commas. A label without `=` has an empty value. The gateway
 * validates the labels.
 */
export function parseLabels(text: string): { readonly name: string; readonly value: string }[] {
  return text
    .split(/[\s,]+/)
    .filter((word) => word !== "")
    .map((word) => {
      const [name = "", ...value] = word.split("=");
      return { name, value: value.join("=") };
    });
}
