import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createLibvirtClient } from "../../../adapters/libvirt/rpc/client.ts";
import {
  createPacketDecoder,
  headerBytes,
  maxPacketBytes,
  packetType,
} from "../../../adapters/libvirt/rpc/packet.ts";
import { startLibvirtDaemon } from "./libvirt.ts";

// node test/lab/libvirt/record-libvirt.ts: runs virsh, which uses libvirt's own client, and hostplane's client against a real daemon, and
// writes the packets on the socket to test/adapters/libvirt/rpc/samples/packets.jsonl: the first few of each kind.

const target = new URL("../../adapters/libvirt/rpc/samples/packets.jsonl", import.meta.url);
const samplesOfAKind = 2;
/** Several clients receive each event. */
const eventsOfAKind = 12;
const maxSampleBytes = 6_000;

const samples: string[] = [];
const seen = new Map<string, number>();

function record(from: "client" | "daemon", packet: Buffer): void {
  const words = [4, 12, 16, 24].map((at) => packet.readUInt32BE(at)).join(" ");
  const kind = `${from} ${words}${packet.length === headerBytes ? " empty" : ""}`;
  const count = seen.get(kind) ?? 0;
  const expected = packet.readUInt32BE(16) === packetType.message ? eventsOfAKind : samplesOfAKind;
  if (count < expected && packet.length <= maxSampleBytes) {
    seen.set(kind, count + 1);
    samples.push(JSON.stringify({ from, hex: packet.toString("hex") }));
  }
}

/** Forwards both directions, and records packets. The split into packets is hostplane's code; the bytes are libvirt's. */
function handOn(socket: Socket, daemonPath: string): void {
  const daemon = connect({ path: daemonPath });
  for (const [from, source, sink] of [
    ["client", socket, daemon],
    ["daemon", daemon, socket],
  ] as const) {
    const decoder = createPacketDecoder(maxPacketBytes);
    source.on("data", (chunk: Buffer) => {
      sink.write(chunk);
      for (const { payload } of decoder.push(chunk)) {
        // The header is directly in front of the payload, in the same buffer.
        const start = payload.byteOffset - headerBytes;
        record(from, Buffer.from(payload.buffer, start, headerBytes + payload.length));
      }
    });
    source.on("close", () => sink.destroy());
    source.on("error", () => sink.destroy());
  }
}

const daemon = await startLibvirtDaemon();
const directory = await mkdtemp(join(tmpdir(), "hostplane-record-"));
const socketPath = join(directory, "socket");
const server = createServer((socket) => handOn(socket, daemon.socketPath));
await new Promise<void>((resolve) => server.listen(socketPath, resolve));

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Failures are recorded as well. */
async function virsh(...args: readonly string[]): Promise<void> {
  const uri = `qemu:///session?socket=${socketPath}`;
  await promisify(execFile)("virsh", ["-c", uri, ...args], { timeout: 30_000 }).catch((error) =>
    say(`virsh ${args.join(" ")}: ${error.stderr?.trim() ?? error.message}`),
  );
}

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

const uuids = {
  domain: "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9",
  pool: "11111111-2222-4333-8444-555555555555",
  network: "99999999-8888-4777-8666-555555555555",
} as const;
const disk = join(daemon.poolsDirectory, "disk.qcow2");
const domainXml = `<domain type='qemu'><name>sample</name><uuid>${uuids.domain}</uuid><memory unit='MiB'>48</memory>
  <os><type arch='x86_64'>hvm</type></os><devices><disk type='file' device='disk'><driver name='qemu' type='qcow2'/>
  <source file='${disk}'/><target dev='vda' bus='virtio'/></disk>
  <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel></devices></domain>`;
const poolXml = `<pool type='dir'><name>pool</name><uuid>${uuids.pool}</uuid><target><path>${daemon.poolsDirectory}</path></target></pool>`;
const volumeXml = (name: string, format: string) =>
  `<volume><name>${name}</name><capacity>1048576</capacity><target><format type='${format}'/>${format === "qcow2" ? "<compat>1.1</compat>" : ""}</target></volume>`;
const networkXml = `<network><name>net</name><uuid>${uuids.network}</uuid><bridge name='hpbr0'/></network>`;

const watching = virsh("event", "--all", "--loop", "--timeout", "20");
const watchingPools = virsh("pool-event", "--event", "lifecycle", "--loop", "--timeout", "20");
const watchingRefresh = virsh("pool-event", "--event", "refresh", "--loop", "--timeout", "20");
const client = createLibvirtClient({ socketPath, uri: "qemu:///session" });
await client.ready();

