import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import {
  pathOf,
  titleOf,
  type WatchedName,
  watchedKinds,
  watchedNames,
} from "../../../adapters/kubernetes/resources.ts";
import type { Manifest, Manifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";
import { freePort } from "../../server/harness/free-port.ts";
import { createFakeObjects } from "./fake-objects.ts";

export interface FakeApiServer {
  /** Stays the same after a stop and a start. */
  readonly url: string;
  readonly token: string;
  put(kind: WatchedName, object: Manifest): void;
  remove(kind: WatchedName, name: string): void;
  /** Revokes this permission and ends the kind's watches. */
  deny(verb: "list" | "watch", kind: WatchedName): void;
  allow(kind: WatchedName): void;
  /** Simulates the removal of the kind's definition, with its objects. */
  uninstall(kind: WatchedName): void;
  install(kind: WatchedName): void;
  /** Discards the history: clients that are behind get 410, or another error. */
  compact(code?: number): void;
  /** Ends all watches without an error. */
  dropWatches(): void;
  /** Answers lists of the kind with this text, until called with undefined. */
  setListReply(kind: WatchedName, text: string | undefined): void;
  /** Writes this line to all established watches of the kind. */
  writeLine(kind: WatchedName, line: string): void;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Accepts requests and answers none; also silences established watches. */
  setHanging(isHanging: boolean): void;
  /** Answers every request except /version with this status. */
  setFailing(statusCode: number | undefined): void;
  /** Accepts this token instead of its own. */
  setToken(token: string): void;
  /** Number of requests so far, without those of /version. */
  requestCount(): number;
  watchCount(): number;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly kind: WatchedName;
}

/**
 * Serves LIST and WATCH of the kinds that the gateway watches, as kube-apiserver does over HTTP, with a history that
 * can be compacted, and refusals as Status objects.
 * @param tls uses TLS, and accepts clients with a certificate of `ca`
 */
export async function startFakeApiServer(
  seeds: Manifests,
  namespace: string,
  tls?: Pick<ServerOptions, "cert" | "key" | "ca">,
): Promise<FakeApiServer> {
  let errorCode = 410;
  // It can be stopped and started again.
  const port = await freePort();
  let server: Server | undefined;
  let isHanging = false;
  let failing: number | undefined;
  let token = "the-token-of-the-account";
  let requests = 0;
  const denied = new Set<string>();
  const absent = new Set<WatchedName>();
  const listReplies = new Map<WatchedName, string>();
  const watchers = new Set<Watcher>();
  const sockets = new Set<Socket>();
  const objects = createFakeObjects(seeds, ({ kind, type, object }) =>
    writeLine(kind, JSON.stringify({ type, object })),
  );
  const kindOfPath = new Map(watchedNames.map((kind) => [pathOf(watchedKinds[kind], namespace), kind]));

  function writeLine(kind: WatchedName, line: string): void {
    for (const watcher of watchers) {
      if (watcher.kind === kind && !isHanging) {
        watcher.response.write(`${line}\n`);
      }
    }
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
      // As kube-apiserver does for an unknown group.
      response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found\n");
    } else if (denied.has(`${verb} ${kind}`)) {
      const message = `${titleOf(watchedKinds[kind])} is forbidden: User "system:serviceaccount:rook-ceph:hostplane" cannot ${verb} resource`;
      refuse(response, 403, "Forbidden", message);
    } else if (verb === "watch") {
      watch(url, kind, response);
    } else {
      const { resourceVersion, items } = objects.list(kind);
      const body = { kind: "List", apiVersion: "v1", metadata: { resourceVersion }, items };
      const text = listReplies.get(kind) ?? JSON.stringify(body);
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    }
  }

  function watch(url: URL, kind: WatchedName, response: ServerResponse): void {
    const from = Number(url.searchParams.get("resourceVersion"));
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    const happened = objects.since(kind, from);
    if ("compactedAt" in happened) {
      const message = `too old resource version: ${from} (${happened.compactedAt})`;
      response.end(`${JSON.stringify({ type: "ERROR", object: statusOf(errorCode, "Expired", message) })}\n`);
      return;
    }
    for (const { type, object } of happened.events) {
      response.write(`${JSON.stringify({ type, object })}\n`);
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
    started.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      if (!started.listening) {
        socket.destroy();
      }
    });
    await new Promise<void>((resolve) => started.listen(port, "127.0.0.1", resolve));
  }

  await start();
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    token,
    put: objects.put,
    remove: objects.remove,
    deny(verb, kind) {
      denied.add(`${verb} ${kind}`);
      endWatches((watcher) => watcher.kind === kind);
    },
    allow(kind) {
      denied.delete(`list ${kind}`);
      denied.delete(`watch ${kind}`);
    },
    uninstall(kind) {
      objects.removeAll(kind);
      absent.add(kind);
      endWatches((watcher) => watcher.kind === kind);
    },
    install: (kind) => absent.delete(kind),
    compact(code = 410) {
      errorCode = code;
      objects.compact();
    },
    dropWatches: () => endWatches(() => true),
    setListReply(kind, text) {
      if (text === undefined) {
        listReplies.delete(kind);
      } else {
        listReplies.set(kind, text);
      }
    },
    writeLine,
    stop() {
      const stopped = new Promise<void>((resolve) => server?.close(() => resolve()));
      // Includes those in a TLS handshake, which an HTTP server does not know yet.
      for (const socket of sockets) {
        socket.destroy();
      }
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

function send(response: ServerResponse, statusCode: number, body: object): void {
  response.writeHead(statusCode, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  send(response, code, statusOf(code, reason, message));
}

function statusOf(code: number, reason: string, message: string): object {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
}
