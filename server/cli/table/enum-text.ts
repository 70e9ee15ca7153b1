import type { DescEnum } from "@bufbuild/protobuf";

/** Formats a value of an enum: `needs-attention` for OPERATION_STATE_NEEDS_ATTENTION, `unknown` for ..._UNSPECIFIED. */
export function enumText(schema: DescEnum, value: number): string {
  const found = schema.value[value];
  if (found === undefined) {
    return String(value);
  }
  const name = found.localName.toLowerCase().replaceAll("_", "-");
  return name === "unspecified" ? "unknown" : name;
}
