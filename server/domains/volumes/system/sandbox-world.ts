import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { LvmStep } from "../../../../adapters/lvm/adapter.ts";
import type { SandboxVolume, SandboxVolumeGroup } from "../../../../adapters/lvm/sandbox.ts";
import type { SandboxTransfer } from "../../../../adapters/restic/sandbox-transfers.ts";
import type { Random } from "../../../../adapters/sandbox/random.ts";
import type { StepFault } from "../../../../adapters/sandbox/step-faults.ts";
import type { DeviceClass } from "../device-class.ts";

/** Further device classes of the demo world, and the volumes in them. */
export interface VolumeWorld {
  readonly deviceClasses: readonly DeviceClass[];
  readonly volumeGroups: readonly SandboxVolumeGroup[];
}

const gibibyte = 1n << 30n;

const nvme = { name: "sandbox-nvme", volumeGroup: "sandbox-nvme-vg", default: false, spareGiB: 10 } as const;
const hdd = { name: "sandbox-hdd", volumeGroup: "sandbox-hdd-vg", default: false, spareGiB: 10 } as const;

/** Share of each group that its volumes use, in percent: `sandbox-hdd` is nearly full. */
const usedPercent = { nvme: 60n, hdd: 94n };

/** Volumes of the world's backups (server/sandbox/world-deeds.ts). */
const backedUp: readonly SandboxVolume[] = [
  volume("db-warehouse-data", 1_200n, ["app=db", "env=production", "backup=daily"]),
  volume("db-orders-data", 120n, ["app=db", "env=production", "backup=daily"]),
  volume("db-users-data", 40n, ["app=db", "env=production", "backup=daily"]),
  volume("git-repositories", 80n, ["app=git", "env=production", "backup=daily"]),
  volume("build-cache", 60n, ["app=build", "env=staging"]),
  volume("mail-spool", 30n, ["app=mail", "env=production", "backup=daily"]),
];

const apps: Readonly<Record<string, readonly string[]>> = {
  web: ["assets", "uploads", "logs"],
  shop: ["catalog-data", "images", "search-index"],
  db: ["orders-wal", "users-wal", "inventory-data", "reporting-data"],
  billing: ["invoices", "ledger-data"],
  auth: ["sessions", "directory-data"],
  media: ["originals", "thumbnails", "transcodes"],
  build: ["artifacts", "workspaces"],
  logs: ["hot", "archive"],
  metrics: ["tsdb", "longterm"],
  wiki: ["attachments", "pages-data"],
  chat: ["messages-data", "files"],
  queue: ["broker-data", "dead-letters"],
  crm: ["contacts-data", "documents"],
  backup: ["staging"],
};

/** Parts that are large, read rarely and on slow disks. */
const onHdd =
  /assets|uploads|logs|images|originals|thumbnails|transcodes|artifacts|archive|longterm|documents|files|staging/;

/** Returns this many volumes: those that are backed up, and further ones. */
export function createVolumeWorld(random: Random, count: number): VolumeWorld {
  const names = Object.entries(apps).flatMap(([app, parts]) => parts.map((part) => ({ app, part })));
  const further = Array.from({ length: Math.max(0, count - backedUp.length) }, (_, index) => {
    const { app, part } = names[index % names.length] as (typeof names)[number];
    const round = Math.floor(index / names.length);
    return { part, volume: furtherVolume(random, app, round === 0 ? part : `${part}-${round + 1}`) };
  });
  const [slow = [], fast = []] = [true, false].map((isSlow) =>
    further.filter(({ part }) => onHdd.test(part) === isSlow).map((each) => each.volume),
  );
  return {
    deviceClasses: [nvme, hdd],
    volumeGroups: [
      groupOf(nvme.volumeGroup, [...backedUp, ...fast], usedPercent.nvme),
      groupOf(hdd.volumeGroup, slow, usedPercent.hdd),
    ],
  };
}

/** The disk of this volume has a bad sector, so its backup fails. */
export const unreadableVolume: StepFault<SandboxTransfer> = ({ kind, tags = [] }) =>
  kind === "backup" && tags.some((tag) => tag.endsWith("/build-cache"))
    ? new InfraError(hostReasons.TOOL_FAILED, "read /dev/sandbox-nvme-vg/build-cache: input/output error")
    : undefined;

/**
 * Something keeps snapshots of `mail-spool` open, so that removing them fails. As a fault for a limited number of steps, it
 * lets a later retry succeed.
 */
export function createOpenSnapshots(): StepFault<LvmStep> {
  const open = new Set<string>();
  return (step) => {
    if (step.kind === "snapshot" && step.originName === "mail-spool") {
      open.add(step.name);
    }
    return step.kind === "remove" && open.has(step.name)
      ? new InfraError(
          hostReasons.VOLUME_IN_USE,
          `Logical volume ${step.volumeGroupName}/${step.name} in use.`,
        )
      : undefined;
  };
}

function volume(name: string, sizeGib: bigint, tags: readonly string[]): SandboxVolume {
  return { name, sizeBytes: sizeGib * gibibyte, tags, open: true };
}

function furtherVolume(random: Random, app: string, part: string): SandboxVolume {
  const isSmall = /wal|sessions|queue|dead|index/.test(part);
  const sizeGib = isSmall ? random.integer(2, 16) : 10 * random.integer(1, 24);
  const env = random.pick(["production", "production", "production", "staging", "test"]);
  const backup = part.endsWith("data") && env === "production" ? ["backup=daily"] : [];
  const tags = [`app=${app}`, `env=${env}`, ...backup];
  return { ...volume(`${app}-${part}`, BigInt(sizeGib), tags), open: env !== "test" };
}

function groupOf(name: string, volumes: readonly SandboxVolume[], percent: bigint): SandboxVolumeGroup {
  const usedBytes = volumes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
  return { name, sizeBytes: ((usedBytes * 100n) / percent / gibibyte + 1n) * gibibyte, volumes };
}
