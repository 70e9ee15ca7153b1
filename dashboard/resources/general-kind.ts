import type { Resource } from "../../gen/hostplane/v1/inventory_pb.ts";
import { typeTitle } from "../parts/text/operation-title.ts";
import type { ResourceKind } from "./kind.ts";

/** Returns the kind of a type that no page of the dashboard knows: the page of its domain shows it. */
export function generalKind({ type }: Pick<Resource, "type">): ResourceKind {
  return { type, title: typeTitle(type), icon: "box", pathOf: generalPath, actions: () => [] };
}

/** Returns the path of a resource on the page of its domain. */
function generalPath({ domain, name }: Resource): string {
  return `/${domain}/${name.split("/").map(encodeURIComponent).join("/")}`;
}
