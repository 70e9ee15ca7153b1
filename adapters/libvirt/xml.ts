import { DOMImplementation, DOMParser, type Document, type Element, XMLSerializer } from "@xmldom/xmldom";
import { InfraError } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";

/**
 * Parses an XML document from libvirt with this root element. External content is never loaded. A document with a DTD,
 * which libvirt never writes, is rejected.
 * @throws InfraError TOOL_OUTPUT
 */
export function parseXml(text: string, rootName: string): Element {
  const root = parseDocument(text, rootName).documentElement;
  if (root?.localName !== rootName) {
    throw new InfraError(
      hostReasons.TOOL_OUTPUT,
      `libvirt sent <${root?.localName}> instead of <${rootName}>`,
    );
  }
  return root;
}

function parseDocument(text: string, rootName: string): Document {
  let parsed: Document;
  try {
    parsed = new DOMParser({
      onError(level, message) {
        // E.g. a warning that a text contains U+FFFD, which is allowed.
        if (level !== "warning") {
          throw new Error(message);
        }
      },
    }).parseFromString(text, "text/xml");
  } catch (cause) {
    throw new InfraError(hostReasons.TOOL_OUTPUT, `libvirt sent a <${rootName}> that is not valid XML`, {
      cause,
    });
  }
  if (parsed.doctype !== null) {
    throw new InfraError(hostReasons.TOOL_OUTPUT, `libvirt sent a <${rootName}> with a DTD`);
  }
  return parsed;
}

/** Returns the child elements of this name, in libvirt's own vocabulary (which has no namespace) by default. */
export function childrenOf(
  parent: Element | undefined,
  name: string,
  namespace: string | null = null,
): readonly Element[] {
  const nodes = parent === undefined ? [] : Array.from(parent.childNodes);
  return nodes.filter(
    (node): node is Element =>
      node.nodeType === node.ELEMENT_NODE && node.localName === name && node.namespaceURI === namespace,
  );
}

/** Returns the first element at a path of names; undefined if there is none. */
export function childOf(parent: Element | undefined, ...path: readonly string[]): Element | undefined {
  return path.reduce<Element | undefined>((at, name) => childrenOf(at, name)[0], parent);
}

/** Returns the trimmed text of an element; empty if there is none. */
export function textOf(element: Element | undefined): string {
  return element?.textContent?.trim() ?? "";
}

/** Returns the value of an attribute; undefined if absent. */
export function attributeOf(element: Element | undefined, name: string): string | undefined {
  return element?.getAttribute(name) ?? undefined;
}

/** An element to write. */
export interface XmlNode {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (XmlNode | string)[];
}

/** Creates an element with attributes and children, which are texts and elements. */
export function xml(
  name: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (XmlNode | string)[]
): XmlNode {
  return { name, attributes, children };
}

/** Renders a document for libvirt. @throws RangeError for text that XML cannot represent, such as control characters */
export function renderXml(root: XmlNode): string {
  const parsed = new DOMImplementation().createDocument(null, "");
  parsed.appendChild(build(parsed, root, {}));
  const text = new XMLSerializer().serializeToString(parsed);
  // The characters of XML 1.0, section 2.2; the serializer does not check them.
  if (!/^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u.test(text)) {
    throw new RangeError("a text has characters that XML cannot represent");
  }
  return text;
}

const namespaceOfNamespaces = "http://www.w3.org/2000/xmlns/";

/** Builds the element. Attributes named `xmlns:prefix` declare namespaces for the element and its descendants. */
function build(document: Document, node: XmlNode, outer: Readonly<Record<string, string>>): Element {
  const prefixes = { ...outer };
  for (const [name, value] of Object.entries(node.attributes)) {
    if (name.startsWith("xmlns:")) {
      prefixes[name.slice("xmlns:".length)] = value;
    }
  }
  const [prefix, localName] = node.name.split(":");
  const namespace = localName === undefined ? null : (prefixes[prefix ?? ""] ?? null);
  const element = document.createElementNS(namespace, node.name);
  for (const [name, value] of Object.entries(node.attributes)) {
    element.setAttributeNS(name.startsWith("xmlns:") ? namespaceOfNamespaces : null, name, value);
  }
  for (const child of node.children) {
    element.appendChild(
      typeof child === "string" ? document.createTextNode(child) : build(document, child, prefixes),
    );
  }
  return element;
}
