import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Test, test } from "tap";
import type { LibvirtAdapter } from "../../../adapters/libvirt/adapter.ts";
import { createLibvirt } from "../../../adapters/libvirt/libvirt.ts";
import { reasonOf, reasonOfCall } from "../host/reason-of.ts";
import { argsOf, nameOf, reply, startFakeDaemon } from "./rpc/fake-daemon.ts";

// test/lab/libvirt/libvirt.test.ts covers a real daemon.

/** Creates an adapter for a daemon that is not running. */
function absent(t: Test, seedTool: readonly string[] = ["true"]): LibvirtAdapter {
  const socket = join(t.testdir({}), "libvirt-sock");
  const libvirt = createLibvirt({ uri: `qemu:///session?socket=${socket}`, seedTool });
  t.teardown(() => libvirt.close());
  return libvirt;
}

test("an absent daemon is LIBVIRT_UNAVAILABLE, at once and for everything", async (t) => {
  const libvirt = absent(t);
  const { signal } = new AbortController();
  const domain = { name: "bm-1", uuid: "11111111-2222-4333-8444-555555555555" };
  const works = [
    libvirt.read(),
    libvirt.run({ kind: "start", ...domain }),
    libvirt.run({ kind: "refreshPool", pool: "default" }),
    libvirt.volumesOf("default"),
    libvirt.hasVolume("default", "disk"),
    libvirt.version(),
    libvirt.isReady("bm-1", { kind: "agent" }, signal),
  ];
  for (const work of works) {
    t.equal(await reasonOf(work), "LIBVIRT_UNAVAILABLE");
  }
});

test("an inspection of an absent daemon shows the fix", async (t) => {
  const { version, findings } = await absent(t, ["/nonexistent/xorrisofs"]).inspect();
  t.equal(version, undefined);
  t.match(findings, [
    { ok: false, what: /cannot be reached at .*libvirt-sock/, fix: /libvirt-daemon-system/ },
    { ok: false, what: /seeds cannot be created/, fix: /xorriso/ },
  ]);
});

test("a step with names that lead out of a pool is rejected before any call", async (t) => {
  const libvirt = absent(t);
  const uuid = "11111111-2222-4333-8444-555555555555";
  const at = { pool: "default", name: "disk" };
  const wrong = [
    libvirt.run({ kind: "createVolume", ...at, name: "../disk", format: "raw", sizeBytes: 1n }),
    libvirt.run({ kind: "createVolume", ...at, pool: "a/b", format: "raw", sizeBytes: 1n }),
    libvirt.run({ kind: "createVolume", ...at, format: "raw", sizeBytes: 0n }),
    libvirt.run({ kind: "createVolume", ...at, format: "raw", sizeBytes: 1n, backingVolume: ".." }),
    libvirt.run({ kind: "writeSeed", ...at, hostname: "a\nb", instanceId: "i" }),
    libvirt.run({ kind: "deleteVolume", ...at, name: "" }),
    libvirt.run({ kind: "refreshPool", pool: "\u0000" }),
    libvirt.run({ kind: "powerOff", name: "bm-1", uuid: uuid.toUpperCase().replace("1", "A") }),
  ];
  for (const work of wrong) {
    t.equal(await reasonOf(work), "INVALID_FIELD");
  }
});

test("the version is queried once per connection", async (t) => {
  let version = 9_000_001n;
  let requestCount = 0;
  const daemon = await startFakeDaemon(t, (packet, peer) => {
    const isRequested = nameOf(packet) === "connectGetLibVersion";
    if (isRequested) {
      requestCount += 1;
      reply(peer, packet, "connectGetLibVersion", { version });
    }
    return isRequested;
  });
  const libvirt = createLibvirt({ uri: `qemu:///system?socket=${daemon.socketPath}`, seedTool: ["true"] });
  t.teardown(() => libvirt.close());
  t.equal(await libvirt.version(), "9.0.1");
  t.equal(await libvirt.version(), "9.0.1");
  t.equal(requestCount, 1);
  const [peer] = daemon.peers;
  await daemon.stop();
  await peer?.closed;
  version = 10_002_000n;
  await daemon.start();
  const versionNow = () => libvirt.version().catch(() => undefined);
  while ((await versionNow()) !== "10.2.0") {
    await nextTurn();
  }
  t.equal(requestCount, 2);
});

test("the daemon opens qemu:///system, whichever socket reaches it", async (t) => {
  const opened = Promise.withResolvers<string | null>();
  const daemon = await startFakeDaemon(t, (packet) => {
    if (nameOf(packet) === "connectOpen") {
      opened.resolve(argsOf("connectOpen", packet).uri);
    }
    return false;
  });
  const uri = `qemu+unix:///system?socket=${encodeURIComponent(daemon.socketPath)}`;
  const libvirt = createLibvirt({ uri, seedTool: ["true"] });
  t.teardown(() => libvirt.close());
  t.equal(await opened.promise, "qemu:///system");
});

test("a URI of another machine is rejected", async (t) => {
  const ofOther = () => createLibvirt({ uri: "qemu+ssh://host/system", seedTool: ["true"] });
  t.equal(await reasonOfCall(ofOther), "INVALID_FIELD");
});

test("a plan shows libvirt's calls, even while it is unreachable", async (t) => {
  const libvirt = absent(t);
  const volume = { pool: "default", name: "disk", format: "qcow2", sizeBytes: 7n } as const;
  const [program, pool, xml] = libvirt.commandOf({ kind: "createVolume", ...volume, backingVolume: "base" });
  t.strictSame([program, pool], ["virStorageVolCreateXML", "default"]);
  t.match(xml, "<path>base</path>");
  const undefine = libvirt.commandOf({ kind: "undefine", name: "bm-1", uuid: "" });
  t.strictSame(undefine, ["virDomainUndefineFlags", "bm-1", "23"]);
});
