import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { InventorySource, Resource } from "../../domain/inventory-source.ts";
import { rpcReasons } from "../../rpc/reasons.ts";

/** A resource with its host, its domain and the age of the read. */
export interface InventoryRow {
  readonly resource: Resource;
  readonly domain: string;
  /** Host of the fleet that has it; empty for the gateway's own. */
  readonly host: string;
  /** When it was read from its system, in milliseconds since the epoch; undefined for a last known state. */
  readonly readAtMs: number | undefined;
}

/** A domain whose resources are missing or stale. */
export interface InventoryProblem {
  readonly host: string;
  readonly domain: string;
  readonly reason: string;
  readonly message: string;
}

/** Resources that are read together: those of a source of this gateway, or of a host of the fleet. */
export interface InventoryPart {
  /** Identifies it among the parts of all reads. */
  readonly id: string;
  /** Values on which the rows depend: while they are the same, so are the rows, except for `readAtMs`. */
  readonly version: readonly unknown[];
  readonly rows: readonly InventoryRow[];
  readonly problems: readonly InventoryProblem[];
  /** As of the source: a caller must be allowed to call one of them. Empty for a host, whose rows have several. */
  readonly services: readonly string[];
}

/** Longest wait for a system. The other domains' rows do not wait longer for one that hangs. */
const sourceTimeoutMs = 5_000;

/**
 * Reads the sources side by side. One that fails, or takes longer than 5 s, contributes a problem.
 * @param timeoutMs for tests
 * @throws the signal's reason, and any error other than an InfraError
 */
export function readInventory(
  sources: readonly InventorySource[],
  signal: AbortSignal,
  timeoutMs: number = sourceTimeoutMs,
): Promise<readonly InventoryPart[]> {
  return Promise.all(sources.map((source) => readSource(source, signal, timeoutMs)));
}

async function readSource(
  { domain, types, services, read }: InventorySource,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<InventoryPart> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const id = `${domain}: ${types.join(" ")}`;
  const failed = (error: InfraError): InventoryPart => ({
    id,
    version: [],
    rows: [],
    problems: [problemFrom(domain, error)],
    services,
  });
  try {
    const { resources, readAtMs: readAt, staleBecause } = await read(AbortSignal.any([signal, timeout]));
    const readAtMs = readAt && Math.round(Date.now() - (performance.now() - readAt));
    return {
      id,
      version: [resources, readAt === undefined],
      rows: resources.map((resource) => ({ resource, domain, host: "", readAtMs })),
      problems: staleBecause === undefined ? [] : [problemFrom(domain, staleBecause)],
      services,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) {
      const words = `the ${domain} could not be read within ${timeoutMs / 1000} s`;
      return failed(new InfraError(rpcReasons.DEADLINE, words, { cause: error }));
    }
    if (!(error instanceof InfraError)) {
      throw error;
    }
    return failed(error);
  }
}

function problemFrom(domain: string, { reason, message }: InfraError): InventoryProblem {
  return { host: "", domain, reason, message };
}
