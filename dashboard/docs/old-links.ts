import type { SearchEntry } from "./find-entries.ts";

/**
 * Returns the address of what a link to `/docs#...` meant when all services were on one page; undefined if the anchor is still
 * there, or never was.
 */
export function newAddressOf(hash: string, entries: readonly SearchEntry[]): string | undefined {
  const [, anchor = ""] = hash.split("#");
  if (anchor.startsWith("service-")) {
    return entries.find(([kind, name]) => kind === "service" && `service-${name}` === anchor)?.[3];
  }
  return /^(rpc|type|reason)-/.test(anchor)
    ? entries.find(([, , , href]) => href.endsWith(`#${anchor}`))?.[3]
    : undefined;
}
