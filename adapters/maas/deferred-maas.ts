import { createOnce } from "../host/create-once.ts";
import type { MaasAdapter } from "./adapter.ts";

/**
 * Creates an adapter whose MAAS is created on first use, for one that is expensive to create.
 * @param as the properties of the MAAS to create
 * @param make called once, and again after a failure; its errors are thrown by the calls that needed it
 */
export function createDeferredMaas(
  as: Pick<MaasAdapter, "kind" | "url">,
  make: () => Promise<MaasAdapter>,
): MaasAdapter {
  const { get, created } = createOnce(make);

  function deferred<Args extends readonly unknown[], Result>(
    call: (maas: MaasAdapter) => (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result> {
    return async (...args) => call(await get())(...args);
  }

  return {
    ...as,
    whoami: deferred((maas) => maas.whoami),
    version: deferred((maas) => maas.version),
    machines: deferred((maas) => maas.machines),
    machine: deferred((maas) => maas.machine),
    choose: deferred((maas) => maas.choose),
    allocate: deferred((maas) => maas.allocate),
    annotate: deferred((maas) => maas.annotate),
    deploy: deferred((maas) => maas.deploy),
    release: deferred((maas) => maas.release),
    lock: deferred((maas) => maas.lock),
    unlock: deferred((maas) => maas.unlock),
    abort: deferred((maas) => maas.abort),
    markBroken: deferred((maas) => maas.markBroken),
    images: deferred((maas) => maas.images),
    tags: deferred((maas) => maas.tags),
    pools: deferred((maas) => maas.pools),
    addresses: deferred((maas) => maas.addresses),
    subnets: deferred((maas) => maas.subnets),
    addressRanges: deferred((maas) => maas.addressRanges),
    reserveAddress: deferred((maas) => maas.reserveAddress),
    releaseAddress: deferred((maas) => maas.releaseAddress),
    events: deferred((maas) => maas.events),
    inspect: deferred((maas) => maas.inspect),
    async close() {
      await (await created())?.close();
    },
  };
}
