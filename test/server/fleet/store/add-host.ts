import { randomUUID } from "node:crypto";
import type { CertifiedHost } from "../../../../server/fleet/authority/issue-certificate.ts";
import type { Store } from "../../../../server/store/store.ts";

/** Adds a host to the fleet of a store, without a hub. */
export async function addHost(store: Pick<Store, "run">, name: string): Promise<CertifiedHost> {
  const [id, code] = [randomUUID(), randomUUID()];
  const codeHash = new Uint8Array(Buffer.from(code));
  const token = { codeHash, host: null, labels: {}, createdBy: "test", lifetimeMs: 60_000 };
  await store.run("fleet.createToken", token);
  await store.run("fleet.redeemToken", { codeHash, name, id, certificateExpiresAtMs: 0 });
  return { name, id };
}
