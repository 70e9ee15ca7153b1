import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Operation } from "../../../../gen/hostplane/v1/operation_pb.ts";

/** An operation in the merged list of a fleet: newest first, then by host. */
export interface OperationPosition {
  readonly createdAtMs: number;
  /** Empty for the hub. */
  readonly host: string;
  readonly id: string;
}

/** Returns the position of an operation as its host has reported it; one without a time is the oldest. */
export function positionOf({ createdAt, fleetHost, id }: Operation): OperationPosition {
  return { createdAtMs: createdAt === undefined ? 0 : timestampMs(createdAt), host: fleetHost, id };
}

/** Orders operations of different hosts. Those of one host come in the order in which the host lists them. */
export function comparePositions(one: OperationPosition, other: OperationPosition): number {
  return other.createdAtMs - one.createdAtMs || (one.host < other.host ? -1 : one.host > other.host ? 1 : 0);
}

/** Yields the operations of one host that follow a position. */
export async function* operationsAfter(
  operations: AsyncIterable<Operation>,
  after: OperationPosition | undefined,
): AsyncGenerator<Operation, void> {
  let isPassed = false;
  for await (const operation of operations) {
    const position = positionOf(operation);
    const order = after === undefined ? 1 : comparePositions(position, after);
    if (order > 0 || (order === 0 && isPassed)) {
      yield operation;
    }
    isPassed ||= position.id === after?.id;
  }
}

/** Reads a position from the values of a page token; undefined if they are none. */
export function parsePosition(values: unknown): OperationPosition | undefined {
  const [createdAtMs, host, id, ...others]: readonly unknown[] = Array.isArray(values) ? values : [];
  return typeof createdAtMs === "number" &&
    Number.isSafeInteger(createdAtMs) &&
    typeof host === "string" &&
    typeof id === "string" &&
    others.length === 0
    ? { createdAtMs, host, id }
    : undefined;
}
