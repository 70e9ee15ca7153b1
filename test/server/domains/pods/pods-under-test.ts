import {
  create,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Test } from "tap";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type {
  PodContainer,
  RuntimeImage,
  RuntimePod,
  RuntimeState,
} from "../../../../adapters/podman/runtime-state.ts";
import { createPodmanSandbox } from "../../../../adapters/podman/sandbox.ts";
import type { PodChanges } from "../../../../server/domains/pods/changes/pod-changes.ts";
import { createPodService } from "../../../../server/domains/pods/pod-service.ts";
import { createPublicApiService } from "../../../../server/domains/pods/service.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";

/** Returns an id in the runtime's form that starts with these digits. */
export const idOf = (digits: string) => digits.padEnd(64, "0");

export function containerOf(name: string, facts: Partial<PodContainer> = {}): PodContainer {
  return {
    id: idOf("c0"),
    name,
    isInfra: false,
    state: "running",
    image: { id: idOf("1a"), name: "localhost/web:2.0" },
    exitCode: undefined,
    pid: undefined,
    createdAtNs: 1n,
    startedAtNs: undefined,
    exitedAtNs: undefined,
    annotations: new Map(),
    ...facts,
  };
}

/** Creates a pod. @param digits that its id starts with */
export function podOf(digits: string, facts: Partial<RuntimePod> = {}): RuntimePod {
  const id = idOf(digits);
  return {
    id,
    uuid: id.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
    name: `pod-${digits}`,
    phase: "running",
    createdAtNs: 1_700_000_000_000_000_001n,
    startedAtNs: undefined,
    labels: new Map(),
    cgroup: undefined,
    networks: [],
    containers: [],
    document: `{"Id":"${id}"}`,
    ...facts,
  };
}

/** Creates an image. @param digits that its id starts with */
export function imageOf(digits: string, facts: Partial<RuntimeImage> = {}): RuntimeImage {
  const id = idOf(digits);
  return {
    id,
    names: [],
    sizeBytes: 1n,
    createdAtNs: 1_700_000_000_999_999_999n,
    format: "oci",
    formatVersion: "v1",
    labels: new Map(),
    annotations: new Map(),
    document: `{"Id":"${id}"}`,
    ...facts,
  };
}

/** Creates a runtime with a fixed state. */
export function runtimeOf(t: Test, state: Partial<RuntimeState>): PodRuntime {
  const sandbox = createPodmanSandbox({ pods: [] });
  t.teardown(() => sandbox.close());
  const value = { pods: [], unreadable: [], images: [], ...state };
  return { ...sandbox, read: async () => ({ value, revision: 1, readAtMs: performance.now() }) };
}

/**
 * Creates the services for reading pods, as seen by every call.
 * @param importedAtNs when an image was imported
 */
export function createReadersUnderTest(
  runtime: PodRuntime,
  importedAtNs: (imageId: string) => bigint | undefined = () => undefined,
) {
  const notRequested = () => {
    throw new TypeError("not available in this test");
  };
  const notPlanned = { run: notRequested, plan: notRequested };
  const changes: PodChanges = {
    startPod: notPlanned,
    stopPod: notPlanned,
    killPod: notPlanned,
    removePod: notPlanned,
    pullImage: notPlanned,
    removeImage: notPlanned,
  };
  const importTimes = { importedAtNs };
  const services = [
    createPublicApiService({
      runtime,
      importTimes,
      logs: { read: notRequested },
      listenEvents: notRequested,
    }),
    createPodService({ runtime, importTimes, changes }),
  ];

  function handlerOf(method: DescMethodUnary | DescMethodServerStreaming) {
    const service = services.find(({ service: { typeName } }) => typeName === method.parent.typeName);
    if (service === undefined) {
      throw new TypeError(`no service implements ${method.parent.typeName}`);
    }
    return service.handlerOf(method);
  }

  return {
    async call<M extends DescMethodUnary>(
      method: M,
      request: MessageInitShape<M["input"]> = {} as MessageInitShape<M["input"]>,
    ) {
      const answered = new Headers();
      const call = createCall({ method, answered });
      const output = await handlerOf(method)(create(method.input, request), call);
      const message = create(method.output, output as MessageInitShape<M["output"]>);
      return { message: message as MessageShape<M["output"]>, headers: answered, resource: call.resource() };
    },
    /** Yields the messages until `ending` is aborted. */
    async *stream<M extends DescMethodServerStreaming>(method: M, ending: AbortController) {
      const call = createCall({ method, ending });
      const output = await handlerOf(method)(create(method.input), call);
      for await (const message of output as AsyncIterable<MessageInitShape<M["output"]>>) {
        yield create(method.output, message) as MessageShape<M["output"]>;
      }
    },
  };
}
