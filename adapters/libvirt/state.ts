import type { LibvirtPool, LibvirtState } from "./adapter.ts";
import { createGpuReader } from "./domains/gpu-reader.ts";
import { type KnownDomain, readKnownDomain } from "./domains/known-domain.ts";
import { unlessGone } from "./errors.ts";
import { libvirtReasons } from "./reasons.ts";
import type { LibvirtClient } from "./rpc/client.ts";
import { isUnsupported } from "./rpc/errors.ts";
import type { LibvirtEvent } from "./rpc/events.ts";
import type { DomainRef, StoragePoolRef } from "./rpc/objects.ts";
import { parsePool } from "./volumes/storage-xml.ts";

export interface StateReader {
  /**
   * Reads what was touched since the previous load, and everything the first time. Returns the whole state.
   * @throws InfraError as the client; everything touched stays touched then
   */
  load(signal: AbortSignal): Promise<LibvirtState>;
  /** Touches the object of an event; returns false if the state does not contain such objects. */
  touchByEvent(event: LibvirtEvent): boolean;
  touchDomain(domain: DomainRef): void;
  /** Touches a pool. Does nothing for an unknown name: libvirt sends an event for a new pool. */
  touchPool(name: string): void;
  touchPools(): void;
  /** Touches everything except host devices, whose changes libvirt always reports. */
  touchAll(): void;
  /** Touches everything, since events are missed without a connection. */
  touchConnection(): void;
}

/** Objects that must be read again. */
interface Touched {
  everything: boolean;
  readonly domains: Map<string, DomainRef>;
  readonly pools: Map<string, StoragePoolRef>;
}

/** Caches libvirt's state and reads again only what may have changed. One load runs at a time. */
export function createStateReader(client: LibvirtClient): StateReader {
  const domains = new Map<string, KnownDomain>();
  const pools = new Map<string, LibvirtPool>();
  const devices = createGpuReader(client);
  let touched: Touched = { everything: true, domains: new Map(), pools: new Map() };

  async function load(signal: AbortSignal): Promise<LibvirtState> {
    await client.ready(signal);
    const work = touched;
    // Objects touched from here on may change after they were read, and are left to the next load.
    touched = { everything: false, domains: new Map(), pools: new Map() };
    try {
      if (work.everything) {
        await Promise.all([readAllDomains(signal), readAllPools(signal)]);
      } else {
        const readings = [
          ...[...work.domains.values()].map((domain) => readDomain(domain, signal)),
          ...[...work.pools.values()].map((pool) => readPool(pool, signal)),
        ];
        await Promise.all(readings);
      }
      await devices.load(signal);
    } catch (error) {
      touched = {
        everything: touched.everything || work.everything,
        domains: new Map([...work.domains, ...touched.domains]),
        pools: new Map([...work.pools, ...touched.pools]),
      };
      throw error;
    }
    return compose();
  }

  async function readAllDomains(signal: AbortSignal): Promise<void> {
    const listed = await client.call("connectListAllDomains", { needResults: true, flags: 0 }, { signal });
    forgetOthers(domains, listed.domains);
    await Promise.all(listed.domains.map((domain) => readDomain(domain, signal)));
  }

  async function readAllPools(signal: AbortSignal): Promise<void> {
    const listed = await unlessUnsupported(
      client.call("connectListAllStoragePools", { needResults: true, flags: 0 }, { signal }),
      { pools: [], count: 0 },
    );
    forgetOthers(pools, listed.pools);
    await Promise.all(listed.pools.map((pool) => readPool(pool, signal)));
  }

  async function readDomain(domain: DomainRef, signal: AbortSignal): Promise<void> {
    const found = await readKnownDomain(client, domain, domains.get(domain.uuid), signal);
    if (found === undefined) {
      domains.delete(domain.uuid);
    } else {
      domains.set(domain.uuid, found);
    }
  }

  async function readPool(pool: StoragePoolRef, signal: AbortSignal): Promise<void> {
    const found = await unlessGone(libvirtReasons.STORAGE_POOL_NOT_FOUND, [
      client.call("storagePoolGetXmlDesc", { pool, flags: 0 }, { signal }),
      client.call("storagePoolIsActive", { pool }, { signal }),
    ]);
    if (found === undefined) {
      pools.delete(pool.uuid);
      return;
    }
    const [{ xml }, { active }] = found;
    const facts = parsePool(xml);
    // An inactive pool's XML has the sizes from when it was active.
    const figures = active ? {} : { capacityBytes: 0n, freeBytes: 0n };
    pools.set(pool.uuid, { ...facts, isActive: active, ...figures });
  }

  function compose(): LibvirtState {
    const gpus = devices.all();
    const seen = [...domains.values()].map(({ facts: { hostDevices, ...facts }, xml: _, ...known }) => ({
      ...facts,
      ...known,
      gpus: gpus.filter(({ pciAddress }) => hostDevices.includes(pciAddress)),
    }));
    return { domains: inOrder(seen), pools: inOrder([...pools.values()]), gpus };
  }

  return {
    load,
    touchByEvent(event) {
      switch (event.kind) {
        case "domainLifecycle":
        case "domainDeviceAdded":
        case "domainDeviceRemoved":
        case "domainMetadata":
          touched.domains.set(event.domain.uuid, event.domain);
          return true;
        case "storagePoolLifecycle":
        case "storagePoolRefreshed":
          touched.pools.set(event.pool.uuid, event.pool);
          return true;
        case "nodeDeviceLifecycle":
        case "nodeDeviceUpdated":
          return devices.touch(event.device.name);
        default:
          return false;
      }
    },
    touchDomain(domain) {
      touched.domains.set(domain.uuid, domain);
    },
    touchPool(name) {
      for (const pool of [...pools.values()].filter((each) => each.name === name)) {
        touched.pools.set(pool.uuid, pool);
      }
    },
    touchPools() {
      for (const pool of pools.values()) {
        touched.pools.set(pool.uuid, pool);
      }
    },
    touchAll() {
      touched.everything = true;
    },
    touchConnection() {
      touched.everything = true;
      devices.touchAll();
    },
  };
}

function inOrder<T extends { readonly name: string }>(values: Iterable<T>): readonly T[] {
  return [...values].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function forgetOthers(known: Map<string, unknown>, listed: readonly { readonly uuid: string }[]): void {
  const uuids = new Set(listed.map(({ uuid }) => uuid));
  for (const uuid of known.keys()) {
    if (!uuids.has(uuid)) {
      known.delete(uuid);
    }
  }
}

/** Returns a default if libvirt's driver does not support the call. */
async function unlessUnsupported<T>(call: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (isUnsupported(error)) {
      return otherwise;
    }
    throw error;
  }
}
