import { createNameMatch } from "../../../adapters/host/name-match.ts";
import type {
  DomainGpu,
  DomainState,
  LibvirtDomain,
  LibvirtState,
} from "../../../adapters/libvirt/adapter.ts";
import { isHypervisorId } from "../../../adapters/libvirt/names.ts";
import type { HypervisorSettings, HypervisorTemplate } from "./hypervisor-settings.ts";
import { createSharedStorageTest, usesShared } from "./shared-storage.ts";

/** A hypervisor of the inventory, running or not. */
export interface Hypervisor {
  readonly id: string;
  readonly threadCount: number;
  readonly memoryMib: number;
  readonly capabilities: readonly ("storage" | "gpu")[];
  readonly gpus: readonly { readonly brand: string; readonly model: string }[];
  readonly state: "running" | "off" | "unknown";
  /** Why the state is unknown, as a sentence; empty if it is known. */
  readonly reason: string;
  /** Whether libvirt has a VM of this name; false for a template without a VM. */
  readonly isDefined: boolean;
  /** Operation that created the VM; only such VMs are removed. Undefined for other VMs and for templates without a VM. */
  readonly madeBy: string | undefined;
}

/** Builds the inventory from libvirt's VMs and the configured templates. */
export interface Inventory {
  /** Returns the hypervisors of a state, sorted by id. */
  of(state: LibvirtState): readonly Hypervisor[];
  /**
   * Returns the inventory for a libvirt that cannot be read: the last known one and all templates, with unknown states.
   * @param known the last inventory; empty if there never was one
   */
  unreadable(known: readonly Hypervisor[], reason: string): readonly Hypervisor[];
  /** Reports whether a VM is a hypervisor. */
  isHypervisor(domain: LibvirtDomain): boolean;
  templateOf(id: string): HypervisorTemplate | undefined;
}

const bytesPerMib = 1n << 20n;

/** @param settings a VM is a hypervisor if hostplane created it, or if `match` fits its name */
export function createInventory(settings: HypervisorSettings): Inventory {
  const { templates, match, sharedStorage } = settings;
  const templateById = new Map(templates.map((template) => [template.id, template]));
  const isMatched = createNameMatch(match);
  const isShared = createSharedStorageTest(sharedStorage);

  function isHypervisor({ name, mark }: LibvirtDomain): boolean {
    return isHypervisorId(name) && (mark?.hypervisorId === name || isMatched(name));
  }

  function ofDomain(domain: LibvirtDomain): Hypervisor {
    const { name, vcpuCount, memoryBytes, gpus, mark } = domain;
    return {
      id: name,
      threadCount: vcpuCount,
      memoryMib: Number(memoryBytes / bytesPerMib),
      capabilities: capabilitiesOf(usesShared(domain, isShared), gpus.length > 0),
      gpus: gpus.map(({ brand, model }) => ({ brand, model })),
      ...stateOf(domain),
      isDefined: true,
      madeBy: mark?.hypervisorId === name ? mark.operationId : undefined,
    };
  }

  /** @param known GPUs of the host by PCI address */
  function ofTemplate(
    { id, vcpuCount, memoryMib, disk, gpus }: HypervisorTemplate,
    known: ReadonlyMap<string, DomainGpu>,
  ) {
    return {
      id,
      threadCount: vcpuCount,
      memoryMib,
      capabilities: capabilitiesOf(
        isShared({ kind: "volume", pool: disk.pool, volume: "" }),
        gpus.length > 0,
      ),
      gpus: gpus.map((address) => {
        const { brand = "", model = "" } = known.get(address) ?? {};
        return { brand, model };
      }),
      madeBy: undefined,
    };
  }

  return {
    of(state) {
      const gpus = new Map(state.gpus.map((gpu) => [gpu.pciAddress, gpu]));
      const domains = new Map(state.domains.map((domain) => [domain.name, domain]));
      const there = state.domains.filter(isHypervisor).map(ofDomain);
      const possible = templates.flatMap((template): Hypervisor[] => {
        const domain = domains.get(template.id);
        if (domain === undefined) {
          return [{ ...ofTemplate(template, gpus), isDefined: false, state: "off", reason: "" }];
        }
        const reason =
          domain.unreadableBecause ??
          "a VM of this name exists that hostplane did not create and hypervisors.match does not match";
        const foreign = { ...ofTemplate(template, gpus), isDefined: true, state: "unknown", reason } as const;
        return isHypervisor(domain) ? [] : [foreign];
      });
      return [...there, ...possible].toSorted(byId);
    },
    unreadable(known, reason) {
      const ids = new Set(known.map(({ id }) => id));
      const possible = templates
        .filter(({ id }) => !ids.has(id))
        .map((template) => ({ ...ofTemplate(template, new Map()), isDefined: false }));
      return [...known, ...possible]
        .map((one): Hypervisor => ({ ...one, state: "unknown", reason }))
        .toSorted(byId);
    },
    isHypervisor,
    templateOf: (id) => templateById.get(id),
  };
}

/** Reports whether a VM in this state is on; undefined if that is unknown. */
export function isOn(state: DomainState): boolean | undefined {
  switch (state) {
    case "running":
    case "paused":
    case "shuttingDown":
    case "suspended":
      return true;
    case "shutOff":
    case "crashed":
      return false;
    case "unknown":
      return undefined;
  }
}

function stateOf({ state, unreadableBecause }: LibvirtDomain): Pick<Hypervisor, "state" | "reason"> {
  const on = isOn(state);
  return on === undefined
    ? { state: "unknown", reason: unreadableBecause ?? "libvirt reports an unknown state of the VM" }
    : { state: on ? "running" : "off", reason: "" };
}

function capabilitiesOf(hasStorage: boolean, hasGpu: boolean): Hypervisor["capabilities"] {
  return [...(hasStorage ? (["storage"] as const) : []), ...(hasGpu ? (["gpu"] as const) : [])];
}

function byId(a: Hypervisor, b: Hypervisor): number {
  return a.id < b.id ? -1 : 1;
}
