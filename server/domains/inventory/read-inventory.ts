import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { InventorySource, Resource } from "../../domain/inventory-source.ts";
import { rpcReasons } from "../../rpc/reasons.ts";

/** A resource with its domain and the age of the read. */
export interface InventoryRow {
  readonly resource: Resource;
  readonly domain: string;
  /** As `ListedResources.readAtMs`. */
  readonly readAtMs: number | undefined;
}

/** A domain whose resources are missing or stale. */
export interface InventoryProblem {
  readonly domain: string;
  readonly error: InfraError;
}

export interface InventoryRead {
  readonly rows: readonly InventoryRow[];
  readonly problems: readonly InventoryProblem[];
}

/** Longest wait for a system. The other domains' rows do not wait longer for one that hangs. */
const sourceTimeoutMs = 5_000;

/**
 * Reads the sources side by side. One that fails, or takes longer than 5 s, contributes a problem.
 * @param timeoutMs for tests
 * @throws the signal's reason, and what is no InfraError
 */
export async function readInventory(
  sources: readonly InventorySource[],
  signal: AbortSignal,
  timeoutMs: number = sourceTimeoutMs,
): Promise<InventoryRead> {
  const reads = await Promise.all(sources.map((source) => readSource(source, signal, timeoutMs)));
  return { rows: reads.flatMap(({ rows }) => rows), problems: reads.flatMap(({ problems }) => problems) };
}

async function readSource(
  { domain, read }: InventorySource,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<InventoryRead> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const { resources, readAtMs, staleBecause } = await read(AbortSignal.any([signal, timeout]));
    return {
      rows: resources.map((resource) => ({ resource, domain, readAtMs })),
      problems: staleBecause === undefined ? [] : [{ domain, error: staleBecause }],
    };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) {
      const words = `the ${domain} could not be read within ${timeoutMs / 1000} s`;
      return {
        rows: [],
        problems: [{ domain, error: new InfraError(rpcReasons.DEADLINE, words, { cause: error }) }],
      };
    }
    if (!(error instanceof InfraError)) {
      throw error;
    }
    return { rows: [], problems: [{ domain, error }] };
  }
}
