import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { assertHypervisorId } from "../../../../adapters/libvirt/names.ts";

const maxIds = 100;

/** Rejects a field `ids` that is empty, has duplicates, or has more than 100 ids. @throws InfraError INVALID_FIELD */
export function assertHypervisorIds(ids: readonly string[]): void {
  if (ids.length === 0 || ids.length > maxIds) {
    throw invalidField("ids", `must have 1 to ${maxIds} IDs, has ${ids.length}`);
  }
  for (const [index, id] of ids.entries()) {
    assertHypervisorId(id, `ids[${index}]`);
    if (ids.indexOf(id) !== index) {
      throw invalidField(`ids[${index}]`, `must not contain ${id} twice`);
    }
  }
}
