import { randomBytes } from "node:crypto";
import type { MaasAdapter, MaasRelease } from "./adapter.ts";
import type { FakeRange } from "./fake/addresses.ts";
import type { FakeMachineOptions } from "./fake/machine.ts";
import type { FakeImage } from "./fake/region.ts";
import { type MaasFake, startMaasFake } from "./fake/server.ts";
import { createMaas } from "./maas.ts";
import type { MaasApiKey } from "./names.ts";

export interface MaasSandboxOptions {
  /** Six with the tag `standard` and two with `gpu` and `standard`, all free, unless told. */
  readonly machines?: readonly FakeMachineOptions[];
  readonly images?: readonly FakeImage[];
  /** How long machines take: 5 s to be deployed, 2 s to be released and 3 s to be erased unless told. */
  readonly deployMs?: number;
  readonly releaseMs?: number;
  readonly eraseMs?: number;
  /** As `MaasOptions` has it. */
  readonly eraseDisks?: MaasRelease["erase"];
  /** What is set apart in the subnet 10.20.0.0/24, and whether MAAS manages it; as the fake's default. */
  readonly ranges?: readonly FakeRange[];
  readonly isManaged?: boolean;
  /** As those of the real one. */
  readonly readPatienceMs?: number;
  readonly changePatienceMs?: number;
}

/** The sandbox with what others could do to it. */
export interface MaasSandbox extends MaasAdapter {
  /** What is behind it: machines fail, others take them, and replies are lost on request. */
  readonly fake: MaasFake;
  /** The same MAAS by an administrator's rights, who may do to our machines what he likes. */
  readonly admin: MaasAdapter;
  /** The same MAAS by another account, which is no administrator. */
  readonly other: MaasAdapter;
}

const idLetters = "abcdefgh";

const defaultMachines: readonly FakeMachineOptions[] = [...idLetters].map((letter, index) => ({
  systemId: `sbx${letter}${letter}${letter}`,
  hostname: `sandbox-node-${index + 1}`,
  tags: index < 6 ? ["standard"] : ["gpu", "standard"],
  pool: index < 4 ? "default" : "kube",
}));

const defaultImages: readonly FakeImage[] = [
  { name: "ubuntu/jammy", type: "Synced" },
  { name: "ubuntu/noble", type: "Synced" },
  ...["1.34.8", "1.35.4", "1.36.3"].flatMap((version): FakeImage[] => [
    { name: `os=ubuntu-noble,k8s=${version},standard`, type: "Uploaded" },
    { name: `os=ubuntu-noble,k8s=${version},gpu`, type: "Uploaded" },
  ]),
];

function newApiKey(): MaasApiKey {
  const [consumer = "", token = "", secret = ""] = [9, 9, 16].map((size) =>
    randomBytes(size).toString("hex"),
  );
  return { consumer, token, secret };
}

/**
 * A MAAS of this process: the client that real ones have, before a server on loopback whose keys nobody else knows. It vanishes
 * with the process.
 */
export async function createMaasSandbox(options: MaasSandboxOptions = {}): Promise<MaasSandbox> {
  const [ourKey, adminKey, otherKey] = [newApiKey(), newApiKey(), newApiKey()];
  const fake = await startMaasFake({
    users: [
      { username: "sandbox", isAdmin: false, apiKey: ourKey },
      { username: "sandbox-admin", isAdmin: true, apiKey: adminKey },
      { username: "sandbox-other", isAdmin: false, apiKey: otherKey },
    ],
    machines: options.machines ?? defaultMachines,
    images: options.images ?? defaultImages,
    tags: ["gpu", "standard"],
    pools: ["default", "kube"],
    zones: ["default"],
    deployMs: options.deployMs ?? 5_000,
    releaseMs: options.releaseMs ?? 2_000,
    eraseMs: options.eraseMs ?? 3_000,
    ranges: options.ranges,
    isManaged: options.isManaged,
  });
  const { readPatienceMs, changePatienceMs } = options;
  const as = { kind: "sandbox", url: "http://sandbox.invalid/MAAS" } as const;
  const connect = (apiKey: MaasApiKey) =>
    createMaas({
      url: fake.url,
      apiKey,
      as,
      readPatienceMs,
      changePatienceMs,
      ...(options.eraseDisks === undefined ? {} : { eraseDisks: options.eraseDisks }),
    });
  const [ours, admin, other] = [connect(ourKey), connect(adminKey), connect(otherKey)];
  return {
    ...ours,
    fake,
    admin,
    other,
    async close() {
      await Promise.all([ours.close(), admin.close(), other.close()]);
      await fake.close();
    },
  };
}
