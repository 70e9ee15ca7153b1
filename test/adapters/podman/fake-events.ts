import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { createPodman } from "../../../adapters/podman/podman.ts";

/** Podman's event records: one log of a host, which any number of services read. */
export interface FakeRecords {
  /** Records an event of a pod or a container, by the clock of the records. */
  record(type: "pod" | "container", action: string, id: string, attributes: Record<string, string>): void;
  /** Sets the offset of the records' clock from the host's. */
  setClock(aheadMs: number): void;
  /** Discards all records, like a removed log. */
  forget(): void;
  readonly lines: readonly FakeLine[];
  onLine(listener: () => void): void;
}

interface FakeLine {
  readonly seconds: number;
  readonly text: string;
}

export function createFakeRecords(): FakeRecords {
  const lines: FakeLine[] = [];
  const listeners: (() => void)[] = [];
  let aheadMs = 0;
  let count = 0;
  return {
    lines,
    record(type, action, id, attributes) {
      count += 1;
      const timeNs = BigInt(Date.now() + aheadMs) * 1_000_000n + BigInt(count);
      const actor = JSON.stringify({ ID: id, Attributes: attributes });
      const text = `{"Type":"${type}","Action":"${action}","Actor":${actor},"timeNano":${timeNs}}\n`;
      lines.push({ seconds: Number(timeNs) / 1e9, text });
      for (const listener of listeners) {
        listener();
      }
    },
    setClock(ms) {
      aheadMs = ms;
    },
    forget() {
      lines.length = 0;
    },
    onLine: (listener) => void listeners.push(listener),
  };
}

/**
 * Starts a service that reads such records and has no pods left, and a runtime connected to it; closed with the test.
 */
export async function startFakeService(t: Test, records: FakeRecords) {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-podman-test-"));
  const socketPath = join(directory, "podman.sock");
  const streams = new Map<ServerResponse, number>();
  let isHeld = false;
  let readings = 0;

  function emit(count: number): void {
    for (const [stream, from] of streams) {
      const lines = records.lines.slice(from, from + count);
      stream.write(lines.map(({ text }) => text).join(""));
      streams.set(stream, from + lines.length);
    }
  }
  const emitAll = () => (isHeld ? undefined : emit(records.lines.length));
  records.onLine(emitAll);

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://podman");
    if (!url.pathname.endsWith("/events")) {
      response.end("[]");
      return;
    }
    const since = Number(url.searchParams.get("since"));
    const found = records.lines.filter(({ seconds }) => seconds > since).map(({ text }) => text);
    if (url.searchParams.get("stream") === "false") {
      readings += 1;
      response.end(found.join(""));
    } else {
      response.flushHeaders();
      response.write(found.join("") || "\n");
      streams.set(response, records.lines.length);
      response.once("close", () => streams.delete(response));
    }
  });
  await once(server.listen(socketPath), "listening");
  const runtime = createPodman({ socketPath });
  t.teardown(async () => {
    await runtime.close();
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true });
  });

  return {
    runtime,
    /** While held, its streams deliver nothing, but records can still be read. */
    setHeld(held: boolean) {
      isHeld = held;
      emitAll();
    },
    /** Delivers one record nevertheless. */
    emitOne: () => emit(1),
    /** Returns how often the records were read. */
    readings: () => readings,
    /** Closes all streams, like a restart of the service. */
    breakStreams() {
      for (const stream of streams.keys()) {
        stream.destroy();
      }
    },
  };
}

/** Returns the ids of a pod and its container. */
export function idsOf(number: number): { readonly podId: string; readonly containerId: string } {
  const digits = number.toString(16).padStart(32, "0");
  return { podId: digits.padEnd(64, "a"), containerId: digits.padEnd(64, "c") };
}

/** Records the whole life of a pod with one container. */
export function recordLife(records: FakeRecords, number: number): void {
  const { podId, containerId } = idsOf(number);
  const pod = { name: `pod-${number}` };
  const app = { name: `app-${number}`, podId };
  records.record("pod", "create", podId, pod);
  records.record("container", "create", containerId, app);
  records.record("container", "start", containerId, app);
  records.record("container", "died", containerId, { name: app.name, containerExitCode: "3" });
  records.record("container", "remove", containerId, app);
  records.record("pod", "remove", podId, pod);
}
