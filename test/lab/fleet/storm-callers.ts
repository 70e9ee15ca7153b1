import { setTimeout as delay } from "node:timers/promises";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { SystemService } from "../../../gen/hostplane/v1/system_pb.ts";
import type { Random } from "../../chaos/random.ts";
import { rpcErrorFrom } from "../../server/harness/rpc-error.ts";
import type { StormFleet } from "./storm-fleet.ts";

/** What callers have seen. */
export interface CallerRecord {
  calls: number;
  /** Calls that returned an answer of another host. */
  readonly wrongHosts: string[];
  /** Calls that did not end by their deadline. */
  readonly hanging: string[];
  /** Operations that a host has accepted, by ID. */
  readonly accepted: Map<string, { readonly host: string; readonly reference: string }>;
  /** How often calls failed, by code and reason. */
  readonly failures: Map<string, number>;
  /** Changes that were made through more than one hub. */
  repeated: number;
}

export function createCallerRecord(): CallerRecord {
  return { calls: 0, wrongHosts: [], hanging: [], accepted: new Map(), failures: new Map(), repeated: 0 };
}

const deadlineMs = 5000;
/** Beyond the deadline: the machine of the test may be busy. */
const patienceMs = 20_000;

/** Failures after which the same change is repeated with the same key. */
const passing: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED", "CANCELLED"]);

/** Calls random hosts through random hubs until the signal is aborted. A change is repeated until a host has answered. */
export async function callHosts(
  fleet: StormFleet,
  caller: number,
  random: Random,
  record: CallerRecord,
  isOver: AbortSignal,
): Promise<void> {
  for (let turn = 1; !isOver.aborted; turn += 1) {
    const { name: host } = random.pick(fleet.agents);
    if (random.happens(0.7)) {
      await call(`GetInfo on ${host}`, record, async (options) => {
        const hub = random.pick(fleet.hubs);
        const { hostname } = await fleet.clientOf(SystemService, hub, host, turn).getInfo({}, options);
        if (hostname !== host) {
          record.wrongHosts.push(`${hostname} answered for ${host} through ${hub.name}`);
        }
      });
    } else {
      await pullImage(fleet, host, `localhost/${host}/caller-${caller}:${turn}`, random, record);
    }
    await delay(random.int(20, 150));
  }
}

/** Starts an operation. Each further attempt uses another hub, with the same key. */
async function pullImage(
  { hubs, clientOf }: StormFleet,
  host: string,
  reference: string,
  random: Random,
  record: CallerRecord,
): Promise<void> {
  const first = random.int(0, hubs.length - 1);
  for (let attempt = 0; ; attempt += 1) {
    const hub = hubs[(first + attempt) % hubs.length] ?? random.pick(hubs);
    const outcome = await call(`PullImage of ${reference}`, record, async (options) => {
      const headers = { ...options.headers, "idempotency-key": reference };
      const { operation } = await clientOf(PodService, hub, host, attempt).pullImage(
        { reference },
        { ...options, headers },
      );
      const known = [...record.accepted].find(([, accepted]) => accepted.reference === reference);
      if (known !== undefined && known[0] !== operation?.id) {
        record.wrongHosts.push(`${reference} was accepted as ${known[0]} and as ${operation?.id}`);
      }
      record.accepted.set(operation?.id ?? "", { host, reference });
    });
    if (!passing.has(outcome)) {
      return;
    }
    record.repeated += attempt === 0 ? 1 : 0;
    await delay(random.int(50, 300));
  }
}

/** Makes a call, and records how it ended. Returns the code, and the reason if the host cannot know the outcome. */
async function call(
  name: string,
  record: CallerRecord,
  send: (options: { headers: Record<string, string>; signal: AbortSignal }) => Promise<void>,
): Promise<string> {
  record.calls += 1;
  // The deadline is the hub's to keep: without a time limit of the client.
  const patience = new AbortController();
  const timer = setTimeout(() => {
    record.hanging.push(name);
    patience.abort();
  }, patienceMs);
  try {
    await send({ headers: { "connect-timeout-ms": String(deadlineMs) }, signal: patience.signal });
    return "OK";
  } catch (error) {
    const { code, reason, message } = rpcErrorFrom(error);
    const key = `${code} ${reason ?? message}`;
    record.failures.set(key, (record.failures.get(key) ?? 0) + 1);
    return reason === "IDEMPOTENCY_OUTCOME_UNKNOWN" ? reason : code;
  } finally {
    clearTimeout(timer);
  }
}
