import type { DescEnum, DescMessage } from "@bufbuild/protobuf";
import type { CommentOf } from "../../rpc/openapi/contract-comments.ts";
import type { DocumentedMethod } from "../../rpc/openapi/documented-method.ts";
import { type Html, html } from "../html.ts";
import { typeAnchor } from "./anchors.ts";
import { commentHtml } from "./contract-text.ts";
import { fieldList } from "./field-list.ts";

/** Returns every message and enum that the fields of the methods' messages refer to, directly or indirectly, sorted by name. */
export function fieldTypes(methods: readonly DocumentedMethod[]): readonly (DescMessage | DescEnum)[] {
  const types = new Map<string, DescMessage | DescEnum>();
  const seen = new Set<DescMessage>();

  function visit(message: DescMessage): void {
    if (seen.has(message)) {
      return;
    }
    seen.add(message);
    for (const { message: inner, enum: values } of message.fields) {
      const type = inner ?? values;
      if (type !== undefined && !type.typeName.startsWith("google.protobuf.")) {
        types.set(type.typeName, type);
      }
      if (inner !== undefined) {
        visit(inner);
      }
    }
  }

  for (const { method } of methods) {
    visit(method.input);
    visit(method.output);
  }
  return [...types.values()].toSorted((a, b) => (a.typeName < b.typeName ? -1 : 1));
}

/** Renders a message or an enum. */
export function typeHtml(type: DescMessage | DescEnum, commentOf: CommentOf): Html {
  const anchor = typeAnchor(type);
  const content =
    type.kind === "enum" ? enumValues(type, anchor, commentOf) : fieldList(type, anchor, commentOf);
  return html`<section><h3 id="${anchor}">${type.typeName}</h3>${commentHtml(commentOf(type))}${content}</section>
`;
}

function enumValues({ values }: DescEnum, anchor: string, commentOf: CommentOf): Html {
  const rows = values.map(
    (value) =>
      html`<div id="${anchor}.${value.name}"><dt><code>${value.name}</code> <span>${String(value.number)}</span></dt><dd>${commentHtml(commentOf(value))}</dd></div>
`,
  );
  return html`<dl>${rows}</dl>`;
}
