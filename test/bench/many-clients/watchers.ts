import { setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { answerParent, cpuMs } from "../servers/bench-process.ts";
import { sharedClockMs } from "./clock.ts";
import { openWatchConnection, type WatchConnectionOptions, type WatchStream } from "./watch-connection.ts";

/** The questions that the watchers' process answers. */
export type Watchers = Readonly<{
  /** Resolves when each stream of each connection has its first message, with the number of connections that were retried. */
  open: (options: OpenWatches) => Promise<number>;
  /** Starts counting messages. */
  begin: () => void;
  /** Returns the figures since `begin`. @throws Error when a stream has ended */
  end: (markersSentAtMs: readonly number[]) => Arrivals;
}>;

export interface OpenWatches {
  readonly port: number;
  /** One connection per token. */
  readonly tokens: readonly string[];
  readonly streamsPerConnection: number;
}

export interface Arrivals {
  readonly messages: number;
  /** Time from sending a change to receiving a state that includes it, over all streams and markers. */
  readonly eventP50Ms: number;
  readonly eventP99Ms: number;
  readonly eventMaxMs: number;
  /** Number of streams that missed a marker. */
  readonly behind: number;
  readonly cpuMs: number;
}

/** Number of loopback addresses that share the connections. */
const addresses = 8;
const opening = 8;
const attempts = 5;
/** A dashboard's first pause. */
const retryMs = 250;

/** Less free space means that the marker volume exists (volume-load.ts). */
const markedBelowGib = 4.5;

interface MarkedStream {
  isMarked: boolean;
  readonly changedAtMs: number[];
}

const sockets: TLSSocket[] = [];
const marked = new Map<WatchStream, MarkedStream>();
let messages = 0;
let beganCpuMs = 0;
let retries = 0;
let broken: Error | undefined;

function takeMessage(stream: WatchStream): void {
  messages += 1;
  const isMarked = stream.freeGib < markedBelowGib;
  const before = marked.get(stream);
  if (before === undefined) {
    marked.set(stream, { isMarked, changedAtMs: [] });
  } else if (before.isMarked !== isMarked) {
    before.isMarked = isMarked;
    before.changedAtMs.push(sharedClockMs());
  }
}

/** While many connections are opened, some are refused for a moment; a dashboard tries again. */
async function openOne(
  options: Omit<WatchConnectionOptions, "onMessage" | "onBroken">,
  attempt = 1,
): Promise<TLSSocket> {
  const streams = new Set<WatchStream>();
  const onMessage = (stream: WatchStream) => {
    streams.add(stream);
    takeMessage(stream);
  };
  const onBroken = (error: Error) => {
    broken ??= error;
  };
  try {
    return await openWatchConnection({ ...options, onMessage, onBroken });
  } catch (error) {
    for (const stream of streams) {
      marked.delete(stream);
    }
    if (attempt === attempts) {
      throw error;
    }
    retries += 1;
    await delay(retryMs);
    return openOne(options, attempt + 1);
  }
}

// Lower priority than the process that measures calls, so that its figures do not include waiting for this one.
setPriority(5);

answerParent(
  {
    async open({ port, tokens, streamsPerConnection }: OpenWatches) {
      const left = [...tokens.entries()];
      const openNext = async () => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          const [index, token] = next;
          const localAddress = `127.0.2.${1 + (index % addresses)}`;
          sockets.push(await openOne({ port, token, localAddress, streamCount: streamsPerConnection }));
        }
      };
      await Promise.all(Array.from({ length: opening }, openNext));
      return retries;
    },
    begin() {
      messages = 0;
      beganCpuMs = cpuMs();
      for (const { changedAtMs } of marked.values()) {
        changedAtMs.length = 0;
      }
    },
    end(markersSentAtMs: readonly number[]): Arrivals {
      if (broken !== undefined) {
        throw broken;
      }
      const streams = [...marked.values()];
      const arrived = streams.filter(({ changedAtMs }) => changedAtMs.length === markersSentAtMs.length);
      const latencies = Float64Array.from(
        arrived.flatMap(({ changedAtMs }) =>
          changedAtMs.map((atMs, index) => atMs - (markersSentAtMs[index] ?? 0)),
        ),
      ).sort();
      const quantile = (share: number) => latencies[Math.ceil(latencies.length * share) - 1] ?? Number.NaN;
      return {
        messages,
        eventP50Ms: quantile(0.5),
        eventP99Ms: quantile(0.99),
        eventMaxMs: quantile(1),
        behind: streams.length - arrived.length,
        cpuMs: cpuMs() - beganCpuMs,
      };
    },
  },
  () => {
    for (const socket of sockets) {
      socket.destroy();
    }
    process.exit();
  },
);
