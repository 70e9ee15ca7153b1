import { randomBytes } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Test } from "tap";
import type { PodRuntime } from "../../../../../adapters/podman/adapter.ts";
import type { RuntimePod } from "../../../../../adapters/podman/runtime-state.ts";
import {
  createPodmanSandbox,
  type PodmanSandbox,
  type PodmanSandboxOptions,
} from "../../../../../adapters/podman/sandbox.ts";
import { PodService } from "../../../../../gen/hostplane/v1/pod_pb.ts";
import { createPodChanges, type PodChanges } from "../../../../../server/domains/pods/changes/pod-changes.ts";
import { createOwnChanges, type OwnChanges } from "../../../../../server/domains/pods/events/own-changes.ts";
import { createOperations } from "../../../../../server/operations/engine/create-operations.ts";
import type { PlannedMutation } from "../../../../../server/operations/mutation.ts";
import type { Operation } from "../../../../../server/operations/operation.ts";
import type { Operations } from "../../../../../server/operations/operations.ts";
import type { OperationsOptions } from "../../../../../server/operations/operations-options.ts";
import { testSeal } from "../../../operations/engine-under-test.ts";
import { createCall } from "../../../rpc/call/call-under-test.ts";
import { openOwnStore } from "../../../store/own-store.ts";

export const appImage = "localhost/test/app:1";

const tick = { kind: "tick", everyMs: 60_000 } as const;

/**
 * Creates an in-memory runtime, closed with the test: the running pod `web` with the containers `server` and `proxy`, the pod
 * `new` that was never started, and an unused image.
 */
export function createRuntime(t: Test, options: PodmanSandboxOptions = {}): PodmanSandbox {
  const runtime = createPodmanSandbox({
    stopMs: 0,
    pullMs: 0,
    images: [appImage, "localhost/test/idle:1"],
    pods: [
      {
        name: "web",
        isStarted: true,
        containers: [
          { name: "server", image: appImage, program: tick },
          { name: "proxy", image: appImage, program: tick },
        ],
      },
      { name: "new", containers: [{ name: "idle", image: appImage, program: tick }] },
    ],
    ...options,
  });
  t.teardown(() => runtime.close());
  return runtime;
}

type Requests = {
  readonly [K in keyof PodChanges]: MessageInitShape<(typeof PodService.method)[K]["input"]>;
};

export interface ChangesOptions {
  readonly runtime: PodRuntime;
  readonly store: OperationsOptions["store"];
  readonly boundary?: OperationsOptions["boundary"];
  readonly host?: string;
  /** Only requests operations, without running them. */
  readonly isIdle?: boolean;
}

/** Changes of pods and their operations, closed with the test. */
export interface ChangesUnderTest {
  readonly operations: Operations;
  readonly own: OwnChanges;
  begin<K extends keyof PodChanges>(name: K, request: Requests[K]): Promise<Operation>;
  plan<K extends keyof PodChanges>(name: K, request: Requests[K]): Promise<PlannedMutation>;
  /** Waits until the operation has ended. */
  end(operation: Pick<Operation, "id">): Promise<Operation>;
  /** Starts an operation and waits until it has ended. */
  make<K extends keyof PodChanges>(name: K, request: Requests[K]): Promise<Operation>;
  close(): Promise<void>;
}

export function createChangesUnderTest(t: Test, options: ChangesOptions): ChangesUnderTest {
  const { runtime, store, host = "alpha" } = options;
  const operations = createOperations({
    store,
    instance: { instanceId: randomBytes(4).toString("hex"), host },
    seal: testSeal,
    limits: { perSystem: 4, maxOpen: 1000, leaseMs: 20_000, keepMs: 86_400_000 },
    log: { info: () => {}, warn: (message, cause) => t.comment(`${message} ${cause ?? ""}`) },
    firstPauseMs: 5,
    ...(options.boundary === undefined ? {} : { boundary: options.boundary }),
  });
  const own = createOwnChanges();
  const started = new Map<string, Operation>();
  const operationMessage = (operation: Operation) => {
    started.set(operation.id, operation);
    return { id: operation.id };
  };
  const changes = createPodChanges({ runtime, operations, own, host, operationMessage });
  if (options.isIdle !== true) {
    operations.begin();
  }
  let isClosed = false;
  async function close(): Promise<void> {
    const isDead = "isDead" in store && store.isDead === true;
    if (!isClosed && !isDead) {
      isClosed = true;
      await operations.close();
    }
  }
  t.teardown(close);

  function requestOf(name: keyof PodChanges, request: object): never {
    return create(PodService.method[name].input, request) as never;
  }
  const begin: ChangesUnderTest["begin"] = async (name, request) => {
    const call = createCall({ method: PodService.method[name] });
    const response = await changes[name].run(requestOf(name, request), call);
    const operation = started.get(response.operation?.id ?? "");
    if (
      operation === undefined ||
      call.operationId() !== operation.id ||
      call.resource() !== operation.resource
    ) {
      throw new TypeError("the call did not receive its operation");
    }
    return operation;
  };
  const end: ChangesUnderTest["end"] = ({ id }) => operations.ended(id, AbortSignal.timeout(60_000));
  return {
    operations,
    own,
    begin,
    plan: (name, request) => {
      const requester = { signal: AbortSignal.timeout(60_000), peer: { lvmd: "backups" } } as const;
      return changes[name].plan(requestOf(name, request), requester);
    },
    end,
    make: async (name, request) => end(await begin(name, request)),
    close,
  };
}

/** Starts a change, or plans it. */
type ChangeCall = (...requested: Parameters<ChangesUnderTest["begin"]>) => Promise<unknown>;

/** Creates a runtime like `createRuntime`, and the changes of its pods and images. */
export async function createSubject(t: Test, options: PodmanSandboxOptions = {}) {
  const runtime = createRuntime(t, options);
  const changes = createChangesUnderTest(t, { runtime, store: await openOwnStore(t) });
  const pod = async (name: string): Promise<RuntimePod> => {
    const found = (await runtime.read()).value.pods.find((each) => each.name === name);
    if (found === undefined) {
      throw new Error(`pod ${name} not found`);
    }
    return found;
  };
  const image = async (name: string) => {
    const found = (await runtime.read()).value.images.find(({ names }) => names.includes(name));
    return found?.id ?? "";
  };
  const changeCalls: readonly ChangeCall[] = [changes.begin, changes.plan];
  return { runtime, changes, changeCalls, pod, image };
}

/** Returns the properties of an error, for `t.rejects`. */
export const refusal = (reason: string, message: RegExp) => ({ name: "InfraError", reason, message });

/** Returns each pod with its state, and the names of images that did not exist from the start. */
export async function leftOf(runtime: PodRuntime) {
  const { pods, images } = (await runtime.read()).value;
  const others = images.flatMap(({ names }) => names).filter((name) => !/sandbox|test/.test(name));
  return { pods: pods.map(({ name, phase }) => `${name} ${phase}`).toSorted(), images: others.toSorted() };
}
