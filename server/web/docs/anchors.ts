import type { DescEnum, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";

/** Returns the path of a service's page. */
export function servicePath({ typeName }: DescService): string {
  return `/docs/${typeName}`;
}

/** Path of the page with the table of reasons. */
export const errorsPath = "/docs/errors";

/** Returns the id of a method's section, in the page of its service and in the index. */
export function methodAnchor({ parent, name }: DescMethod): string {
  return `rpc-${parent.typeName}.${name}`;
}

/** Returns the id of the fields of a method's request or response; `<id>.<field>` is the id of a field. */
export function messageAnchor(method: DescMethod, part: "request" | "response"): string {
  return `${methodAnchor(method)}.${part}`;
}

/** Returns the id of a type; `<id>.<name>` is the id of its field or value. */
export function typeAnchor({ typeName }: DescMessage | DescEnum): string {
  return `type-${typeName}`;
}

/** Returns the id of a reason in the table of reasons. */
export function reasonAnchor(reason: string): string {
  return `reason-${reason}`;
}
