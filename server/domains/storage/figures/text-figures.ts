const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** Formats bytes as the contract does, for example `777.32 GiB`: two decimals and a binary unit, PiB at most. */
export function bytesText(bytes: number | bigint): string {
  let value = Number(bytes);
  let text = value.toFixed(2);
  for (const unit of units) {
    // A value that rounds to 1024 is 1.00 of the next unit.
    if (Number(text) < 1024 || unit === "PiB") {
      return `${text} ${unit}`;
    }
    value /= 1024;
    text = value.toFixed(2);
  }
  return text;
}

/** Formats a throughput as the contract does, for example `853.00 B/s rd`. */
export function throughputText(bytesPerSecond: number, direction: "rd" | "wr"): string {
  return `${bytesText(bytesPerSecond)}/s ${direction}`;
}

/** Formats a rate of operations as the contract does, for example `1 ops/s rd`. */
export function operationsText(perSecond: number, direction: "rd" | "wr"): string {
  return `${Math.round(perSecond)} ops/s ${direction}`;
}
