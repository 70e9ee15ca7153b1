/**
 * Labels of Kubernetes as people write them: `tier=web disk=ssd`, separated by spaces or commas. One without `=` has no value,
 * which Kubernetes allows. What a label may be made of the gateway checks.
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
