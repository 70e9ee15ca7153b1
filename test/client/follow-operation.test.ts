import { test } from "tap";
import {
  type ConnectionState,
  createHostplaneClient,
  describeError,
  type HostplaneClient,
  OperationFailed,
} from "../../client/client.ts";
import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { openCutRelay } from "../chaos/cut-relay.ts";
import { adminPassword } from "../server/harness/gateway-under-test.ts";
import { createWorldUnderTest } from "../server/sandbox/demo-world-under-test.ts";
import { startRestartableGateway } from "./restartable-gateway.ts";

async function clientOf(baseUrl: string): Promise<HostplaneClient> {
  const client = createHostplaneClient({ baseUrl });
  await client.login("admin", adminPassword, { keepLogin: true });
  return client;
}

async function beginBackup(client: HostplaneClient, name: string): Promise<string> {
  const { operationId = "" } = await client.withOperation((options) =>
    client.logicalVolumes.createBackup({ backup: { name, volumeHandle: "sandbox-web" } }, options),
  );
  return operationId;
}

test("follows an operation to its end with its progress, although the connection is cut repeatedly", async (t) => {
  const gateway = await startRestartableGateway(t);
  const relay = await openCutRelay(t, gateway.url);
  const client = await clientOf(relay.url);
  const id = await beginBackup(client, "monday");
  const steps = new Set<string>();
  const states: string[] = [];
  const operation = await client.followOperation(id, {
    onState: ({ state }) => states.push(state),
    onProgress: ({ step }) => {
      if (steps.size < 3 && !steps.has(step)) {
        steps.add(step);
        relay.cut();
      }
    },
  });
  t.equal(operation.id, id);
  t.equal(operation.state, OperationState.COMPLETED);
  t.ok(states.includes("lost"), states.join(" "));
});

test("follows an operation across a restart of the gateway, and reports its failure in full", async (t) => {
  // In a world whose clock stands still, a backup does not end before the gateway is stopped.
  const gateway = await startRestartableGateway(t, { world: createWorldUnderTest() });
  const client = await clientOf(gateway.url);
  const id = await beginBackup(client, "monday");
  const opened = Promise.withResolvers<void>();
  const states: ConnectionState[] = [];
  const following = client.followOperation(id, {
    onState: (state) => states.push(state),
    // A backup that is interrupted before its store step starts over and does not fail.
    onProgress: ({ step }) => step === "store" && opened.resolve(),
  });
  const failure = following.then(
    () => undefined,
    (error: unknown) => error,
  );
  await opened.promise;
  await gateway.stop();
  await gateway.start();
  const error = await failure;
  t.ok(states.some(({ state }) => state === "lost"));
  // The sandbox kept the repository in the memory of the gateway that was stopped.
  if (!(error instanceof OperationFailed)) {
    t.fail(`expected OperationFailed, got ${error}`);
    return;
  }
  t.equal(error.operation.id, id);
  t.equal(error.operation.state, OperationState.FAILED);
  t.match(error.message, /ended as FAILED: there is no repository/);
  t.match(describeError(error), { code: "NOT_FOUND", reason: "REPOSITORY_NOT_FOUND", retryable: false });
});

test("rejects with the operation if it is cancelled", async (t) => {
  const gateway = await startRestartableGateway(t);
  const client = await clientOf(gateway.url);
  await beginBackup(client, "monday");
  // It waits for the first operation to end. It can be cancelled until then and for most of its own run.
  const id = await beginBackup(client, "tuesday");
  await client.operations.cancelOperation({ id });
  const error: unknown = await client.followOperation(id).catch((reason: unknown) => reason);
  t.ok(error instanceof OperationFailed);
  t.match(describeError(error), { code: "ABORTED", reason: "OPERATION_CANCELLED" });
});

test("rejects at once for an unknown operation; aborting the signal stops following but not the operation", async (t) => {
  const gateway = await startRestartableGateway(t);
  const client = await clientOf(gateway.url);
  await t.rejects(client.followOperation("00000000-0000-4000-8000-000000000000"), {
    message: /operation/,
  });
  const id = await beginBackup(client, "monday");
  const controller = new AbortController();
  const onProgress = () => controller.abort(new Error("seen enough"));
  await t.rejects(client.followOperation(id, { signal: controller.signal, onProgress }), {
    message: "seen enough",
  });
  t.equal((await client.followOperation(id)).state, OperationState.COMPLETED);
});
