import { test } from "tap";
import type { ToolResult } from "../../../../adapters/host/process/tool-result.ts";
import {
  growFileSystem,
  parseFileSystemType,
  readFileSystem,
} from "../../../../adapters/lvm/data/file-systems.ts";

const volume = { volumeGroupName: "vg0", name: "data", device: { major: 253, minor: 3 } };
const mounts = [
  "28 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw",
  "40 28 253:3 / /srv/my\\040data rw,relatime shared:9 - ext4 /dev/mapper/vg0-data rw",
].join("\n");

interface Answer {
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Creates tools that answer by the program's name, and record the argv of changing ones. */
function createTools(answers: Readonly<Record<string, Answer>>) {
  const ran: (readonly string[])[] = [];
  const run = async (argv: readonly string[]): Promise<ToolResult> => {
    const { exitCode = 0, stdout = "", stderr = "" } = answers[argv[1] ?? ""] ?? {};
    return { argv: [...argv], exitCode, signal: null, stdout, stderr, durationMs: 1 };
  };
  const mutate = async (argv: readonly string[]) => {
    ran.push(argv);
    return run(argv);
  };
  return { tools: { prefix: ["in-host"], read: run, mutate }, ran };
}

test("only file systems count, not other signatures", async (t) => {
  t.equal(parseFileSystemType("DEVNAME=/dev/vg0/data\nUUID=1\nTYPE=xfs\nUSAGE=filesystem\n"), "xfs");
  t.equal(parseFileSystemType("DEVNAME=/dev/vg0/data\nPTTYPE=gpt\n"), undefined);
  t.equal(parseFileSystemType("TYPE=crypto_LUKS\nUSAGE=crypto\n"), undefined);
  t.equal(parseFileSystemType(""), undefined);
});

test("a mounted file system is found by its device number, with its mount point", async (t) => {
  const blkid = { stdout: "TYPE=ext4\nUSAGE=filesystem\n" };
  const { tools } = createTools({ blkid, cat: { stdout: mounts } });
  t.same(await readFileSystem(tools, volume), { type: "ext4", mountPoint: "/srv/my data" });
  const other = { ...volume, device: { major: 253, minor: 4 } };
  t.same(await readFileSystem(tools, other), { type: "ext4", mountPoint: undefined });
  t.equal(await readFileSystem(createTools({ blkid: { exitCode: 2 } }).tools, volume), undefined);
  await t.rejects(readFileSystem(createTools({ blkid: { exitCode: 4, stderr: "usage" } }).tools, volume), {
    name: "InfraError",
    reason: "TOOL_FAILED",
  });
});

test("a mounted ext4 grows at once, one that is not mounted is checked first, and XFS grows where it is mounted", async (t) => {
  const ext4 = { stdout: "TYPE=ext4\nUSAGE=filesystem\n" };
  const mounted = createTools({ blkid: ext4, cat: { stdout: mounts } });
  await growFileSystem(mounted.tools, volume);
  t.same(mounted.ran, [["in-host", "resize2fs", "/dev/vg0/data"]]);

  const idle = createTools({ blkid: ext4, e2fsck: { exitCode: 1 } });
  await growFileSystem(idle.tools, volume);
  t.same(idle.ran, [
    ["in-host", "e2fsck", "-f", "-p", "/dev/vg0/data"],
    ["in-host", "resize2fs", "/dev/vg0/data"],
  ]);

  const xfs = createTools({ blkid: { stdout: "TYPE=xfs\nUSAGE=filesystem\n" }, cat: { stdout: mounts } });
  await growFileSystem(xfs.tools, volume);
  t.same(xfs.ran, [["in-host", "xfs_growfs", "/srv/my data"]]);
});

test("a damaged, unknown or missing file system does not grow", async (t) => {
  const ext4 = { stdout: "TYPE=ext4\nUSAGE=filesystem\n" };
  const damaged = createTools({ blkid: ext4, e2fsck: { exitCode: 4, stdout: "UNEXPECTED INCONSISTENCY" } });
  await t.rejects(growFileSystem(damaged.tools, volume), {
    name: "InfraError",
    reason: "TOOL_FAILED",
    message: /UNEXPECTED INCONSISTENCY/,
  });
  t.equal(damaged.ran.length, 1, "it is not resized");
  for (const [blkid, message] of [
    [{ exitCode: 2 }, "vg0/data contains no file system"],
    [{ stdout: "TYPE=btrfs\nUSAGE=filesystem\n" }, /contains btrfs; only ext2, ext3, ext4 and xfs/],
    [{ stdout: "TYPE=xfs\nUSAGE=filesystem\n" }, /xfs, which grows only while it is mounted/],
  ] as const) {
    const { tools, ran } = createTools({ blkid });
    await t.rejects(growFileSystem(tools, volume), {
      name: "InfraError",
      reason: "FILE_SYSTEM_NOT_RESIZABLE",
      message,
    });
    t.same(ran, []);
  }
});
