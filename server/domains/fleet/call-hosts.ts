import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import type { CallHostsRequest, CallHostsResponseSchema } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { grantedHosts, type ListedHosts } from "../../fleet/caller/granted-hosts.ts";
import { hubCallerOf } from "../../fleet/caller/hub-caller-of.ts";
import { hostUnknown, hostUnreachable } from "../../fleet/host-errors.ts";
import { callHost, type HostCall } from "../../fleet/hub/call-host.ts";
import { errorTextMax } from "../../fleet/hub/error-from-host.ts";
import { hostsWith } from "../../fleet/hub/hosts-with.ts";
import type { Hub } from "../../fleet/hub/hub.ts";
import type { HostRecord } from "../../fleet/store/hosts.ts";
import type { Call } from "../../rpc/call/call.ts";
import type { Route } from "../../rpc/call/router.ts";
import { assertAllowed } from "../../rpc/interceptors/authorization.ts";
import { listenerRefusalOf } from "../../rpc/protocols/http/listener-services.ts";
import { parseLabels } from "./parse-labels.ts";

type Answer = MessageInitShape<typeof CallHostsResponseSchema>;

const contentTypes = ["application/json", "application/proto"] as const;
const concurrency = { most: 64, usual: 8 };
const longestMs = 60_000;
/** What a message has beside the body of an answer, in bytes. */
const messageBytes = 256;

/** Returns the route of a method, by its full name; undefined for one that the hub does not know. */
export type RouteOf = (methodPath: string) => Pick<Route, "method" | "rule"> | undefined;

export interface CallHostsOptions {
  readonly hub: Pick<Hub, "name" | "hosts" | "links">;
  readonly routeOf: RouteOf;
  /** Largest message of an answer, in bytes. */
  readonly maxMessageBytes: number;
}

/**
 * Calls a method on hosts, several at a time, and yields each answer when it arrives.
 * @throws InfraError INVALID_FIELD, HOST_UNKNOWN, and those of a caller who may not call the method
 */
export async function* callHosts(
  { hub, routeOf, maxMessageBytes }: CallHostsOptions,
  request: CallHostsRequest,
  call: Call,
): AsyncGenerator<Answer, void> {
  const assertStillAllowed = assertCallable(request.method, call, routeOf);
  const waiting = [...selectHosts(grantedHosts(hub.hosts, call), request)];
  // JSON has bytes in base64. One answer that no message can hold would end the answers of all hosts.
  const answerMaxBytes = Math.floor(((maxMessageBytes - messageBytes) * 3) / 4);
  const hostCall = { ...hostCallFrom(request, call), answerMaxBytes };
  const maxConcurrent = parseConcurrency(request.maxConcurrent);
  const running = new Map<string, Promise<Answer>>();
  while (waiting.length > 0 || running.size > 0) {
    for (let host = waiting[0]; host !== undefined && running.size < maxConcurrent; host = waiting[0]) {
      waiting.shift();
      assertStillAllowed();
      running.set(host, answerOf(hub, host, call, hostCall));
    }
    const answer = await Promise.race(running.values());
    running.delete(answer.host ?? "");
    call.signal.throwIfAborted();
    yield answer;
  }
}

/**
 * @returns a function that checks the caller's access again: many hosts take a while
 * @throws InfraError INVALID_FIELD, SERVICE_NOT_ON_LISTENER, and those of `assertAllowed`
 */
function assertCallable(methodPath: string, call: Call, routeOf: RouteOf): () => void {
  const route = routeOf(methodPath);
  if (route === undefined || route.method.methodKind !== "unary") {
    throw invalidField(
      "method",
      "expected the full name of a unary method, such as proto.VGService/GetLVList",
    );
  }
  const { method, rule } = route;
  if (rule.fleetWide) {
    throw invalidField("method", `${method.parent.typeName} is always the hub's own; call it without hosts`);
  }
  const refusal = listenerRefusalOf(method.parent, call.peer.listener, call.peer.services);
  if (refusal !== undefined) {
    throw refusal;
  }
  assertAllowed(call.caller, method, rule);
  return () => assertAllowed(call.caller.current(), method, rule);
}

/** @throws InfraError INVALID_FIELD, HOST_UNKNOWN */
function selectHosts(hosts: ListedHosts<HostRecord>, request: CallHostsRequest): ReadonlySet<string> {
  const { hosts: names } = request;
  const labels = parseLabels(request.labels);
  if (names.length === 0 && request.labels.length === 0) {
    throw invalidField("hosts", "expected at least one name, or at least one of `labels`");
  }
  if (names.length > 0 && request.labels.length > 0) {
    throw invalidField("labels", "expected either names or labels");
  }
  for (const name of names) {
    if (hosts.find(name) === undefined) {
      throw hostUnknown(name, hosts.list());
    }
  }
  return new Set(names.length > 0 ? names : hostsWith(hosts.list(), labels).map(({ name }) => name));
}

/** @throws InfraError INVALID_FIELD */
function parseConcurrency(asked: number): number {
  if (asked > concurrency.most) {
    throw invalidField("max_concurrent", `expected 1 to ${concurrency.most}`);
  }
  return asked === 0 ? concurrency.usual : asked;
}

/** @throws InfraError INVALID_FIELD */
function hostCallFrom(request: CallHostsRequest, call: Call): Omit<HostCall, "caller" | "answerMaxBytes"> {
  const asked = request.contentType === "" ? contentTypes[0] : request.contentType;
  const contentType = contentTypes.find((each) => each === asked);
  if (contentType === undefined) {
    throw invalidField("content_type", `expected ${contentTypes.join(" or ")}`);
  }
  const timeoutMs = request.timeout === undefined ? longestMs : durationMs(request.timeout);
  if (timeoutMs <= 0 || timeoutMs > longestMs) {
    throw invalidField("timeout", `expected more than 0 and at most ${longestMs / 1000} seconds`);
  }
  return {
    methodPath: request.method,
    contentType,
    body: request.body,
    timeoutMs,
    signal: call.signal,
  };
}

/** Never rejects. */
async function answerOf(
  hub: CallHostsOptions["hub"],
  host: string,
  call: Call,
  hostCall: Omit<HostCall, "caller">,
): Promise<Answer> {
  try {
    const link = hub.links.find(host);
    if (link === undefined) {
      throw hostUnreachable(host, "it is not connected to this hub");
    }
    const caller = hubCallerOf(call, hub, host);
    if (caller === undefined) {
      throw new TypeError("FleetService needs a login");
    }
    return { host, outcome: { case: "body", value: await callHost(link, { ...hostCall, caller }) } };
  } catch (thrown) {
    return { host, outcome: { case: "error", value: hostErrorFrom(thrown) } };
  }
}

function hostErrorFrom(thrown: unknown): { code: string; reason: string; message: string } {
  if (thrown instanceof ConnectError) {
    const [info] = thrown.findDetails(ErrorInfoSchema);
    return {
      code: codeToString(thrown.code).toUpperCase(),
      reason: (info?.reason ?? "").slice(0, errorTextMax.reason),
      message: thrown.rawMessage.slice(0, errorTextMax.message),
    };
  }
  if (thrown instanceof InfraError) {
    return { code: thrown.code, reason: thrown.reason, message: thrown.message };
  }
  throw thrown;
}
