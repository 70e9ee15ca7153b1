import { hasEnded, type Operation, operationStates } from "./operation.ts";
import type { OperationFilters } from "./operation-filters.ts";
import type { Operations } from "./operations.ts";

const openStates = operationStates.filter((state) => !hasEnded({ state }));
const mostListed = 1000;

export interface OpenFilters extends Required<Pick<OperationFilters, "kind">> {
  readonly resource?: string;
  readonly host: string;
  /** ID of an operation that is not listed. */
  readonly except?: string | undefined;
  /** End states to list as well. Default: none. */
  readonly orStates?: NonNullable<OperationFilters["states"]>;
}

/** Lists the operations of a host that have not ended, newest first, from the newest thousand. */
export async function listOpen(
  operations: Pick<Operations, "list">,
  { host, except, orStates = [], ...filters }: OpenFilters,
): Promise<readonly Operation[]> {
  const states = [...openStates, ...orStates];
  const page = await operations.list({ ...filters, states }, { belowSeq: undefined, limit: mostListed });
  return page.operations.filter((operation) => operation.host === host && operation.id !== except);
}
