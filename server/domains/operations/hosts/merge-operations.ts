import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Operation } from "../../../../gen/hostplane/v1/operation_pb.ts";
import { forEachHost } from "../../../fleet/hub/for-each-host.ts";
import { type MissingHost, missingHost } from "./missing-host.ts";
import { comparePositions, positionOf } from "./operation-position.ts";

/** The operations of one host, newest first. */
export interface OperationSource {
  /** Empty for the hub. */
  readonly host: string;
  readonly operations: AsyncIterator<Operation>;
  /** Converts what reading has thrown. @throws what does not concern the host */
  errorFrom(thrown: unknown): InfraError;
}

export interface MergedOperations {
  /** Returns the next operation of all sources; undefined at the end. */
  next(): Promise<Operation | undefined>;
  /** Whether `next` has more. */
  hasMore(): boolean;
  /** The hosts that could not be read to the end. */
  readonly missing: readonly MissingHost[];
}

interface Head {
  readonly source: OperationSource;
  readonly operation: Operation;
}

/** Merges sources by time. One that fails is reported as missing, and the others go on. */
export async function mergeOperations(sources: readonly OperationSource[]): Promise<MergedOperations> {
  const heads = new Map<OperationSource, Head>();
  const missing: MissingHost[] = [];

  async function advance(source: OperationSource): Promise<void> {
    heads.delete(source);
    try {
      const { done, value } = await source.operations.next();
      if (done !== true) {
        heads.set(source, { source, operation: value });
      }
    } catch (thrown) {
      missing.push(missingHost(source.host, source.errorFrom(thrown)));
    }
  }

  await forEachHost(sources, advance);
  return {
    async next() {
      let first: Head | undefined;
      for (const head of heads.values()) {
        if (
          first === undefined ||
          comparePositions(positionOf(head.operation), positionOf(first.operation)) < 0
        ) {
          first = head;
        }
      }
      if (first !== undefined) {
        await advance(first.source);
      }
      return first?.operation;
    },
    hasMore: () => heads.size > 0,
    missing,
  };
}
