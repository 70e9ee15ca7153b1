import type { LibvirtAdapter, LibvirtNetwork, LibvirtState } from "../../../../adapters/libvirt/adapter.ts";
import type { Finding, Inspector } from "../../../domain/inspection.ts";
import { messageFromError } from "../../../domain/message-from-error.ts";
import type { HypervisorSettings, HypervisorTemplate } from "../hypervisor-settings.ts";

/** Checks libvirt itself and what its templates need: pools, images, GPUs and networks. */
export function createLibvirtInspector(libvirt: LibvirtAdapter, settings: HypervisorSettings): Inspector {
  return {
    name: "libvirt",
    async inspect() {
      const { version, findings, networks } = await libvirt.inspect();
      if (version === undefined) {
        return { findings };
      }
      const ofTemplates = await inspectTemplates(libvirt, settings);
      return { findings: [...findings, ...ofTemplates, ...inspectNetworks(networks, settings)] };
    },
  };
}

async function inspectTemplates(
  libvirt: LibvirtAdapter,
  { templates, sharedStorage }: HypervisorSettings,
): Promise<Finding[]> {
  try {
    const { value: state } = await libvirt.read();
    const shared = sharedStorage?.libvirtPool ?? [];
    const pools = [...new Set(templates.map(({ disk }) => disk.pool).concat(shared))];
    const gpus = [...new Set(templates.flatMap((template) => template.gpus))];
    const ofPools = pools.map((pool) => inspectPool(libvirt, state, pool, templates));
    return [...(await Promise.all(ofPools)).flat(), ...gpus.map((address) => inspectGpu(state, address))];
  } catch (error) {
    return [{ ok: false, what: messageFromError(error) }];
  }
}

/** Checks a pool and the base images in it. */
async function inspectPool(
  libvirt: LibvirtAdapter,
  { pools }: LibvirtState,
  name: string,
  templates: readonly HypervisorTemplate[],
): Promise<Finding[]> {
  const pool = pools.find((one) => one.name === name);
  if (pool === undefined) {
    const fix =
      "list the pools with virsh pool-list --all; correct hypervisors.templates or hypervisors.pool.libvirtPool if the pool has another name";
    return [{ ok: false, what: `storage pool ${name} not found`, fix }];
  }
  if (!pool.isActive) {
    const fix = `virsh pool-start ${name} && virsh pool-autostart ${name}`;
    return [{ ok: false, what: `the storage pool ${name} is not active`, fix }];
  }
  const ofPool = templates.filter(({ disk }) => disk.pool === name);
  const images = new Set(ofPool.flatMap(({ disk: { backing } }) => backing ?? []));
  return [
    { ok: true, what: `storage pool ${name}: ${pool.freeBytes >> 30n} GiB free` },
    ...(await Promise.all([...images].map((image) => inspectImage(libvirt, name, image)))),
  ];
}

async function inspectImage(
  libvirt: Pick<LibvirtAdapter, "hasVolume">,
  pool: string,
  image: string,
): Promise<Finding> {
  return (await libvirt.hasVolume(pool, image))
    ? { ok: true, what: `storage pool ${pool} has base image ${image}` }
    : {
        ok: false,
        what: `storage pool ${pool} has no base image ${image}`,
        fix: `virsh pool-refresh ${pool} if the file exists; otherwise add it to the pool`,
      };
}

function inspectGpu({ gpus }: LibvirtState, address: string): Finding {
  const gpu = gpus.find(({ pciAddress }) => pciAddress === address);
  return gpu === undefined
    ? {
        ok: false,
        what: `no GPU (PCI class 03) at ${address}`,
        fix: "list GPUs with lspci -D -d ::03xx; correct hypervisors.templates",
      }
    : { ok: true, what: `GPU ${address}: ${gpu.brand} ${gpu.model}` };
}

function inspectNetworks(
  networks: readonly LibvirtNetwork[] | undefined,
  { templates }: Pick<HypervisorSettings, "templates">,
): Finding[] {
  const names = new Set(templates.flatMap(({ network }) => network ?? []));
  return [...names].map((name) => {
    const network = networks?.find((one) => one.name === name);
    if (network?.isActive === true) {
      return { ok: true, what: `network ${name}` };
    }
    if (network !== undefined) {
      const fix = `virsh net-start ${name} && virsh net-autostart ${name}`;
      return { ok: false, what: `the network ${name} is not active`, fix };
    }
    const what =
      networks === undefined ? "libvirt does not report networks: cannot check network" : "no network";
    const fix =
      "list networks with virsh net-list --all; correct hypervisors.templates if the network has another name";
    return { ok: false, what: `${what} ${name}`, fix };
  });
}
