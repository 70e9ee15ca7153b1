import { Document, Scalar, visit } from "yaml";

/** Whether every reader of YAML, of version 1.1 or 1.2, finds the same in a block of the text as it is. */
export function isPlainText(text: string): boolean {
  return /^[\n\x20-\x7e]*$/.test(text);
}

/**
 * Writes documents as YAML, for readers of version 1.1 (cloud-init, Kubernetes) as for those of 1.2: strings are quoted, so that
 * none is taken for a number, a date or a truth value (`on`, `1e3`, `012`), and plain texts of several lines are blocks. All of it is
 * printable ASCII.
 * @param documents plain objects, of which the keys are plain words; what is undefined is left out
 */
export function renderYaml(documents: readonly object[]): string {
  return documents.map(renderDocument).join("---\n");
}

function renderDocument(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(key, node) {
      if (typeof node.value === "string" && key !== "key") {
        // Not where it begins with a space: " \\n" came back as "\\n" (yaml 2.9.1).
        const isBlock = /^\S.*\n/.test(node.value) && isPlainText(node.value);
        node.type = isBlock ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
      }
    },
  });
  // What is not plain is between double quotes. Readers of version 1.1 take U+0085 and others for ends of lines even there.
  return document.toString({ lineWidth: 0 }).replace(/[^\n\x20-\x7e]/gu, escaped);
}

function escaped(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
}