await virsh("pool-define", await file("pool.xml", poolXml));
await virsh("pool-build", "pool");
await virsh("pool-start", "pool");
await virsh("pool-autostart", "pool");
await virsh("pool-list", "--all");
await virsh("pool-info", "pool");
await virsh("pool-info", uuids.pool);
await virsh("pool-dumpxml", "pool");
await virsh("vol-create", "pool", await file("disk.xml", volumeXml("disk.qcow2", "qcow2")));
await virsh("vol-create", "pool", await file("raw.xml", volumeXml("raw", "raw")));
await virsh("vol-create", "pool", await file("raw.xml", volumeXml("raw", "raw")));
await virsh(
  "vol-create-from",
  "pool",
  await file("clone.xml", volumeXml("clone", "raw")),
  "raw",
  "--inputpool",
  "pool",
);
await virsh("vol-upload", "raw", await file("data", "what is in the volume".repeat(40)), "--pool", "pool");
await virsh("vol-download", "raw", join(directory, "copy"), "--pool", "pool", "--length", "840");
await virsh("vol-info", "raw", "--pool", "pool");
await virsh("vol-info", "raw", "--pool", "pool", "--physical");
await virsh("vol-info", "nowhere", "--pool", "pool");
await virsh("vol-path", "raw", "--pool", "pool");
await virsh("vol-pool", join(daemon.poolsDirectory, "raw"));
await virsh("vol-name", join(daemon.poolsDirectory, "raw"));
await virsh("vol-dumpxml", "raw", "--pool", "pool");
await virsh("vol-resize", "raw", "2097152", "--pool", "pool");
await virsh("vol-list", "pool");
await virsh("pool-refresh", "pool");

await virsh("define", await file("domain.xml", domainXml));
await virsh("autostart", "sample");
await virsh("list", "--all");
await virsh("start", "sample");
await virsh("start", "sample");
await virsh("dominfo", "sample");
await virsh("domstate", "sample", "--reason");
await virsh("dominfo", uuids.domain);
await virsh("dominfo", "nobody");
await virsh("dumpxml", "sample");
await virsh("domstats", "sample", "--state", "--cpu-total", "--balloon");
await virsh("dommemstat", "sample");
await virsh("domblkinfo", "sample", "vda");
await virsh("metadata", "sample", "--uri", "urn:sample", "--key", "s", "--set", "<mark id='1'/>");
await virsh("metadata", "sample", "--uri", "urn:sample");
await virsh("domifaddr", "sample", "--source", "agent");
await virsh("qemu-agent-command", "sample", '{"execute":"guest-ping"}');
await virsh("domfsfreeze", "sample");
await virsh("domfsthaw", "sample");
const backupXml = await file(
  "backup.xml",
  `<domainbackup mode='pull'><server transport='unix' socket='${daemon.poolsDirectory}/nbd'/></domainbackup>`,
);
const checkpointXml = await file("checkpoint.xml", "<domaincheckpoint><name>first</name></domaincheckpoint>");
await virsh("backup-begin", "sample", backupXml, checkpointXml);
await virsh("backup-dumpxml", "sample");
await virsh("domjobinfo", "sample");
await virsh("domjobabort", "sample");
await virsh("checkpoint-list", "sample");
// Calls that virsh has no command for, or makes in another way.
const { domain } = await client.call("domainLookupByUuid", { uuid: uuids.domain });
const { pool } = await client.call("storagePoolLookupByName", { name: "pool" });
await Promise.all([
  client.call("connectGetHostname", {}),
  client.call("connectGetLibVersion", {}),
  client.call("domainGetState", { domain, flags: 0 }),
  client.call("domainIsActive", { domain }),
  client.call("domainIsPersistent", { domain }),
  client.call("storagePoolIsActive", { pool }),
  client.call("nodeDeviceLookupByName", { name: "computer" }),
  client.call("nodeDeviceLookupByName", { name: "nothing" }).catch(({ message }) => say(message)),
]);
await virsh("reset", "sample");
await virsh("checkpoint-delete", "sample", "first");
await virsh("shutdown", "sample", "--mode", "acpi");
await virsh("destroy", "sample");
// For these, virsh uses older procedures without flags.
await client.call("domainDefineXmlFlags", { xml: domainXml, flags: 0 });
await client.call("domainCreateWithFlags", { domain: { ...domain, id: -1 }, flags: 0 });
await client.call("domainDestroyFlags", { domain, flags: 0 });
await virsh("start", "sample");
await virsh("managedsave", "sample");
await virsh("managedsave-remove", "sample");
await virsh("autostart", "--disable", "sample");

await virsh("net-define", await file("network.xml", networkXml));
await virsh("net-list", "--all");
await virsh("net-info", "net");
await virsh("net-dumpxml", "net");
await virsh("net-dhcp-leases", "net");
await virsh("net-undefine", "net");
await virsh("nodedev-list");
await virsh("nodedev-dumpxml", "computer");
await virsh("nodedev-info", "computer");
await virsh("hostname");
await virsh("version");
await virsh("uri");
await virsh("capabilities");

await virsh("undefine", "sample", "--checkpoints-metadata");
await virsh("vol-delete", "clone", "--pool", "pool");
await virsh("pool-destroy", "pool");
await virsh("pool-undefine", "pool");
await Promise.all([watching, watchingPools, watchingRefresh]);

await client.close();
server.close();
await daemon.destroy();
await rm(directory, { recursive: true, force: true });
await writeFile(target, `${samples.join("\n")}\n`);
say(`${samples.length} packets`);
