import { randomBytes } from "node:crypto";
import type { Clock } from "../sandbox/clock.ts";
import type { MaasAdapter, MaasRelease } from "./adapter.ts";
import type { FakeRange } from "./fake/addresses.ts";
import type { FakeMachineOptions } from "./fake/machine.ts";
import type { FakeImage } from "./fake/region.ts";
import { type MaasFake, startMaasFake } from "./fake/server.ts";
import { createMaas } from "./maas.ts";
import type { MaasApiKey } from "./names.ts";

export interface MaasSandboxOptions {
  /** Machines of the region; by default, six with the tag `standard` and two with `gpu` and `standard`, all free. */
  readonly machines?: readonly FakeMachineOptions[];
  readonly images?: readonly FakeImage[];
  /** Duration of state changes: by default, 5 s for a deployment, 2 s for a release and 3 s for erasing. */
  readonly deployMs?: number;
  readonly releaseMs?: number;
  readonly eraseMs?: number;
  /** The system's clock by default. */
  readonly clock?: Pick<Clock, "nowMs"> | undefined;
  /** Same as in `MaasOptions`. */
  readonly eraseDisks?: MaasRelease["erase"];
  /** Reserved ranges of the subnet 10.20.0.0/24, and whether MAAS manages it; with the fake's defaults. */
  readonly ranges?: readonly FakeRange[];
  readonly isManaged?: boolean;
  /** Same as in the real adapter. */
  readonly readPatienceMs?: number;
  readonly changePatienceMs?: number;
}

/** The sandbox, with changes from outside the gateway. */
export interface MaasSandbox extends MaasAdapter {
  /** The server behind it, which can make machines fail, let other users allocate them, and lose replies. */
  readonly fake: MaasFake;
  /** The same MAAS with an administrator's permissions, who may change our machines. */
  readonly admin: MaasAdapter;
  /** The same MAAS with another account, which is not an administrator. */
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
 * Creates a MAAS in this process: the real client, connected to a fake server on loopback with random keys. It
 * disappears with the process.
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
    clock: options.clock,
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
