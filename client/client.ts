import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import {
  type CallOptions,
  type Client,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import type { Event } from "../gen/hostplane/v1/event_pb.ts";
import type { Operation } from "../gen/hostplane/v1/operation_pb.ts";
import type { PlanResponse } from "../gen/hostplane/v1/plan_pb.ts";
import { AuthService } from "../gen/services/auth/auth_pb.ts";
import { type FollowOptions, followOperation } from "./follow-operation.ts";
import { createLogin, type LoginOptions, type TokenSource } from "./login.ts";
import { resumeStream, type StreamOptions } from "./resume-stream.ts";
import { type ServiceClients, services } from "./services.ts";
import { createSharedFetch, type StartStreamWorker } from "./shared-streams/shared-fetch.ts";
import { type WatchEventsOptions, watchEvents } from "./watch-events.ts";
import { type WithOperation, withOperation } from "./with-operation.ts";

// The package's only entry: everything its users need is exported here.
// biome-ignore-start lint/performance/noBarrelFile: package.json names this file as hostplane/client
export { describeError, type ErrorDescription } from "./describe-error.ts";
export type { FollowOptions } from "./follow-operation.ts";
export type { LoginOptions, TokenSource } from "./login.ts";
export { OperationFailed } from "./operation-failed.ts";
export type { ConnectionState, StreamOptions } from "./resume-stream.ts";
export type { ServiceClients } from "./services.ts";
export type { StreamWorker } from "./shared-streams/port-messages.ts";
export type { StartStreamWorker } from "./shared-streams/shared-fetch.ts";
export type { WatchEventsOptions } from "./watch-events.ts";
export { operationIdsOf, type WithOperation } from "./with-operation.ts";
// biome-ignore-end lint/performance/noBarrelFile: see above

export interface ClientOptions {
  /** Address of the gateway, e.g. "https://gateway:8443". On a page that the gateway serves: `location.origin`. */
  readonly baseUrl: string;
  /** Token of the caller, used until `login` is called. */
  readonly token?: TokenSource;
  /**
   * Where the token of `login` is kept. "token" keeps it in memory. "cookie" leaves it to the browser: scripts cannot read it,
   * and it survives a reload, but it works only for pages of the gateway's own origin. Default: "token".
   */
  readonly session?: "token" | "cookie";
  /** Encoding of messages: "json" is readable in a browser's developer tools, "binary" is smaller. Default: "binary". */
  readonly format?: "binary" | "json";
  /** Default: `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Lets the streams of all windows share one connection, where the browser would otherwise open one for each: over HTTP/1.1 it
   * opens six to a gateway, for all windows together. Starts a SharedWorker with the script `hostplane/client/stream-worker`.
   * Called only if the browser has SharedWorker; otherwise the streams of each window share a connection. Default: each stream
   * has its own.
   */
  readonly streamWorker?: StartStreamWorker;
  /** Run around every call, the first one outermost. Each sees a call once, even if the call is retried with a new token. */
  readonly interceptors?: readonly Interceptor[];
}

/** Typed clients of all services of a gateway, and helpers that span several calls. */
export interface HostplaneClient extends ServiceClients {
  /** Returns a client of any other service, such as `grpc.health.v1.Health`. */
  serviceClient<Service extends DescService>(service: Service): Client<Service>;
  /**
   * Logs in; later calls are made as this user.
   * @throws ConnectError with the reason INVALID_CREDENTIALS or TOO_MANY_LOGINS, or a connection error
   */
  login(username: string, password: string, options?: LoginOptions): Promise<void>;
  /**
   * Logs out. Later calls use `token` again, if there is one.
   * @returns the page at which a browser also ends its session at the identity provider; undefined if there is none
   */
  logout(): Promise<string | undefined>;
  /**
   * Follows an operation to its end, across lost connections and gateway restarts.
   * @throws OperationFailed unless the operation ends as COMPLETED
   */
  followOperation(id: string, options?: FollowOptions): Promise<Operation>;
  /** Yields events in order, without gaps or repeats, across lost connections. It does not end by itself. */
  watchEvents(options?: WatchEventsOptions): AsyncIterable<Event>;
  /**
   * Follows any stream that starts with the whole state, such as WatchPods, and reopens it whenever it is lost.
   * @param call makes the call with the options it is given
   */
  watch<T>(call: (options: CallOptions) => AsyncIterable<T>, options?: StreamOptions): AsyncIterable<T>;
  /**
   * Returns what a call would do, without doing it: `plan(LVService.method.removeLV, { name: "data" })`.
   * @throws ConnectError with the error that the call itself would return
   */
  plan<Input extends DescMessage>(
    method: DescMethod & { readonly input: Input },
    request: MessageInitShape<Input>,
    options?: CallOptions,
  ): Promise<PlanResponse>;
  /**
   * Makes a call and returns the operation that it started, found or changed: `withOperation((options) =>
   * client.logicalVolumes.createBackup({ ... }, options))`.
   */
  withOperation<T>(call: (options: CallOptions) => Promise<T>): Promise<WithOperation<T>>;
}

/** Creates a client of the gateway at `baseUrl`. Nothing is sent before the first call. */
export function createHostplaneClient(options: ClientOptions): HostplaneClient {
  const {
    baseUrl,
    token,
    session = "token",
    format = "binary",
    fetch,
    streamWorker,
    interceptors = [],
  } = options;
  const transportOptions = {
    baseUrl,
    useBinaryFormat: format === "binary",
    ...(fetch === undefined ? {} : { fetch }),
  };
  const transportWith = (...all: readonly Interceptor[]) =>
    createConnectTransport({ ...transportOptions, interceptors: [...all] });
  const auth = createClient(AuthService, transportWith(...interceptors));
  const { login, logout, interceptor } = createLogin(auth, session, token);
  const direct = transportWith(...interceptors, interceptor);
  const transport =
    streamWorker === undefined
      ? direct
      : withSharedStreams(
          direct,
          createConnectTransport({
            ...transportOptions,
            interceptors: [...interceptors, interceptor],
            fetch: createSharedFetch(streamWorker, fetch),
          }),
        );
  const clients = Object.fromEntries(
    Object.entries(services).map(([name, service]) => [
      name,
      createClient(service as DescService, transport),
    ]),
  ) as unknown as ServiceClients;
  return {
    ...clients,
    serviceClient: (service) => createClient(service, transport),
    login,
    logout,
    followOperation: (id, followOptions) => followOperation(clients.operations, id, followOptions),
    watchEvents: (watchOptions) => watchEvents(clients.events, watchOptions),
    watch: (call, streamOptions) => resumeStream((signal) => call({ signal }), streamOptions),
    plan(method, request, callOptions) {
      const value = toBinary(method.input, create(method.input, request));
      const name = `${method.parent.typeName}/${method.name}`;
      return clients.plans.plan({ method: name, request: { case: "binary", value } }, callOptions);
    },
    withOperation,
  };
}

/** Returns a transport that makes streaming calls without side effects with `shared`, and all other calls with `direct`. */
function withSharedStreams(direct: Transport, shared: Transport): Transport {
  return {
    unary: direct.unary,
    stream: (method, ...rest) => {
      const isWatch =
        method.methodKind === "server_streaming" && method.idempotency === Idempotency.NO_SIDE_EFFECTS;
      return (isWatch ? shared : direct).stream(method, ...rest);
    },
  };
}
