import type { Store } from "../../store/store.ts";
import { maxHubs } from "../join-token.ts";
import type { HubRecord } from "../store/hubs.ts";
import type { OpenLinks } from "./host-links.ts";
import { sendHubs } from "./send-hubs.ts";

/** All hubs of the fleet: this one, and those that share its database. */
export interface Hubs {
  /** Addresses of all hubs for agents, as `host:port`, in order. */
  addresses(): readonly string[];
  /** Names of the hubs that a host is connected to, in order; of other hubs as of the last seconds. */
  connectedTo(hostId: string): readonly string[];
  /** Calls back after another hub has changed. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
  /** From now on reports this hub to the others, and all hubs to the agents. */
  begin(): void;
  close(): Promise<void>;
}

export interface HubsOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  /** Identifies this process. */
  readonly instanceId: string;
  /** Name of this hub. */
  readonly name: string;
  readonly ownAddresses: () => readonly string[];
  readonly links: OpenLinks;
  readonly log: { warn(message: string, cause?: unknown): void };
}

/** How often a hub reports that it is alive, and reads which of the others are. */
const everyMs = 5000;

/** Many agents connect at once after a hub has started: their connections are reported together. */
const pauseMs = 100;

/** Reads the hubs of the database. @throws InfraError STORE_UNAVAILABLE */
export async function openHubs(options: HubsOptions): Promise<Hubs> {
  const { store, instanceId, name, ownAddresses, links, log } = options;
  const listeners = new Set<() => void>();
  const stops: (() => void)[] = [];
  let others: readonly HubRecord[] = [];
  let sent = "";
  let isFailing = false;
  let last: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    const records = await store.run("fleet.hubs", undefined);
    const known = JSON.stringify(others);
    others = records.filter((record) => record.instanceId !== instanceId);
    if (JSON.stringify(others) !== known) {
      for (const listener of [...listeners]) {
        listener();
      }
    }
  }

  function addresses(): readonly string[] {
    const all = new Set([...ownAddresses(), ...others.flatMap((hub) => hub.addresses)]);
    return [...all].slice(0, maxHubs).toSorted();
  }

  function sendIfChanged(): void {
    const current = addresses();
    if (sent !== current.join()) {
      sent = current.join();
      for (const host of links.hosts()) {
        sendHubs(links.find(host), current);
      }
    }
  }

  async function note(hostIds: readonly string[]): Promise<void> {
    await store.run("fleet.noteHub", { instanceId, name, addresses: ownAddresses(), hostIds });
  }

  const report = () => enqueue(() => note(links.connected().map(({ id }) => id)));

  /** Works one after the other, so that no earlier state replaces a later one. */
  function enqueue(write: () => Promise<void>): void {
    last = last.then(async () => {
      try {
        await write();
        await read();
        sendIfChanged();
        isFailing = false;
      } catch (error) {
        if (!isFailing) {
          isFailing = true;
          log.warn("the hubs of the fleet cannot be read", error);
        }
      }
    });
  }

  await read();
  return {
    addresses,
    connectedTo(hostId) {
      const own = links.connected().some(({ id }) => id === hostId) ? [name] : [];
      const elsewhere = others.filter(({ hostIds }) => hostIds.includes(hostId)).map((hub) => hub.name);
      return [...new Set([...own, ...elsewhere])].toSorted();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    begin() {
      let pause: NodeJS.Timeout | undefined;
      const timer = store.isShared ? setInterval(report, everyMs).unref() : undefined;
      stops.push(
        () => clearInterval(timer),
        () => clearTimeout(pause),
        () => enqueue(() => note([])),
        store.subscribe("hubs", () => enqueue(async () => {})),
        links.onChange((host) => {
          sendHubs(links.find(host), addresses());
          clearTimeout(pause);
          pause = setTimeout(report, pauseMs).unref();
        }),
      );
      report();
    },
    async close() {
      for (const stop of stops.splice(0)) {
        stop();
      }
      await last;
    },
  };
}
