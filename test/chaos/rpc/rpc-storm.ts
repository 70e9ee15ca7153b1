import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { OperationService, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { parseCursor } from "../../../server/events/cursor.ts";
import { freePort } from "../../server/harness/free-port.ts";
import { rpcErrorFrom } from "../../server/harness/rpc-error.ts";
import { createStormCalls, referenceOf, stormPeriod } from "./rpc-storm-calls.ts";
import { type Follower, type FollowerHistory, followEvents, seqOf } from "./rpc-storm-followers.ts";
import type { RpcStormArgs } from "./rpc-storm-process.ts";

const program = fileURLToPath(new URL("./rpc-storm-process.ts", import.meta.url));
const services = [
  ...[BackupService, EventService, LVService, OperationService, OperationsService],
  ...[PodService, StoragePoolService],
].map(({ typeName }) => typeName);
const boundaries = ["before", "after"].flatMap((when) =>
  ["beginStep", "endStep", "complete"].map((name) => `${when} operations.${name}`),
);

/** The result of the calls with one key. */
export interface KeyedCall {
  readonly key: string;
  /** What identifies its operation in the store, if no other call can have started it. */
  readonly reference: string | undefined;
  /** Ids of the operations in its responses, and reasons of errors. */
  readonly answers: readonly string[];
}

/** The result of a storm. */
export interface RpcStormReport {
  readonly calls: readonly KeyedCall[];
  readonly followers: readonly FollowerHistory[];
}

/** Errors after which callers of a killed gateway repeat the call with the same key. */
const unanswered: ReadonlySet<string | undefined> = new Set([undefined, "SHUTTING_DOWN", "CALLER_LEFT"]);

const callers = 6;
const callTimeoutMs = 20_000;
const answersOfLife = 40;

/**
 * Sends changes of several kinds with idempotency keys to a gateway that is killed repeatedly, at boundaries of operations and at
 * random moments. Each is sent once more after its response. A subscriber follows the events across all lives. Returns when every
 * call has a response and all operations have ended; the gateway has then been stopped.
 */
export async function rpcStorm(
  t: Test,
  { directory, kills }: { readonly directory: string; readonly kills: number },
): Promise<RpcStormReport> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const transport = createConnectTransport({ baseUrl, httpVersion: "2" });
  const { send } = createStormCalls(transport, callTimeoutMs);
  const operations = createClient(OperationService, transport);
  const events = createClient(EventService, transport);
  const calls: KeyedCall[] = [];
  const isOver = new AbortController();
  let killed = 0;
  let answered = 0;
  /** Resolves once the current gateway serves. */
  let up = Promise.withResolvers<void>();

  /** Sends the call until a gateway responds. Returns an operation's id, or the reason of an error. */
  async function answerOf(index: number, key: string): Promise<string> {
    for (;;) {
      await up.promise;
      try {
        const options = { headers: { "idempotency-key": key }, timeoutMs: callTimeoutMs };
        const { operation } = await send(index, options);
        answered += 1;
        return operation?.id ?? "";
      } catch (error) {
        const { reason } = rpcErrorFrom(error);
        if (reason !== undefined && !unanswered.has(reason)) {
          answered += 1;
          return reason;
        }
      }
      await delay(20 + Math.random() * 50);
    }
  }

  let next = 0;
  async function callOnAndOn(): Promise<void> {
    while (killed < kills) {
      await callTwice(next++);
    }
  }

  async function callTwice(index: number): Promise<void> {
    const key = `storm-${index}`;
    const first = await answerOf(index, key);
    await delay(Math.random() * 200);
    calls.push({ key, reference: referenceOf(index), answers: [first, await answerOf(index, key)] });
  }

  async function begin(failpoint: string | undefined) {
    const args: RpcStormArgs = { directory, port, services, failpoint };
    const child = spawn(process.execPath, [program, JSON.stringify(args)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.teardown(() => child.kill("SIGKILL"));
    const exited = once(child, "exit");
    await Promise.race([untilReady(child), exited]);
    up.resolve();
    return { child, exited };
  }

  async function liveAndDie(): Promise<void> {
    const failpoint = killed % 2 === 0 ? boundaries[(killed / 2) % boundaries.length] : undefined;
    const { child, exited } = await begin(failpoint);
    // Counts responses instead of time, so that slow machines get equally far in a life.
    const lastAnswer = answered + Math.ceil(Math.random() * answersOfLife);
    while (failpoint === undefined && child.exitCode === null && answered < lastAnswer) {
      await delay(Math.random() * 10);
    }
    if (failpoint === undefined) {
      child.kill("SIGKILL");
    }
    const [, signal] = await exited;
    up = Promise.withResolvers();
    if (signal !== "SIGKILL") {
      throw new Error(`a gateway of the storm exited unexpectedly with ${child.exitCode}`);
    }
    killed += 1;
  }

  const byGrpc = createClient(EventService, createGrpcTransport({ baseUrl }));
  const followers: readonly Follower[] = [
    { name: "Connect", events, connections: [] },
    { name: "gRPC", events: byGrpc, connections: [] },
  ];
  const following = Promise.all(followers.map((one) => followEvents(one, () => up.promise, isOver.signal)));
  const calling = Promise.all(Array.from({ length: callers }, callOnAndOn));
  while (killed < kills) {
    await liveAndDie();
  }
  const { child, exited } = await begin(undefined);
  await calling;
  await untilAllEnded(operations);
  // Each kind once more, independently of earlier lives. The restored backup and the destroyed VM were created in this life.
  const last = Math.ceil(next / stormPeriod) * stormPeriod;
  for (const turns of [[5, 7], [0, 1, 3, 6, 15], [2]]) {
    await Promise.all(turns.map((turn) => callTwice(last + turn)));
    await untilAllEnded(operations);
  }
  const headSeq = parseCursor(await headOf(events)).seq;
  // A heartbeat brings the last cursor when no event does. It may be beyond the head, because systems emit events after their
  // operations.
  while (followers.some(({ connections }) => seqOf(connections) < headSeq)) {
    await delay(50);
  }
  isOver.abort();
  await following;
  child.kill("SIGKILL");
  await exited;
  return { calls, followers };
}

async function untilReady({ stdout }: ChildProcess): Promise<void> {
  for await (const chunk of stdout ?? []) {
    if (String(chunk).includes("ready")) {
      return;
    }
  }
}

async function untilAllEnded(
  operations: ReturnType<typeof createClient<typeof OperationService>>,
): Promise<void> {
  const open = [OperationState.SCHEDULED, OperationState.ACTIVE, OperationState.UNDOING];
  for (;;) {
    const { operations: left } = await operations.listOperations({ states: open, pageSize: 1 });
    if (left.length === 0) {
      return;
    }
    await delay(100);
  }
}

async function headOf(events: ReturnType<typeof createClient<typeof EventService>>): Promise<string> {
  const leaving = new AbortController();
  for await (const { message } of events.subscribe({ topics: ["operations"] }, { signal: leaving.signal })) {
    leaving.abort();
    return message.value?.cursor ?? "";
  }
  return "";
}
