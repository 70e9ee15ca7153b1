import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { hostShell, mountsBelow, startCsiGateway } from "./csi-gateway.ts";

const mib = 2 ** 20;

/**
 * Runs csi-sanity against a gateway in a mount namespace of its own. It must leave neither a mount nor a volume.
 * @param volumeGroup an empty volume group of at least 2 GiB
 * @param sanity the program
 * @param accessType `mount` or `block`
 * @param focus a regular expression of the cases to run; all if absent
 * @throws AssertionError
 */
async function checkSanity(
  volumeGroup: string,
  sanity: string,
  accessType: string,
  focus?: string,
): Promise<void> {
  const csi = await startCsiGateway(volumeGroup);
  try {
    // In the namespace of the host, as the kubelet and its sidecars are.
    const child = spawn(
      "nsenter",
      [
        ...["--mount=/proc/1/ns/mnt", "--", sanity, "--ginkgo.no-color", "--ginkgo.succinct"],
        ...["--csi.endpoint", `unix://${csi.socket}`],
        ...["--csi.mountdir", join(csi.root, "target"), "--csi.stagingdir", join(csi.root, "staging")],
        ...["--csi.testvolumesize", String(64 * mib), "--csi.testvolumeexpandsize", String(128 * mib)],
        ...["--csi.testvolumeaccesstype", accessType],
        ...(focus === undefined ? [] : ["--ginkgo.focus", focus]),
      ],
      { stdio: ["ignore", "inherit", "inherit"] },
    );
    const [code] = await once(child, "exit");
    assert.equal(code, 0, "csi-sanity reports failures");
    assert.deepEqual(await mountsBelow(csi.root), []);
    const left = await hostShell(`lvs --noheadings -o lv_name ${volumeGroup}`);
    assert.equal(left.trim(), "pool", "csi-sanity leaves no volume");
  } finally {
    await csi.stop();
  }
}

// A program for the virtual machine: node test/lab/vm/csi-sanity-on-dm.ts VOLUME-GROUP PROGRAM mount|block [FOCUS]
const [volumeGroup = "", sanity = "", accessType = "", focus] = process.argv.slice(2);
await checkSanity(volumeGroup, sanity, accessType, focus);
