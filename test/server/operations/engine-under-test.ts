import { randomUUID } from "node:crypto";
import type { Test } from "tap";
import { masterKeysFromText } from "../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../server/crypto/seal.ts";
import { createOperations } from "../../../server/operations/engine/create-operations.ts";
import type { Json, Operation } from "../../../server/operations/operation.ts";
import type { OperationKind } from "../../../server/operations/operation-kind.ts";
import type { OperationStarter, Operations } from "../../../server/operations/operations.ts";
import type { OperationLimits, OperationsOptions } from "../../../server/operations/operations-options.ts";
import type { Store } from "../../../server/store/store.ts";

/** The part of a store that engines use. */
export type EngineStore = OperationsOptions["store"];

export interface EngineOptions {
  readonly store: EngineStore;
  readonly kind: OperationKind<Json, Json>;
  readonly instanceId?: string;
  readonly host?: string;
  readonly limits?: Partial<OperationLimits>;
  readonly boundary?: (name: string) => void | Promise<void>;
  readonly settleLeftTools?: OperationsOptions["settleLeftTools"];
  readonly settleLeftCommands?: OperationsOptions["settleLeftCommands"];
  readonly seal?: OperationsOptions["seal"];
  readonly firstPauseMs?: number;
  /** Creates operations, but runs none. */
  readonly isIdle?: boolean;
}

export interface TestEngine {
  readonly operations: Operations;
  readonly starter: OperationStarter<Json, Json>;
  readonly logged: readonly string[];
  /** Starts an operation with default values. */
  start(expected?: Partial<TestOperationSpec>): Promise<Operation>;
  /** Returns the operation once it has ended. */
  end(id: string): Promise<Operation>;
  /** Returns the operation once it satisfies the condition. */
  until(id: string, matches: (operation: Operation) => boolean): Promise<Operation>;
}

export interface TestOperationSpec {
  readonly resource: string;
  readonly input: Json;
  readonly secrets: Json;
  readonly actor: string;
  readonly attachKey: string;
}

const masterKeys = masterKeysFromText(Buffer.alloc(32, 7).toString("base64"), "test");
export const testSeal = createSeal(masterKeys, "operations");

/** For tests of expired leases. Other tests use a long lease, which does not expire on a slow machine. */
export const shortLeaseMs = 600;
const longLeaseMs = 20_000;

/** Creates an engine on a store; it is closed when the test ends. */
export function createEngine(t: Test, options: EngineOptions): TestEngine {
  const logged: string[] = [];
  const log = (message: string, cause?: unknown) =>
    void logged.push(cause instanceof Error ? `${message}: ${cause.stack}` : message);
  const operations = createOperations({
    store: options.store,
    instance: { instanceId: options.instanceId ?? randomUUID(), host: options.host ?? "alpha" },
    seal: options.seal ?? testSeal,
    limits: { perSystem: 4, maxOpen: 1000, leaseMs: longLeaseMs, keepMs: 86_400_000, ...options.limits },
    log: { info: log, warn: log },
    firstPauseMs: options.firstPauseMs ?? 5,
    ...(options.boundary === undefined ? {} : { boundary: options.boundary }),
    ...(options.settleLeftTools === undefined ? {} : { settleLeftTools: options.settleLeftTools }),
    ...(options.settleLeftCommands === undefined ? {} : { settleLeftCommands: options.settleLeftCommands }),
  });
  const starter = operations.register(options.kind);
  if (options.isIdle !== true) {
    operations.begin();
  }
  t.teardown(async () => {
    if (!("isDead" in options.store && options.store.isDead)) {
      await operations.close();
    }
  });
  return {
    operations,
    starter,
    logged,
    async start(expected = {}) {
      const {
        resource = `things/${randomUUID()}`,
        input = null,
        secrets = null,
        actor = "user/a",
      } = expected;
      const { operation } = await starter.start({
        resource,
        backend: "test",
        input,
        secrets,
        requester: { actor, accountId: actor, rpc: "test.Service/Method" },
        ...(expected.attachKey === undefined ? {} : { attachKey: expected.attachKey }),
      });
      return operation;
    },
    end: (id) => operations.ended(id, AbortSignal.timeout(120_000)),
    until: (id, matches) =>
      new Promise((resolve, reject) => {
        const unsubscribe = options.store.subscribe("events", check);
        function check(): void {
          operations.get(id).then((operation) => {
            if (matches(operation)) {
              unsubscribe();
              resolve(operation);
            }
          }, reject);
        }
        check();
      }),
  };
}

/** Presents a store as shared by several gateways, although it is in one process. */
export function asShared(store: Store): EngineStore {
  return { isShared: true, run: store.run, subscribe: store.subscribe };
}

/** A gateway's access to the store, which can be cut off. */
export interface MortalStore extends EngineStore {
  readonly isDead: boolean;
  /** IDs of the operations that the gateway has claimed. */
  readonly claimedIds: ReadonlySet<string>;
  /** Simulates the gateway's death: its requests are neither executed nor answered. */
  die(): void;
  /** Blocks its requests and notifications until `thaw`. */
  freeze(): void;
  thaw(): void;
}

export function createMortalStore(store: EngineStore): MortalStore {
  const claimedIds = new Set<string>();
  let isDead = false;
  let frozen: PromiseWithResolvers<void> | undefined;
  const run: EngineStore["run"] = async (name, args) => {
    await frozen?.promise;
    const answer: unknown = isDead ? undefined : await store.run(name, args);
    if (name === "operations.claim" && answer !== undefined) {
      claimedIds.add((answer as { readonly operation: Operation }).operation.id);
    }
    return isDead ? new Promise<never>(() => {}) : (answer as never);
  };
  return {
    isShared: store.isShared,
    claimedIds,
    run,
    subscribe: (topic, onChange) =>
      store.subscribe(topic, () => (isDead || frozen !== undefined ? undefined : onChange())),
    get isDead() {
      return isDead;
    },
    die() {
      isDead = true;
    },
    freeze() {
      frozen = Promise.withResolvers();
    },
    thaw() {
      frozen?.resolve();
      frozen = undefined;
    },
  };
}
