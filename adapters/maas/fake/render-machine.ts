import type { FakeMachine } from "./machine.ts";
import type { FakeRegion } from "./region.ts";
import { base, renderedDomain, renderedVlan, renderPool, renderSubnet, renderZone } from "./render.ts";
import { statusCode, statusName } from "./status-name.ts";

const untested = Object.fromEntries(
  ["cpu", "memory", "network", "storage", "interface", "other"].flatMap((kind) => [
    [`${kind}_test_status`, -1],
    [`${kind}_test_status_name`, "Unknown"],
  ]),
);

/** The same hardware for every machine. */
const hardware = {
  swap_size: null,
  raids: [],
  special_filesystems: [],
  cache_sets: [],
  bcaches: [],
  volume_groups: [],
  virtualblockdevice_set: [],
  numanode_set: [],
  hardware_info: Object.fromEntries(
    [
      ...["vendor", "product", "family", "version", "sku", "serial"].map((name) => `system_${name}`),
      "cpu_model",
      ...["vendor", "product", "serial", "version"].map((name) => `mainboard_${name}`),
      ...["vendor", "date", "version"].map((name) => `mainboard_firmware_${name}`),
      ...["vendor", "type", "serial", "version"].map((name) => `chassis_${name}`),
    ].map((name) => [name, "Unknown"]),
  ),
  cpu_speed: 3000,
  storage: 536870.912,
  bios_boot_method: "uefi",
  commissioning_status: 2,
  commissioning_status_name: "Passed",
  testing_status: -1,
  testing_status_name: "Unknown",
  ...untested,
  current_commissioning_result_id: 1,
  current_testing_result_id: null,
  current_installation_result_id: null,
  enable_hw_sync: false,
  sync_interval: null,
  last_sync: null,
  next_sync: null,
  address_ttl: null,
  disable_ipv4: false,
  description: "",
  parent: null,
  pod: null,
  virtualmachine_id: null,
  node_type: 0,
  node_type_name: "Machine",
  min_hwe_kernel: "",
  ephemeral_deploy: false,
};

/** Renders the JSON of a machine, as in the reply to `GET machines/ID/`. */
export function renderMachineOf({ options, subnet: { isManaged } }: FakeRegion, machine: FakeMachine) {
  const { systemId, hostname, annotations, address } = machine;
  const { pools, tags } = options;
  const subnet = renderSubnet(options.addressPrefix, isManaged);
  const link = { id: 1, mode: "auto", subnet, ...(address && { ip_address: address }) };
  const nic = renderNic(systemId, link);
  const disk = renderDisk(systemId);
  return {
    ...hardware,
    default_gateways: {
      ipv4: { gateway_ip: subnet.gateway_ip, link_id: null },
      ipv6: { gateway_ip: null, link_id: null },
    },
    system_id: systemId,
    hostname,
    fqdn: `${hostname}.maas`,
    domain: renderedDomain,
    status: statusCode(machine.status),
    status_name: statusName(machine.status),
    status_message: machine.statusMessage ?? null,
    status_action: machine.statusMessage === undefined ? null : "",
    owner: machine.owner ?? null,
    owner_data: annotations,
    workload_annotations: annotations,
    ip_addresses: address === undefined ? [] : [address],
    // In the order in which the tags were created.
    tag_names: machine.tags.toSorted((a, b) => tags.indexOf(a) - tags.indexOf(b)),
    cpu_count: machine.cpuCount,
    memory: machine.memoryMib,
    architecture: machine.architecture,
    power_state: machine.powerState,
    power_type: machine.powerType,
    pool: renderPool(machine.pool, pools.indexOf(machine.pool)),
    zone: renderZone(machine.zone),
    locked: machine.isLocked,
    osystem: machine.osystem,
    distro_series: machine.series,
    hwe_kernel: machine.series === "" ? null : "ga",
    netboot: machine.status !== "deployed",
    hardware_uuid: `00000000-0000-4000-8000-${macAddress(systemId).replaceAll(":", "")}`,
    boot_interface: nic,
    interface_set: [nic],
    boot_disk: disk,
    blockdevice_set: [disk],
    physicalblockdevice_set: [disk],
    resource_uri: `${base}/machines/${systemId}/`,
  };
}

function renderNic(systemId: string, link: object) {
  return {
    system_id: systemId,
    id: 1,
    name: "eth0",
    type: "physical",
    enabled: true,
    mac_address: macAddress(systemId),
    vlan: renderedVlan,
    links: [link],
    tags: [],
    parents: [],
    children: [],
    discovered: null,
    effective_mtu: 1500,
    link_connected: true,
    link_speed: 10_000,
    interface_speed: 10_000,
    sriov_max_vf: 0,
    numa_node: 0,
    params: {},
    vendor: null,
    product: null,
    firmware_version: null,
    resource_uri: `${base}/nodes/${systemId}/interfaces/1/`,
  };
}

function renderDisk(systemId: string) {
  return {
    system_id: systemId,
    id: 1,
    name: "sda",
    type: "physical",
    path: "/dev/disk/by-dname/sda",
    id_path: null,
    uuid: null,
    model: "sandbox",
    serial: systemId,
    firmware_version: null,
    size: 536_870_912_000,
    available_size: 536_870_912_000,
    used_size: 0,
    block_size: 512,
    used_for: "Unused",
    partition_table_type: null,
    partitions: [],
    filesystem: null,
    storage_pool: null,
    numa_node: 0,
    tags: ["ssd"],
    resource_uri: `${base}/nodes/${systemId}/blockdevices/1/`,
  };
}

/** Returns a locally administered address (second-lowest bit of the first byte) that is the same for each run. */
export function macAddress(systemId: string): string {
  const bytes = Buffer.from(systemId).subarray(-5);
  return [0x02, ...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}
