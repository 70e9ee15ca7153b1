import type { Element } from "@xmldom/xmldom";
import type { DomainMark } from "../adapter.ts";
import { attributeOf, childOf, childrenOf, type XmlNode, xml } from "../xml.ts";

const namespace = "urn:hostplane:libvirt:1";

/** Renders the mark for a domain's `<metadata>`, which libvirt stores unchanged. */
export function renderMark({ hypervisorId, operationId, createdVolumes }: DomainMark): XmlNode {
  return xml(
    "hostplane:hypervisor",
    { "xmlns:hostplane": namespace, id: hypervisorId, operation: operationId },
    ...createdVolumes.map(({ pool, name }) => xml("hostplane:volume", { pool, name })),
  );
}

/** Parses the mark of a `<domain>`; undefined for a VM that the gateway did not create. */
export function markOf(domain: Element): DomainMark | undefined {
  const [mark] = childrenOf(childOf(domain, "metadata"), "hypervisor", namespace);
  const hypervisorId = attributeOf(mark, "id");
  const operationId = attributeOf(mark, "operation");
  if (hypervisorId === undefined || operationId === undefined) {
    return undefined;
  }
  const createdVolumes = childrenOf(mark, "volume", namespace).flatMap((volume) => {
    const pool = attributeOf(volume, "pool");
    const name = attributeOf(volume, "name");
    return pool === undefined || name === undefined ? [] : [{ pool, name }];
  });
  return { hypervisorId, operationId, createdVolumes };
}
