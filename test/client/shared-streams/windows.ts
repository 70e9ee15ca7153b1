import type { Test } from "tap";
import { type ClientOptions, createHostplaneClient, type HostplaneClient } from "../../../client/client.ts";
import type { StreamPort, StreamWorker } from "../../../client/shared-streams/port-messages.ts";
import { createStreamHost } from "../../../client/shared-streams/stream-host.ts";

/** Clients as in windows of one browser, and the requests of the worker that they share. */
export interface Windows {
  /** Creates the client of another window. */
  open(options: ClientOptions): HostplaneClient;
  /** Paths of the worker's requests. */
  readonly requests: readonly string[];
  /** Makes the worker ignore all windows, as if it had crashed. The next window to connect starts another one. */
  crash(): void;
}

/** Simulates SharedWorker with a host in this process, which the ports of all windows lead to. */
export function createWindows(t: Test): Windows {
  const requests: string[] = [];
  const ports: MessagePort[] = [];
  const createHost = () =>
    createStreamHost((input, init) => {
      requests.push(new URL(String(input)).pathname);
      return fetch(input, init);
    });
  let host = createHost();
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
  return {
    open: (options) => createHostplaneClient({ ...options, streamWorker: startWorker }),
    requests,
    crash() {
      for (const port of ports.splice(0)) {
        port.close();
      }
      host = createHost();
    },
  };
}
