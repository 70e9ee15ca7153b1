import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { answerWithFault } from "../../sandbox/answer-with-fault.ts";
import { type FakeAnswer, type FakeRequest, statusAnswer, unauthorized } from "./answer.ts";
import { answerApi } from "./api.ts";
import { answerEtcd } from "./etcd-api.ts";
import type { Faults } from "./faults.ts";
import { createServingCertificate } from "./serving-certificate.ts";
import type { FakeTarget } from "./world.ts";

/** A server for one target. */
export interface FakeListener {
  readonly target: FakeTarget;
  readonly port: number;
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly faults: Faults;
  /** Reports whether the target still exists: its machine, its cluster. */
  readonly isServed: (target: FakeTarget) => boolean;
  readonly note: (target: FakeTarget, request: FakeRequest) => void;
}

/**
 * Starts a machine's server, with a certificate signed by its cluster's authority. @throws Error when it cannot listen
 * there
 */
export async function startListener(
  target: FakeTarget,
  at: { readonly host: string; readonly port: number },
  { faults, isServed, note }: ListenerOptions,
): Promise<FakeListener> {
  const closing = new AbortController();
  const server = createServer(await tlsOptionsOf(target), (message, response) => {
    serve(message)
      .then((answer) => {
        if (answer === undefined) {
          message.socket.destroy();
          return;
        }
        const body = JSON.stringify(answer.json);
        response.writeHead(answer.status, { "content-type": "application/json" });
        response.end(body);
      })
      .catch(() => message.socket.destroy());
  });
  // From clients that do not trust the server, or are not trusted.
  server.on("tlsClientError", () => {});

  async function serve(message: IncomingMessage): Promise<FakeAnswer | undefined> {
    const request = await requestFrom(message);
    const fault = faults.take({ ...request, kind: target.kind });
    const answer = (faulty: FakeAnswer | undefined) => {
      if (!isServed(target)) {
        return undefined;
      }
      note(target, request);
      return faulty ?? answerOf(message.socket as TLSSocket, request);
    };
    return answerWithFault(fault, answer, closing.signal);
  }

  function answerOf(socket: TLSSocket, request: FakeRequest): FakeAnswer {
    if (target.kind === "etcd") {
      return answerEtcd(target, request);
    }
    return refusalOf(socket, request) ?? answerApi(target, request);
  }

  server.listen(at.port, at.host);
  await once(server, "listening");
  // The server must not keep the process alive.
  server.unref();
  return {
    target,
    port: (server.address() as AddressInfo).port,
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function tlsOptionsOf({ kind, cluster, boot }: FakeTarget) {
  const { pki, endpoint, certificateNames } = cluster;
  const { nodeName } = boot.plan;
  const names = [nodeName, boot.machine.address, "localhost", "127.0.0.1"];
  const ofApi = ["kubernetes", "kubernetes.default", ...(endpoint === undefined ? [] : [endpoint.host])];
  const authority = kind === "api" ? pki.ca : pki.etcdCa;
  const all = kind === "api" ? [...names, ...ofApi, ...certificateNames] : names;
  const commonName = kind === "api" ? "kube-apiserver" : nodeName;
  const { cert, key } = await createServingCertificate(authority, commonName, all);
  // An API server accepts any connection and authenticates later; kubeadm's etcd requires a valid client certificate.
  return { cert, key, ca: authority.certificatePem, requestCert: true, rejectUnauthorized: kind === "etcd" };
}

/** Returns an API server's refusal of a client outside `system:masters`. */
function refusalOf(socket: TLSSocket, { method, path }: FakeRequest): FakeAnswer | undefined {
  const certificate = socket.getPeerCertificate();
  const isShown = Object.keys(certificate).length > 0;
  if (isShown && !socket.authorized) {
    return unauthorized;
  }
  const subject: { readonly O?: string | string[]; readonly CN?: string | string[] } = isShown
    ? certificate.subject
    : {};
  if ([subject.O ?? []].flat().includes("system:masters")) {
    return undefined;
  }
  const user = [subject.CN ?? "system:anonymous"].flat().join();
  return statusAnswer(403, "Forbidden", `forbidden: User "${user}" cannot ${method} path "${path}"`);
}

async function requestFrom(message: IncomingMessage): Promise<FakeRequest> {
  const { pathname, searchParams } = new URL(message.url ?? "/", "https://fake.invalid");
  return {
    method: message.method ?? "",
    path: pathname,
    query: searchParams,
    contentType: message.headers["content-type"] ?? "",
    body: await text(message),
  };
}
