import type { Test } from "tap";
import { type ClientOptions, createHostplaneClient, type HostplaneClient } from "../../../client/client.ts";
import type { StreamPort, StreamWorker } from "../../../client/shared-streams/port-messages.ts";
import { createStreamHost } from "../../../client/shared-streams/stream-host.ts";

/** Clients as in windows of one browser, which share a worker. */
export interface Windows {
  /** Creates the client of another window. */
  open(options: ClientOptions): HostplaneClient;
  /** Paths of the worker's requests. */
  readonly requests: readonly string[];
}

/**
 * Simulates SharedWorker with a host in this process, which the ports of all windows lead to.
 * @param cookie returns the token of all requests of the worker, as a browser adds its cookie
 */
export function createWindows(t: Test, cookie?: () => string): Windows {
  const requests: string[] = [];
  const ports: MessagePort[] = [];
  const host = createStreamHost((input, init) => {
    requests.push(new URL(String(input)).pathname);
    const headers = new Headers(init?.headers);
    if (cookie !== undefined) {
      headers.set("authorization", `Bearer ${cookie()}`);
    }
    return fetch(input, { ...init, headers });
  });
  const scope = globalThis as { SharedWorker?: unknown };
  scope.SharedWorker = class {};
  t.teardown(() => {
    delete scope.SharedWorker;
    for (const port of ports) {
      port.close();
    }
  });
  const startWorker = (): StreamWorker => {
    const { port1, port2 } = new MessageChannel();
    ports.push(port1, port2);
    host.serve(port1 as unknown as StreamPort);
    return { port: port2 as unknown as StreamPort, addEventListener: () => {} };
  };
  return { open: (options) => createHostplaneClient({ ...options, streamWorker: startWorker }), requests };
}
