import { type FakeRange, type FakeSubnet, nextNumber, rangeOf } from "./addresses.ts";
import { changedMachine, type MachineChange, type StateViolation } from "./changed-machine.ts";
import type { FakeUser } from "./check-signature.ts";
import { type FakeMachine, type FakeMachineOptions, newFakeMachine } from "./machine.ts";

export interface FakeImage {
  /** E.g. `ubuntu/noble`, or the name given at upload. */
  readonly name: string;
  readonly type: "Synced" | "Uploaded";
  readonly architecture?: string;
}

export interface FakeEvent {
  readonly id: number;
  readonly systemId: string;
  readonly hostname: string;
  readonly type: string;
  readonly description: string;
  readonly atMs: number;
}

export interface FakeRegionOptions {
  readonly machines: readonly FakeMachineOptions[];
  readonly images: readonly FakeImage[];
  readonly tags: readonly string[];
  readonly pools: readonly string[];
  readonly zones: readonly string[];
  readonly users: readonly FakeUser[];
  /** Duration of state changes; Infinity if a test completes them with `finish`. */
  readonly deployMs: number;
  readonly releaseMs: number;
  readonly eraseMs: number;
  /** Prefix of the addresses of its /24 subnet; `10.20.0` by default. */
  readonly addressPrefix?: string | undefined;
  /** Whether MAAS assigns all addresses outside `ranges`, or only those in reserved ranges; true by default. */
  readonly isManaged?: boolean | undefined;
  /** A dynamic range from 240 to 254 by default. */
  readonly ranges?: readonly FakeRange[] | undefined;
  /** Called after each change of a machine, whatever its source. */
  readonly onChange?: ((before: FakeMachine, change: MachineChange, after: FakeMachine) => void) | undefined;
  readonly nowMs: () => number;
}

type Outcome = "deployed" | "deploymentFailed" | "released" | "releaseFailed" | "erased" | "aborted";

/** The content of a MAAS region. Time passes when the region is accessed: all due changes happen before the access. */
export interface FakeRegion {
  readonly options: FakeRegionOptions;
  readonly images: FakeImage[];
  /** Returns the machines in the order in which they were added. */
  machines(): readonly FakeMachine[];
  machine(systemId: string): FakeMachine | undefined;
  add(machine: FakeMachineOptions): void;
  remove(systemId: string): void;
  change(systemId: string, change: MachineChange): FakeMachine | StateViolation;
  /** Completes the current state change of a machine, successfully or as specified. */
  finish(systemId: string, outcome?: "failed"): void;
  /** Makes the next state change of a machine fail; calls accumulate. */
  failNext(systemId: string): void;
  /** Reservations by address. */
  readonly reservations: Map<string, { readonly username: string; readonly hostname: string }>;
  /** Its only subnet. */
  readonly subnet: FakeSubnet;
  /** Returns the address that MAAS assigns next. */
  freeAddress(): string | undefined;
  /** Returns the range that contains an address of the subnet. */
  rangeOf(type: FakeRange["type"], address: string): FakeRange | undefined;
  isAddressTaken(address: string): boolean;
  /** Adds cloud-init's report about a machine whose first boot fails, e.g. `'cloudinit' …`. */
  reportFailure(systemId: string, description: string): void;
  /** Newest first. */
  events(systemId: string): readonly FakeEvent[];
}

export const defaultAddressPrefix = "10.20.0";
const defaultRanges: readonly FakeRange[] = [{ type: "dynamic", first: 240, last: 254 }];

