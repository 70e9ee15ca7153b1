import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isSecret } from "../../rpc/call/secret-fields.ts";
import type { CommentOf } from "../../rpc/openapi/contract-comments.ts";
import { type Html, html } from "../html.ts";
import { typeAnchor } from "./anchors.ts";
import { commentHtml } from "./contract-text.ts";

/**
 * Renders the fields of a message with their types and comments.
 * @param anchor beginning of the fields' ids
 */
export function fieldList({ fields }: DescMessage, anchor: string, commentOf: CommentOf): Html {
  return fields.length === 0
    ? html`<p class="quiet">No fields.</p>`
    : html`<dl>${fields.map((field) => fieldHtml(field, anchor, commentOf))}</dl>`;
}

function fieldHtml(field: DescField, anchor: string, commentOf: CommentOf): Html {
  const facts = [
    ...(field.oneof === undefined ? [] : [`one of ${field.oneof.name}`]),
    ...(field.proto.proto3Optional ? ["may be unset"] : []),
    ...(isSecret(field) ? ["secret"] : []),
  ];
  const words = facts.length === 0 ? "" : `, ${facts.join(", ")}`;
  return html`<div id="${anchor}.${field.name}"><dt><code>${field.name}</code> <span>${typeHtml(field)}${words}</span></dt><dd>${commentHtml(commentOf(field))}</dd></div>
`;
}

function typeHtml(field: DescField): Html {
  const { message, enum: values, scalar } = field;
  const value = typeLink(message ?? values, scalar);
  if (field.fieldKind === "list") {
    return html`list of ${value}`;
  }
  return field.fieldKind === "map" ? html`map from ${scalarName(field.mapKey)} to ${value}` : value;
}

function typeLink(type: Parameters<typeof typeAnchor>[0] | undefined, scalar: ScalarType | undefined): Html {
  if (type === undefined) {
    return html`${scalarName(scalar)}`;
  }
  return type.typeName.startsWith("google.protobuf.")
    ? html`${type.typeName}`
    : html`<a href="#${typeAnchor(type)}">${type.typeName}</a>`;
}

function scalarName(scalar: ScalarType | undefined): string {
  return scalar === undefined ? "" : (ScalarType[scalar]?.toLowerCase() ?? "");
}
