import fc from "fast-check";
import { test } from "tap";
import {
  blockDeviceNumber,
  deviceNumberFrom,
  isSameDevice,
  parseDeviceNumber,
} from "../../../adapters/host/device-number.ts";

test("the numbers of a device are unpacked as the kernel packs them", (t) => {
  // glibc's makedev(253, 4), makedev(259, 300) and the largest number.
  t.same(deviceNumberFrom(0xfd04n), { major: 253, minor: 4 });
  t.same(deviceNumberFrom(0x11032cn), { major: 259, minor: 300 });
  t.same(deviceNumberFrom(2n ** 64n - 1n), { major: 0xffffffff, minor: 0xffffffff });
  const part = fc.nat(0xffff_ffff);
  fc.assert(
    fc.property(part, part, (major, minor) => {
      const [high, low] = [BigInt(major), BigInt(minor)];
      const rdev =
        ((high & 0xfffff000n) << 32n) |
        ((high & 0xfffn) << 8n) |
        ((low & 0xffffff00n) << 12n) |
        (low & 0xffn);
      return isSameDevice(deviceNumberFrom(rdev), parseDeviceNumber(`${major}:${minor}`));
    }),
  );
  t.end();
});

test("only two known numbers can be the same", (t) => {
  t.equal(isSameDevice(undefined, undefined), false);
  t.equal(isSameDevice({ major: 1, minor: 2 }, undefined), false);
  t.equal(isSameDevice({ major: 1, minor: 2 }, { major: 1, minor: 2 }), true);
  t.equal(isSameDevice({ major: 1, minor: 2 }, { major: 2, minor: 1 }), false);
  t.equal(parseDeviceNumber("253"), undefined);
  t.equal(parseDeviceNumber("253:"), undefined);
  t.end();
});

test("other files have no number", async (t) => {
  t.equal(await blockDeviceNumber("/dev/null"), undefined);
  t.equal(await blockDeviceNumber("/no-such-file"), undefined);
});
