import type { DescEnum, DescEnumValue, DescField, DescMessage } from "@bufbuild/protobuf";
import type { CommentOf } from "../../rpc/openapi/contract-comments.ts";
import { errorsPath, messageAnchor, methodAnchor, reasonAnchor, servicePath, typeAnchor } from "./anchors.ts";
import { firstSentence as firstSentenceOf } from "./contract-text.ts";
import { fieldTypes } from "./field-types.ts";
import { type DocumentedService, type PageContract, servicesOf } from "./page-contract.ts";

/** What can be found: its kind, its name, where it is (in words), its address, and a sentence. dashboard/docs/search-entries.ts reads it. */
export type SearchEntry = readonly [
  kind: "service" | "RPC" | "field" | "type" | "value" | "reason",
  name: string,
  place: string,
  href: string,
  text: string,
];

/**
 * Lists everything that can be found in the documentation. A type that several services use is listed once: on the page of a
 * service of its own package, if there is one. It yields between steps, so that other work can run.
 */
export function* searchIndex(contract: PageContract): Generator<void, readonly SearchEntry[]> {
  const { commentOf, errors } = contract;
  const services = servicesOf(contract);
  const entries: SearchEntry[] = [];
  const pageOf = new Map<DescMessage | DescEnum, DocumentedService>();
  for (const one of services) {
    entries.push(...serviceEntries(one, commentOf));
    for (const type of fieldTypes(one.methods)) {
      const known = pageOf.get(type);
      if (known === undefined || (isOwn(one, type) && !isOwn(known, type))) {
        pageOf.set(type, one);
      }
    }
    yield;
  }
  for (const [type, { service }] of pageOf) {
    entries.push(...typeEntries(type, `${servicePath(service)}#${typeAnchor(type)}`, commentOf));
  }
  for (const { reason, code, meaning } of errors.rows) {
    entries.push(["reason", reason, code, `${errorsPath}#${reasonAnchor(reason)}`, firstSentence(meaning)]);
  }
  return entries;
}

/** The search shows plain text. */
function firstSentence(comment: string): string {
  return firstSentenceOf(comment).replaceAll("`", "");
}

function isOwn({ service }: DocumentedService, type: DescMessage | DescEnum): boolean {
  return service.file.proto.package === type.file.proto.package;
}

function serviceEntries({ service, methods }: DocumentedService, commentOf: CommentOf): SearchEntry[] {
  const path = servicePath(service);
  const ofMethods = methods.flatMap(({ method }) => {
    const rpc: SearchEntry = [
      "RPC",
      method.name,
      service.typeName,
      `${path}#${methodAnchor(method)}`,
      firstSentence(commentOf(method)),
    ];
    const fields = (["request", "response"] as const).flatMap((part) => {
      const place = `${service.typeName} / ${method.name} / ${part}`;
      const message = part === "request" ? method.input : method.output;
      return message.fields.map((field) =>
        memberEntry("field", field, place, `${path}#${messageAnchor(method, part)}`, commentOf),
      );
    });
    return [rpc, ...fields];
  });
  return [["service", service.typeName, "", path, firstSentence(commentOf(service))], ...ofMethods];
}

function typeEntries(type: DescMessage | DescEnum, href: string, commentOf: CommentOf): SearchEntry[] {
  const members =
    type.kind === "enum"
      ? type.values.map((value) => memberEntry("value", value, type.typeName, href, commentOf))
      : type.fields.map((field) => memberEntry("field", field, type.typeName, href, commentOf));
  return [["type", type.typeName, "", href, firstSentence(commentOf(type))], ...members];
}

function memberEntry(
  kind: "field" | "value",
  member: DescField | DescEnumValue,
  place: string,
  href: string,
  commentOf: CommentOf,
): SearchEntry {
  return [kind, member.name, place, `${href}.${member.name}`, firstSentence(commentOf(member))];
}
