import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";
import { client } from "../session.ts";
import { latestOperations } from "./latest-operations.ts";
import { laterOf } from "./operation-order.ts";
import { type Reading, useRead } from "./use-read.ts";

/** An operation, live: read once, then updated from events. */
export function useOperation(id: string): ReadonlySignal<Reading<Operation>> {
  const shownId = useSignal(id);
  useEffect(() => {
    shownId.value = id;
  }, [id, shownId]);
  const { reading } = useRead(
    async (options) => (await client.operations.getOperation({ id }, options)).operation,
    { key: id },
  );
  return useComputed(() => {
    const { value, error, isReading } = reading.value;
    const latest = latestOperations.value.get(shownId.value);
    return {
      value: value === undefined || latest === undefined ? (value ?? latest) : laterOf(latest, value),
      error,
      isReading,
    };
  });
}
