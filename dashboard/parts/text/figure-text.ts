import { sizeText } from "./size-text.ts";

/** Formats a figure of the inventory or of the history in its unit. */
export function figureText(value: number, unit: string): string {
  switch (unit) {
    case "bytes":
      return sizeText(value);
    case "bytes_per_second":
      return `${sizeText(value)}/s`;
    case "percent":
      return `${Number(value.toFixed(1))} %`;
    case "per_second":
      return `${Number(value.toFixed(1))} per s`;
    case "milliseconds":
      return `${Number(value.toFixed(1))} ms`;
    default:
      return Number(value.toFixed(2)).toLocaleString("en");
  }
}

/** Names a figure for people: "Running containers" for "running_containers". */
export function figureTitle(name: string): string {
  const words = name.replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
