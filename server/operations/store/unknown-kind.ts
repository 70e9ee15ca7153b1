import type { OperationsTable } from "./tables.ts";

/** Returns why an operation waits if no gateway can run it, because its domain is not configured. */
export function unknownKindWords(kind: string): string {
  return `${unknownKindStart(kind)}: configure its domain again, or cancel the operation`;
}

function unknownKindStart(kind: string): string {
  return `no gateway knows the kind ${kind}`;
}

/**
 * Reports whether no gateway can run or undo an operation, because none supports its kind. This holds from when a gateway
 * records it until a gateway that supports the kind claims the operation.
 */
export function isStranded({
  kind,
  waiting_for,
  ended_at,
}: Pick<OperationsTable, "kind" | "waiting_for" | "ended_at">): boolean {
  return ended_at === null && waiting_for.startsWith(unknownKindStart(kind));
}
