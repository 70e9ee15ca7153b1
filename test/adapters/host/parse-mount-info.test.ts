import fc from "fast-check";
import { test } from "tap";
import { parseMountInfo } from "../../../adapters/host/parse-mount-info.ts";

test("a line of mountinfo becomes a mount", async (t) => {
  const text = [
    "36 25 253:3 / /var/lib/kubelet/staging rw,noatime shared:12 master:1 - ext4 /dev/mapper/vg0-a rw,errors=continue",
    "40 25 0:5 /dm-3 /var/lib/kubelet/my\\040block rw,nosuid - devtmpfs udev rw,size=1k",
    "",
    "not a mount",
    "36 25 253:3 / /a rw shared:12",
  ].join("\n");
  t.same(parseMountInfo(text), [
    {
      path: "/var/lib/kubelet/staging",
      root: "/",
      device: { major: 253, minor: 3 },
      fileSystem: "ext4",
      source: "/dev/mapper/vg0-a",
      flags: ["rw", "noatime"],
      fileSystemOptions: ["rw", "errors=continue"],
    },
    {
      path: "/var/lib/kubelet/my block",
      root: "/dm-3",
      device: { major: 0, minor: 5 },
      fileSystem: "devtmpfs",
      source: "udev",
      flags: ["rw", "nosuid"],
      fileSystemOptions: ["rw", "size=1k"],
    },
  ]);
});

test("property: any path that the kernel escapes is read back", async () => {
  const escaped = (path: string) =>
    path.replaceAll(/[ \t\n\\]/g, (letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, "0")}`);
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.nat(4095), fc.nat(), (name, major, minor) => {
      const path = `/${name}`;
      const line = `1 2 ${major}:${minor} / ${escaped(path)} rw - xfs /dev/a rw`;
      const [mount] = parseMountInfo(line);
      return mount?.path === path && mount.device.major === major && mount.device.minor === minor;
    }),
  );
});

test("property: no text makes the parser throw", async () => {
  fc.assert(fc.property(fc.string(), (text) => Array.isArray(parseMountInfo(text))));
});
