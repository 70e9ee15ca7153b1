import { Document, Scalar, visit } from "yaml";

/** Reports whether every YAML reader, of version 1.1 or 1.2, reads the text unchanged from a literal block. */
export function isPlainText(text: string): boolean {
  return /^[\n\x20-\x7e]*$/.test(text);
}

/**
 * Renders documents as YAML for readers of version 1.1 (cloud-init, Kubernetes) and 1.2. Strings are quoted, so that none is
 * read as a number, a date or a boolean (`on`, `1e3`, `012`); plain multi-line texts become blocks. The output is printable
 * ASCII.
 * @param documents plain objects with plain words as keys; undefined values are omitted
 */
export function renderYaml(documents: readonly object[]): string {
  return documents.map(renderDocument).join("---\n");
}

function renderDocument(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(key, node) {
      if (typeof node.value === "string" && key !== "key") {
        // Not if the text starts with a space: " \\n" was read back as "\\n" (yaml 2.9.1).
        const isBlock = /^\S.*\n/.test(node.value) && isPlainText(node.value);
        node.type = isBlock ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
      }
    },
  });
  // All other text is in double quotes. Even there, readers of version 1.1 treat U+0085 and others as line ends.
  return document.toString({ lineWidth: 0 }).replace(/[^\n\x20-\x7e]/gu, escaped);
}

function escaped(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
}
