import type { Element } from "@xmldom/xmldom";
import type { DomainMark } from "./adapter.ts";
import { attributeOf, childOf, childrenOf, type XmlNode, xml } from "./xml.ts";

const namespace = "urn:hostplane:libvirt:1";

/** The mark as it stands in a domain's `<metadata>`, which libvirt keeps as it is. */
export function renderMark({ hypervisorId, operationId }: DomainMark): XmlNode {
  return xml("hostplane:hypervisor", {
    "xmlns:hostplane": namespace,
    id: hypervisorId,
    operation: operationId,
  });
}

/** The mark of a `<domain>`; undefined for one that somebody else made. */
export function markOf(domain: Element): DomainMark | undefined {
  const [mark] = childrenOf(childOf(domain, "metadata"), "hypervisor", namespace);
  const hypervisorId = attributeOf(mark, "id");
  const operationId = attributeOf(mark, "operation");
  return hypervisorId === undefined || operationId === undefined ? undefined : { hypervisorId, operationId };
}
