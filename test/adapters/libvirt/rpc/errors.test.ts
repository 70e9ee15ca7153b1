import { test } from "tap";
import { errorFromLibvirt, isUnsupported } from "../../../../adapters/libvirt/rpc/errors.ts";
import type { RemoteError } from "../../../../adapters/libvirt/rpc/objects.ts";

function remote(code: number, domain: number, message: string | null, int1 = 0): RemoteError {
  const empty = { str1: null, str2: null, str3: null, dom: null, net: null };
  return { code, domain, message, level: 2, int1, int2: 0, ...empty };
}

const part = { qemu: 10, storage: 18, domain: 20 } as const;

const cases: readonly (readonly [RemoteError, string])[] = [
  [remote(42, part.qemu, "Domain not found: no domain with matching name 'a'"), "DOMAIN_NOT_FOUND"],
  [remote(9, part.domain, "operation failed: domain 'a' already exists with uuid 8e7a"), "DOMAIN_EXISTS"],
  [remote(9, part.domain, "operation failed: domain 'a' is already defined with uuid 8e7a"), "DOMAIN_EXISTS"],
  [remote(9, part.storage, "operation failed: pool 'a' already exists with uuid 8e7a"), "LIBVIRT_FAILED"],
  [remote(55, part.qemu, "Requested operation is not valid: domain is already running"), "DOMAIN_STATE"],
  [
    remote(55, part.storage, "Requested operation is not valid: storage pool 'p' is not active"),
    "LIBVIRT_FAILED",
  ],
  [remote(43, 19, "Network not found: no network with matching name 'a'"), "NETWORK_NOT_FOUND"],
  [
    remote(49, part.storage, "Storage pool not found: no storage pool with matching name 'a'"),
    "STORAGE_POOL_NOT_FOUND",
  ],
  [remote(50, part.storage, "Storage volume not found"), "STORAGE_VOLUME_NOT_FOUND"],
  [remote(90, part.storage, "storage volume 'a' exists already"), "STORAGE_VOLUME_EXISTS"],
  [remote(53, 22, "Node device not found"), "NODE_DEVICE_NOT_FOUND"],
  [remote(86, part.qemu, "Guest agent is not responding"), "AGENT_UNRESPONSIVE"],
  [remote(97, part.qemu, "Guest agent replies with wrong id"), "AGENT_UNRESPONSIVE"],
  [remote(38, part.storage, "cannot allocate 1 bytes in file '/a': No space left on device", 28), "NO_SPACE"],
  [remote(38, part.storage, "cannot open '/a': Permission denied", 13), "LIBVIRT_FAILED"],
  [
    remote(1, part.storage, "internal error: qemu-img: error while writing: No space left on device"),
    "NO_SPACE",
  ],
  [remote(88, 55, "access denied"), "LIBVIRT_DENIED"],
  [remote(45, 60, "authentication failed"), "LIBVIRT_DENIED"],
  [
    remote(68, part.qemu, "Timed out during operation: cannot acquire state change lock"),
    "LIBVIRT_UNAVAILABLE",
  ],
  [remote(1, part.qemu, "internal error: process exited while connecting to monitor"), "LIBVIRT_FAILED"],
  [remote(9_999, 9_999, "from a newer libvirt"), "LIBVIRT_FAILED"],
];

test("a refusal by libvirt has a reason and libvirt's message", async (t) => {
  for (const [error, reason] of cases) {
    const seen = errorFromLibvirt(error);
    t.equal(seen.reason, reason, error.message ?? "");
    t.equal(seen.message, error.message);
    t.equal(seen.metadata.libvirtCode, String(error.code));
  }
});

test("a message is one line of bounded length, and there is one even if libvirt sends none", async (t) => {
  t.equal(errorFromLibvirt(remote(1, 1, "first\n  second\n")).message, "first second");
  t.equal(errorFromLibvirt(remote(1, 1, "a".repeat(5_000))).message.length, 1_000);
  t.match(errorFromLibvirt(remote(1, 1, null)).message, /code 1 and no message/);
});

test("detects calls that the driver does not support", async (t) => {
  t.equal(isUnsupported(errorFromLibvirt(remote(3, 1, "this function is not supported"))), true);
  t.equal(isUnsupported(errorFromLibvirt(remote(1, 1, "internal error"))), false);
  t.equal(isUnsupported(new Error("3")), false);
});
