import { type Html, html } from "./html.ts";

/** A comment of the contract as paragraphs, in which what stands in backticks is code. */
export function commentHtml(comment: string): readonly Html[] {
  return comment === ""
    ? []
    : comment.split("\n\n").map((paragraph) => html`<p>${inlineHtml(paragraph)}</p>`);
}

/** The same in a line. */
export function inlineHtml(text: string): readonly Html[] {
  return text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
