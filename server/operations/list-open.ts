import { hasEnded, type Operation, operationStates } from "./operation.ts";
import type { OperationFilters } from "./operation-filters.ts";
import type { Operations } from "./operations.ts";

const openStates = operationStates.filter((state) => !hasEnded({ state }));
const mostListed = 1000;

export interface OpenFilters extends Required<Pick<OperationFilters, "kind">> {
  readonly resource?: string;
  readonly host: string;
  /** Ends that are listed as well; none unless told. */
  readonly orStates?: NonNullable<OperationFilters["states"]>;
}

/** Operations of a host that have not ended, the newest thousand of them, newest first. */
export async function listOpen(
  operations: Pick<Operations, "list">,
  { host, orStates = [], ...filters }: OpenFilters,
): Promise<readonly Operation[]> {
  const states = [...openStates, ...orStates];
  const page = await operations.list({ ...filters, states }, { belowSeq: undefined, limit: mostListed });
  return page.operations.filter((operation) => operation.host === host);
}
