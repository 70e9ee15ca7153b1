import type { Operation } from "../../../gen/hostplane/v1/operation_pb.ts";

/** Verbs that are not the last word of the kind. */
const verbs: Readonly<Record<string, string>> = { backup: "back up" };

/** Names an operation for people, from its kind and resource: "Remove volume data" for "volumes.remove". */
export function operationTitle({ kind, resource }: Pick<Operation, "kind" | "resource">): string {
  const parts = kind.split(".");
  const last = (parts.at(-1) ?? kind)
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("-", " ")
    .toLowerCase();
  const verb = verbs[last] ?? last;
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${resourceTitle(resource)}`;
}

/** Names a resource: its kind and its last part, "volume data" for "volumeGroups/vg0/volumes/data". */
export function resourceTitle(resource: string): string {
  if (resource.startsWith("images/")) {
    // The name of an image has slashes.
    return `image ${resource.slice("images/".length)}`;
  }
  const parts = resource.split("/");
  const name = parts.at(-1) ?? resource;
  const type = parts.at(-2);
  return type === undefined ? name : `${typeTitle(type)} ${name}`;
}

/** Names a type for people: "volumes" to "volume", "volumeGroups" to "volume group", "osds" and "osd" to "OSD". */
export function typeTitle(plural: string): string {
  const word = plural.replace(/s$/, "");
  return word === "osd" ? "OSD" : word.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}
