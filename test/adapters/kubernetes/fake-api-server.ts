import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { TLSSocket } from "node:tls";
import {
  pathOf,
  titleOf,
  type WatchedName,
  watchedKinds,
  watchedNames,
} from "../../../adapters/kubernetes/resources.ts";
import type { Manifest, Manifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";

export interface FakeApiServer {
  /** The same after a stop and a start. */
  readonly url: string;
  readonly token: string;
  put(kind: WatchedName, object: Manifest): void;
  remove(kind: WatchedName, name: string): void;
  /** The account may do this no more, and watches of it end. */
  deny(verb: "list" | "watch", kind: WatchedName): void;
  allow(kind: WatchedName): void;
  /** As if the kind's definition were removed, with its objects. */
  uninstall(kind: WatchedName): void;
  install(kind: WatchedName): void;
  /** Forgets what has happened: who has not followed so far gets 410, or another error. */
  compact(code?: number): void;
  /** Ends all watches without a word. */
  dropWatches(): void;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Takes requests and answers none, also on watches that stand. */
  setHanging(isHanging: boolean): void;
  /** Answers every request but those of a version with this status. */
  setFailing(statusCode: number | undefined): void;
  /** The tokens that are let in, in place of its own. */
  setToken(token: string): void;
  /** Number of requests so far, without those of a version. */
  requestCount(): number;
  watchCount(): number;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly kind: WatchedName;
}

interface Event {
  readonly version: number;
  readonly kind: WatchedName;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: object;
}

/**
 * LIST and WATCH of the kinds that the gateway watches, as kube-apiserver answers them over HTTP: resource versions that grow
 * over all kinds, a history that can be compacted, and refusals in the form of Status.
 * @param tls it speaks TLS, and lets in whoever has a certificate of `ca`
 */
export async function startFakeApiServer(
  seeds: Manifests,
  namespace: string,
  tls?: Pick<ServerOptions, "cert" | "key" | "ca">,
): Promise<FakeApiServer> {
  let version = 1;
  let compactedAt = 0;
  let errorCode = 410;
  let history: Event[] = [];
  let port = 0;
  let server: Server | undefined;
  let isHanging = false;
  let failing: number | undefined;
  let token = "the-token-of-the-account";
  let requests = 0;
  const denied = new Set<string>();
  const absent = new Set<WatchedName>();
  const watchers = new Set<Watcher>();
  const stored = new Map<WatchedName, Map<string, object>>();
  const kindOfPath = new Map(watchedNames.map((kind) => [pathOf(watchedKinds[kind], namespace), kind]));

  function tell(event: Event): void {
    history.push(event);
    for (const watcher of watchers) {
      if (watcher.kind === event.kind && !isHanging) {
        write(watcher.response, event);
      }
    }
  }

  function put(kind: WatchedName, object: Manifest): void {
    const { name } = object.metadata;
    const objects = stored.get(kind) ?? new Map();
    version += 1;
    const isNew = !objects.has(name);
    const metadata = { ...object.metadata, resourceVersion: String(version), uid: `uid-of-${kind}-${name}` };
    objects.set(name, { ...object, metadata });
    stored.set(kind, objects);
    tell({ version, kind, type: isNew ? "ADDED" : "MODIFIED", object: { ...object, metadata } });
  }

  function remove(kind: WatchedName, name: string): void {
    const object = stored.get(kind)?.get(name) as Manifest | undefined;
    if (object === undefined) {
      throw new Error(`there is no ${kind} ${name}`);
    }
    version += 1;
    stored.get(kind)?.delete(name);
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    tell({ version, kind, type: "DELETED", object: { ...object, metadata } });
  }

  function endWatches(isEnded: (watcher: Watcher) => boolean): void {
    for (const watcher of [...watchers].filter(isEnded)) {
      watchers.delete(watcher);
      watcher.response.end();
    }
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", "http://fake.invalid");
    if (isHanging) {
      return;
    }
    const isCertified = request.socket instanceof TLSSocket && request.socket.authorized;
    if (!isCertified && request.headers.authorization !== `Bearer ${token}`) {
      refuse(response, 401, "Unauthorized", "Unauthorized");
    } else if (url.pathname === "/version") {
      send(response, 200, { major: "1", minor: "36", gitVersion: "v1.36.3", platform: "linux/amd64" });
    } else {
      requests += 1;
      answerKind(url, response);
    }
  }

  function answerKind(url: URL, response: ServerResponse): void {
    const kind = kindOfPath.get(url.pathname);
    const verb = url.searchParams.get("watch") === "true" ? "watch" : "list";
    if (failing !== undefined) {
      refuse(response, failing, "InternalError", "etcdserver: no leader");
    } else if (kind === undefined || absent.has(kind)) {
      // So does kube-apiserver for a group that it does not have.
      response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found\n");
    } else if (denied.has(`${verb} ${kind}`)) {
      const message = `${titleOf(watchedKinds[kind])} is forbidden: User "system:serviceaccount:rook-ceph:hostplane" cannot ${verb} resource`;
      refuse(response, 403, "Forbidden", message);
    } else if (verb === "list") {
      const items = [...(stored.get(kind)?.values() ?? [])];
      send(response, 200, {
        kind: "List",
        apiVersion: "v1",
        metadata: { resourceVersion: String(version) },
        items,
      });
    } else {
      watch(url, kind, response);
    }
  }

  function watch(url: URL, kind: WatchedName, response: ServerResponse): void {
    const from = Number(url.searchParams.get("resourceVersion"));
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    if (from < compactedAt) {
      const message = `too old resource version: ${from} (${compactedAt})`;
      response.end(`${JSON.stringify({ type: "ERROR", object: statusOf(errorCode, "Expired", message) })}\n`);
      return;
    }
    for (const event of history) {
      if (event.kind === kind && event.version > from) {
        write(response, event);
      }
    }
    const watcher = { response, kind };
    watchers.add(watcher);
    response.on("close", () => watchers.delete(watcher));
  }

  async function start(): Promise<void> {
    const started =
      tls === undefined
        ? createServer(answer)
        : createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: false }, answer);
    server = started;
    await new Promise<void>((resolve) => started.listen(port, "127.0.0.1", resolve));
    ({ port } = started.address() as AddressInfo);
  }

  for (const kind of watchedNames) {
    stored.set(kind, new Map());
    for (const seed of seeds[kind]) {
      put(kind, seed);
    }
  }
  await start();
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    token,
    put,
    remove,
    deny(verb, kind) {
      denied.add(`${verb} ${kind}`);
      endWatches((watcher) => watcher.kind === kind);
    },
    allow(kind) {
      denied.delete(`list ${kind}`);
      denied.delete(`watch ${kind}`);
    },
    uninstall(kind) {
      for (const name of stored.get(kind)?.keys() ?? []) {
        remove(kind, name);
      }
      absent.add(kind);
      endWatches((watcher) => watcher.kind === kind);
    },
    install: (kind) => absent.delete(kind),
    compact(code = 410) {
      errorCode = code;
      history = [];
      compactedAt = version;
    },
    dropWatches: () => endWatches(() => true),
    stop() {
      const stopped = new Promise<void>((resolve) => server?.close(() => resolve()));
      server?.closeAllConnections();
      return stopped;
    },
    start,
    setHanging(next) {
      isHanging = next;
    },
    setFailing(statusCode) {
      failing = statusCode;
    },
    setToken(next) {
      token = next;
    },
    requestCount: () => requests,
    watchCount: () => watchers.size,
  };
}

function write(response: ServerResponse, { type, object }: Event): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}

function send(response: ServerResponse, statusCode: number, body: object): void {
  response.writeHead(statusCode, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  send(response, code, statusOf(code, reason, message));
}

function statusOf(code: number, reason: string, message: string): object {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
}
