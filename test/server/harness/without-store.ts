import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Seal } from "../../../server/crypto/seal.ts";
import type { Events } from "../../../server/events/events.ts";
import { createOperations } from "../../../server/operations/engine/create-operations.ts";
import type { Operations } from "../../../server/operations/operations.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import type { Store } from "../../../server/store/store.ts";
import { historyUnderTest } from "./history-under-test.ts";

const refuse = () => Promise.reject(new InfraError(storeReasons.STORE_UNAVAILABLE, "there is no store"));

const store: Pick<Store, "run" | "subscribe" | "isShared"> = {
  isShared: false,
  run: refuse,
  subscribe: () => () => {},
};

const events: Events = {
  headSeq: 0,
  cursorOf: String,
  seqOf: refuse,
  currentSeq: refuse,
  seqAtTime: refuse,
  after: refuse,
  beyond: refuse,
  async *follow() {},
  async *between() {},
  close: async () => {},
};

const seal: Seal = { seal: (secret) => secret, open: (sealed) => sealed };

/** Options of services for tests of calls that need no store: calls that need it fail. No operation is in progress. */
export function withoutStore() {
  const operations: Operations = createOperations({
    store,
    instance: { instanceId: "test", host: "host.test" },
    seal,
    limits: { perSystem: 1, maxOpen: 1, leaseMs: 1000, keepMs: 1000 },
    log: { info() {}, warn() {} },
  });
  return {
    ...historyUnderTest(),
    store,
    events,
    operations: { ...operations, assertFree: async () => {} },
    repositoryKeySeal: seal,
    clusterSeal: seal,
    planSeal: seal,
    planDigestKey: new Uint8Array(32),
    approvalRules: [],
    instanceId: "test",
    log: { warn() {} },
    host: "host.test",
  };
}
