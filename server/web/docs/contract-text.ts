import { type Html, html } from "../html.ts";

/** Renders a comment of the contract as paragraphs; text in backticks becomes code. */
export function commentHtml(comment: string): readonly Html[] {
  return comment === ""
    ? []
    : comment.split("\n\n").map((paragraph) => html`<p>${inlineHtml(paragraph)}</p>`);
}

/** Renders text inline; text in backticks becomes code. */
export function inlineHtml(text: string): readonly Html[] {
  return text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

/** Returns the first sentence of a comment. */
export function firstSentence(comment: string): string {
  const [paragraph = ""] = comment.split("\n\n");
  return /^.*?(?<!e\.g|i\.e|etc)[.](?=\s+[A-Z]|$)/.exec(paragraph)?.[0] ?? paragraph;
}