/** Creates the region with its machines. Changes that take time end `deployMs`, `releaseMs` or `eraseMs` after they began. */
export function createFakeRegion(options: FakeRegionOptions): FakeRegion {
  const { nowMs, deployMs, releaseMs, eraseMs, addressPrefix = defaultAddressPrefix } = options;
  const { isManaged = true, ranges = defaultRanges } = options;
  const subnet: FakeSubnet = { isManaged, ranges };
  const machines = new Map(options.machines.map((each) => [each.systemId, newFakeMachine(each)]));
  const due = new Map<string, { readonly atMs: number; readonly outcome: Outcome }>();
  const failing = new Map<string, number>();
  const events: FakeEvent[] = [];
  const reservations: FakeRegion["reservations"] = new Map();

  function note({ systemId, hostname }: FakeMachine, change: MachineChange, atMs: number): void {
    const type = eventOf[change.kind];
    if (type !== undefined) {
      const description = change.kind === "markBroken" ? change.comment : "";
      events.push({ id: events.length + 1, systemId, hostname, type, description, atMs });
    }
  }

  function takesFailure(systemId: string): boolean {
    const left = failing.get(systemId) ?? 0;
    failing.set(systemId, Math.max(left - 1, 0));
    return left > 0;
  }

  /** Schedules what happens to a machine by itself. */
  function plan({ systemId, status }: FakeMachine, { kind }: MachineChange, atMs: number): void {
    if (kind === "abort") {
      // The reply still has the old state.
      due.set(systemId, { atMs, outcome: "aborted" });
    } else if (kind === "deploy") {
      const outcome = takesFailure(systemId) ? "deploymentFailed" : "deployed";
      due.set(systemId, { atMs: atMs + deployMs, outcome });
    } else if (kind === "release" && status === "diskErasing") {
      due.set(systemId, { atMs: atMs + eraseMs, outcome: "erased" });
    } else if ((kind === "release" || kind === "erased") && status === "releasing") {
      const outcome = takesFailure(systemId) ? "releaseFailed" : "released";
      due.set(systemId, { atMs: atMs + releaseMs, outcome });
    } else if (kind === "release" || kind === "markBroken") {
      due.delete(systemId);
    }
  }

  function apply(machine: FakeMachine, change: MachineChange, atMs: number): FakeMachine | StateViolation {
    const changed = changedMachine(machine, change);
    if ("violation" in changed) {
      return changed;
    }
    machines.set(machine.systemId, changed);
    if (changed !== machine) {
      plan(changed, change, atMs);
      note(changed, change, atMs);
      options.onChange?.(machine, change, changed);
    }
    return changed;
  }

  function settle(): void {
    for (const machine of machines.values()) {
      let next = due.get(machine.systemId);
      while (next !== undefined && next.atMs <= nowMs()) {
        due.delete(machine.systemId);
        apply(machines.get(machine.systemId) ?? machine, { kind: next.outcome }, next.atMs);
        next = due.get(machine.systemId);
      }
      const now = machines.get(machine.systemId);
      // Also for a machine that was not read while it was deploying.
      const isInstalled = now?.status === "deploying" || now?.status === "deployed";
      if (isInstalled && now.address === undefined) {
        machines.set(now.systemId, { ...now, address: freeAddress() });
      }
    }
  }

  function isAddressTaken(address: string): boolean {
    return reservations.has(address) || [...machines.values()].some((each) => each.address === address);
  }

  function freeAddress(): string | undefined {
    const number = nextNumber(subnet, (each) => isAddressTaken(`${addressPrefix}.${each}`));
    return number === undefined ? undefined : `${addressPrefix}.${number}`;
  }

  return {
    options,
    images: [...options.images],
    reservations,
    subnet,
    rangeOf: (type, address) => rangeOf(subnet, type, Number(address.split(".")[3])),
    freeAddress() {
      settle();
      return freeAddress();
    },
    isAddressTaken(address) {
      settle();
      return isAddressTaken(address);
    },
    machines() {
      settle();
      return [...machines.values()];
    },
    machine(systemId) {
      settle();
      return machines.get(systemId);
    },
    add(machine) {
      machines.set(machine.systemId, newFakeMachine(machine));
    },
    remove(systemId) {
      machines.delete(systemId);
      due.delete(systemId);
    },
    change(systemId, change) {
      settle();
      const machine = machines.get(systemId);
      return machine === undefined
        ? { violation: `No machine with system ID ${systemId} available.` }
        : apply(machine, change, nowMs());
    },
    finish(systemId, outcome) {
      settle();
      const next = due.get(systemId);
      const machine = machines.get(systemId);
      if (next !== undefined && machine !== undefined) {
        due.delete(systemId);
        const bad = next.outcome === "deployed" ? "deploymentFailed" : "releaseFailed";
        apply(machine, { kind: outcome === "failed" ? bad : next.outcome }, nowMs());
      }
    },
    failNext(systemId) {
      failing.set(systemId, (failing.get(systemId) ?? 0) + 1);
    },
    reportFailure(systemId, description) {
      settle();
      const machine = machines.get(systemId);
      if (machine !== undefined) {
        const type = `Node ${machine.status === "deploying" ? "" : "post-"}installation failure`;
        const { hostname } = machine;
        events.push({ id: events.length + 1, systemId, hostname, type, description, atMs: nowMs() });
      }
    },
    events(systemId) {
      settle();
      return events.filter((event) => event.systemId === systemId).toReversed();
    },
  };
}

/** MAAS records no events for annotations. */
const eventOf: Partial<Record<MachineChange["kind"], string>> = {
  allocate: "Allocated",
  deploy: "Deploying",
  deployed: "Deployed",
  deploymentFailed: "Failed deployment",
  abort: "Aborting deployment",
  aborted: "Aborted deployment",
  release: "Releasing",
  released: "Released",
  releaseFailed: "Failed releasing",
  lock: "Locked",
  unlock: "Unlocked",
  markBroken: "Marked broken",
  markFixed: "Marked fixed",
};
