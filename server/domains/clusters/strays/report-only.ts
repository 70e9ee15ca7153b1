import { isUnexplained, type KnownSlots, type SeenMachine } from "./judge-machine.ts";

const namedMachines = 5;

/**
 * Returns why no stray is released automatically: MAAS has machines whose records the store must have lost, because it was
 * restored from a backup or copied. It then does not know what else has happened since. Undefined when there is no such
 * reason.
 */
export function reportOnlyReason(seen: readonly SeenMachine[], known: KnownSlots): string | undefined {
  const ids = seen.filter((each) => isUnexplained(each, known)).map(({ machine }) => machine.systemId);
  if (ids.length === 0) {
    return undefined;
  }
  const named = ids.toSorted().slice(0, namedMachines).join(", ");
  const more = ids.length > namedMachines ? ` and ${ids.length - namedMachines} more` : "";
  const them = ids.length === 1 ? "it" : "them";
  return (
    `the database is older than MAAS, as after a restore from a backup: it has no record of ${named}${more}; ` +
    `adopt or release ${them}; until then no machine is released automatically`
  );
}
