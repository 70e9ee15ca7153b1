import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isSecret } from "../../rpc/call/secret-fields.ts";
import type { CommentOf } from "../../rpc/openapi/contract-comments.ts";
import { type Html, html } from "../html.ts";
import { commentHtml } from "./contract-text.ts";

/** Renders the fields of a message with their types and comments. */
export function fieldsHtml({ fields }: DescMessage, commentOf: CommentOf): Html {
  return fields.length === 0
    ? html`<p>No fields.</p>`
    : html`<dl>${fields.map((field) => fieldHtml(field, commentOf))}</dl>`;
}

function fieldHtml(field: DescField, commentOf: CommentOf): Html {
  const facts = [
    ...(field.oneof === undefined ? [] : [`one of ${field.oneof.name}`]),
    ...(field.proto.proto3Optional ? ["may be unset"] : []),
    ...(isSecret(field) ? ["secret"] : []),
  ];
  const words = facts.length === 0 ? "" : `, ${facts.join(", ")}`;
  return html`<dt><code>${field.name}</code> ${typeHtml(field)}${words}</dt><dd>${commentHtml(commentOf(field))}</dd>\n`;
}

function typeHtml(field: DescField): Html {
  const { message, enum: values, scalar } = field;
  const value = typeLink(message ?? values, scalar);
  if (field.fieldKind === "list") {
    return html`list of ${value}`;
  }
  return field.fieldKind === "map" ? html`map from ${scalarName(field.mapKey)} to ${value}` : value;
}

function typeLink(type: { readonly typeName: string } | undefined, scalar: ScalarType | undefined): Html {
  if (type === undefined) {
    return html`${scalarName(scalar)}`;
  }
  return type.typeName.startsWith("google.protobuf.")
    ? html`${type.typeName}`
    : html`<a href="#type-${type.typeName}">${type.typeName}</a>`;
}

function scalarName(scalar: ScalarType | undefined): string {
  return scalar === undefined ? "" : (ScalarType[scalar]?.toLowerCase() ?? "");
}
