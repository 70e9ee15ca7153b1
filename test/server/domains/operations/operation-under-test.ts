import type { Operation } from "../../../../server/operations/operation.ts";

/** Returns a running operation, with the given properties. */
export function operationWith(facts: Partial<Operation> = {}): Operation {
  return {
    id: "operation-1",
    kind: "test.work",
    resource: "volumeGroups/vg0/volumes/data",
    backend: "vg-uuid",
    host: "host-1",
    rpc: "proto.LVService/CreateBackup",
    actor: "user/alice",
    input: null,
    state: "active",
    message: "working",
    waitingFor: "",
    progress: undefined,
    doneBytes: undefined,
    totalBytes: undefined,
    step: "work",
    steps: [
      {
        name: "work",
        state: "running",
        attempt: 1,
        startedAtMs: 1_500,
        endedAtMs: undefined,
        error: undefined,
      },
    ],
    attempt: 1,
    isCancelRequested: false,
    isCancellable: true,
    failure: undefined,
    attention: undefined,
    result: undefined,
    createdAtMs: 1_000,
    startedAtMs: 1_500,
    endedAtMs: undefined,
    ...facts,
  };
}
