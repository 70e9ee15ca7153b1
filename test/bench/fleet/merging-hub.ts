import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { mergeHostEvents } from "../../../server/fleet/events/merge-host-events.ts";
import { createHostLinks } from "../../../server/fleet/hub/host-links.ts";
import { openHubHosts } from "../../../server/fleet/hub/hub-hosts.ts";
import { gatewayModules } from "../../../server/gateway/store-modules.ts";
import { openStore } from "../../../server/store/open-store.ts";
import type { Store } from "../../../server/store/store.ts";
import { eventUnderBench } from "../fan-out/event-under-bench.ts";
import { answerParent } from "../servers/bench-process.ts";

// A hub's links, store and followers, without the rest of a gateway.

const opened = new AsyncDisposableStack();
const fail = (message: string, cause?: unknown) => {
  throw new Error(message, { cause });
};

async function openBenchStore(): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const store = await openStore({
    url: "sqlite",
    directory,
    kind: "real",
    keyCheck: "bench",
    log: { info() {}, warn: fail, fatal: fail },
    modules: gatewayModules,
  });
  opened.defer(() => store.close());
  return store;
}

const [store, ownStore] = [await openBenchStore(), await openBenchStore()];
const hosts = await openHubHosts(store, (error) => fail("the hosts cannot be read", error));
opened.defer(() => hosts.close());
const links = createHostLinks();
opened.defer(() => links.close());
let joinedSeq = 0;

async function addHost(name: string): Promise<void> {
  const codeHash = new Uint8Array(Buffer.from(randomUUID()));
  const token = { codeHash, host: null, labels: {}, createdBy: "bench", lifetimeMs: 60_000 };
  await store.run("fleet.createToken", token);
  await store.run("fleet.redeemToken", { codeHash, name, id: randomUUID(), certificateExpiresAtMs: 0 });
}

const headSeq = async () => (await store.run("events.head", undefined)).headSeq;

const answers = {
  /** Adds hosts, and returns the port to which each of them connects once. */
  async listen(count: number): Promise<number> {
    for (let index = 0; index < count; index += 1) {
      await addHost(`node-${index + 1}`);
    }
    await hosts.refresh();
    joinedSeq = await headSeq();
    const waiting = [...hosts.list()];
    const server = createServer((socket) => {
      const host = waiting.shift();
      if (host !== undefined) {
        void links.add(host, async () => socket);
      }
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    opened.defer(() => void server.close());
    const hub = { name: "hub", hosts, links };
    const merge = mergeHostEvents({ hub, store, instanceId: randomUUID(), log: { warn: fail } });
    opened.defer(() => merge.close());
    return (server.address() as AddressInfo).port;
  },
  /** Resolves when the log has this many events of hosts. */
  async merged(count: number): Promise<void> {
    while ((await headSeq()) - joinedSeq < count) {
      await delay(5);
    }
  },
  /** Appends events of the hub itself to another store. Returns how long that took, in milliseconds. */
  async append(count: number): Promise<number> {
    const beganAtMs = performance.now();
    for (let index = 0; index < count; index += 64) {
      const size = Math.min(64, count - index);
      const events = Array.from({ length: size }, (_, at) => eventUnderBench(index + at));
      await ownStore.run("events.append", { events });
    }
    return performance.now() - beganAtMs;
  },
};

export type MergingHub = typeof answers;

answerParent(answers, () => opened.disposeAsync());
