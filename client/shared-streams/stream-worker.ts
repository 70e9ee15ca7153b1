// The script of a SharedWorker, which makes the streaming calls of all windows of an origin.
import type { StreamPort } from "./port-messages.ts";
import { createStreamHost } from "./stream-host.ts";

interface ConnectEvent {
  readonly ports: readonly StreamPort[];
}

interface SharedWorkerScope {
  addEventListener(type: "connect", listener: (event: ConnectEvent) => void): void;
}

const host = createStreamHost();

(globalThis as unknown as SharedWorkerScope).addEventListener("connect", ({ ports }) => {
  ports.forEach(host.serve);
});
