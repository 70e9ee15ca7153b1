import type { OperationsTable } from "./schema.ts";

/** Why an operation waits whose domain is in the configuration of no gateway. */
export function unknownKindWords(kind: string): string {
  return `${unknownKindStart(kind)}: configure its domain again, or cancel the operation`;
}

function unknownKindStart(kind: string): string {
  return `no gateway knows the kind ${kind}`;
}

/**
 * Whether no gateway can run or undo an operation, because none knows its kind. It is so from when a gateway has written
 * that down until one that knows the kind claims it.
 */
export function isStranded({
  kind,
  waiting_for,
  ended_at,
}: Pick<OperationsTable, "kind" | "waiting_for" | "ended_at">): boolean {
  return ended_at === null && waiting_for.startsWith(unknownKindStart(kind));
}
