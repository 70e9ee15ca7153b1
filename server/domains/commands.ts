import type { Noun } from "../cli/table/command.ts";

/** A noun of the command line, whose commands are imported when they are used. */
export interface LazyNoun {
  /** Heading in the help of the program. */
  readonly group: string;
  readonly summary: string;
  /** Whether its commands are the hub's own in a fleet, and never those of a host. */
  readonly isFleetWide?: boolean;
  load(): Promise<Noun>;
}

const overview = "Overview:";
const systems = "Systems:";
const access = "Access:";

/**
 * The nouns of all domains, in the order of the help. A table of its own, since a start of the command line must not wait for the
 * configuration and the contract of every domain.
 */
export const nouns: Readonly<Record<string, LazyNoun>> = {
  status: {
    group: overview,
    summary: "show the gateway and its systems, problems first; fail if there are any",
    load: async () => (await import("./system/commands.ts")).statusNoun,
  },
  get: {
    group: overview,
    summary: "list resources of all domains, such as volumes, hypervisors, pods, OSDs, clusters and backups",
    load: async () => (await import("./inventory/commands.ts")).getNoun,
  },
  events: {
    group: overview,
    summary: "follow events until interrupted",
    load: async () => (await import("./events/commands.ts")).eventsNoun,
  },
  history: {
    group: overview,
    summary: "show how the figures and states of a resource have changed",
    load: async () => (await import("./history/commands.ts")).historyNoun,
  },
  operation: {
    group: overview,
    summary: "manage long-running operations",
    load: async () => (await import("./operations/commands.ts")).operationNoun,
  },
  plan: {
    group: overview,
    summary: "print what a call would change or lose, and its commands; changes nothing",
    load: async () => (await import("./plan/commands.ts")).planNoun,
  },
  approve: {
    group: overview,
    summary: "approve a saved plan of another caller, or break the glass at the admin socket",
    load: async () => (await import("./plan/approve-command.ts")).approveNoun,
  },
  host: {
    group: overview,
    summary: "manage the hosts of a fleet, and this gateway as one of them",
    isFleetWide: true,
    load: async () => (await import("./fleet/commands.ts")).hostNoun,
  },
  volume: {
    group: systems,
    summary: "manage LVM volumes and their snapshots",
    load: async () => (await import("./volumes/commands.ts")).volumeNoun,
  },
  backup: {
    group: systems,
    summary: "manage backups of volumes",
    load: async () => (await import("./backups/commands.ts")).backupNoun,
  },
  hypervisor: {
    group: systems,
    summary: "list, create and destroy hypervisors",
    load: async () => (await import("./hypervisors/commands.ts")).hypervisorNoun,
  },
  pool: {
    group: systems,
    summary: "manage the storage pool that hypervisors share",
    load: async () => (await import("./hypervisors/commands.ts")).poolNoun,
  },
  pod: {
    group: systems,
    summary: "manage Podman pods and read their logs",
    load: async () => (await import("./pods/commands.ts")).podNoun,
  },
  image: {
    group: systems,
    summary: "list, pull and remove Podman images",
    load: async () => (await import("./pods/commands.ts")).imageNoun,
  },
  storage: {
    group: systems,
    summary: "show and manage a Ceph cluster and its nodes",
    load: async () => (await import("./storage/commands.ts")).storageNoun,
  },
  cluster: {
    group: systems,
    summary: "manage Kubernetes clusters on MAAS machines",
    load: async () => (await import("./clusters/commands.ts")).clusterNoun,
  },
  user: {
    group: access,
    summary: "manage users and their roles",
    isFleetWide: true,
    load: async () => (await import("./auth/commands.ts")).userNoun,
  },
  token: {
    group: access,
    summary: "manage API tokens",
    isFleetWide: true,
    load: async () => (await import("./auth/commands.ts")).tokenNoun,
  },
  access: {
    group: access,
    summary: "explain what users and tokens may do",
    isFleetWide: true,
    load: async () => (await import("./auth/commands.ts")).accessNoun,
  },
  key: {
    group: access,
    summary: "manage the keys that sign logins",
    isFleetWide: true,
    load: async () => (await import("./auth/commands.ts")).keyNoun,
  },
  audit: {
    group: access,
    summary: "read the audit log",
    load: async () => (await import("./audit/commands.ts")).auditNoun,
  },
};
