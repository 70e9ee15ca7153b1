import { test } from "tap";
import { assertHypervisorId, assertLibvirtName, assertPciAddress } from "../../../adapters/libvirt/names.ts";
import { reasonOf } from "../host/reason-of.ts";

test("a hypervisor id starts with a letter or digit and has at most 63 allowed characters", async (t) => {
  for (const id of ["a", "9", "bm-e4-12", "A.b_c-", "x".repeat(63)]) {
    t.doesNotThrow(() => assertHypervisorId(id, "id"), id);
  }
  for (const id of ["", "-a", ".a", "_a", "a b", "a/b", "a\n", "é", "x".repeat(64)]) {
    t.equal(await reasonOf((async () => assertHypervisorId(id, "id"))()), "INVALID_FIELD", id);
  }
});

test("a PCI address has all four parts in lower case", async (t) => {
  for (const address of ["0000:41:00.0", "0001:ff:1f.7"]) {
    t.doesNotThrow(() => assertPciAddress(address, "gpus"), address);
  }
  for (const address of ["", "41:00.0", "0000:41:00.8", "0000:41:20.0", "0000:4A:00.0", "0000:41:00.0\n"]) {
    t.equal(await reasonOf((async () => assertPciAddress(address, "gpus"))()), "INVALID_FIELD", address);
  }
});

test("names of pools, volumes and networks cannot lead elsewhere", async (t) => {
  for (const name of ["a", "disk.qcow2", "...", "-a", "with space", "é", "x".repeat(255)]) {
    t.doesNotThrow(() => assertLibvirtName(name, "name"), name);
  }
  const wrong = ["", ".", "..", "a/b", "/", "a\nb", "\u0000", "\u0085", "\ud800", "\uffff", "é".repeat(128)];
  for (const name of wrong) {
    t.equal(await reasonOf((async () => assertLibvirtName(name, "name"))()), "INVALID_FIELD", name);
  }
});
