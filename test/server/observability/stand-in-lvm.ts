import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Test } from "tap";

const samples = resolve(import.meta.dirname, "../../adapters/lvm/samples");

const script = `#!/bin/sh
here=$(dirname "$0")
case "$1" in
  lvmconfig) printf 'backup=1\\nbackup_dir="%s/backup"\\n' "$here" ;;
  fullreport) cat "$here/report" ;;
  lvcreate) mv "$here/report-after" "$here/report" ;;
  version) echo '  LVM version:     2.03.16(2) (2022-05-18)' ;;
  *) exit 5 ;;
esac
`;

/**
 * Creates a program named lvm that prints output recorded on another machine: a group `vg0` with 8 GiB free, where any lvcreate
 * creates the volume `data` of 1 GiB. The tests are about the code around LVM, not about LVM.
 * @param sample recorded report; `vm-thin.txt` has a thin pool `pool`
 * @returns the configuration of a gateway that serves it
 */
export async function standInLvm(t: Test, sample = "vm-linear.txt") {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-lvm-"));
  t.teardown(() => rm(directory, { recursive: true }));
  await mkdir(join(directory, "backup"));
  const report = JSON.parse(await readFile(join(samples, sample), "utf8"));
  const [group] = report.report;
  group.vg[0].vg_free = String(8 * 2 ** 30);
  group.vg[0].vg_size = String(9 * 2 ** 30);
  await writeFile(join(directory, "report"), JSON.stringify(report));
  const lv = { ...group.lv[0], lv_name: "data", lv_size: String(2 ** 30), lv_tags: "" };
  group.lv.push({ ...lv, lv_uuid: "aaaaaa-aaaa-aaaa-aaaa-aaaa-aaaa-aaaaaa", lv_kernel_minor: "7" });
  await writeFile(join(directory, "report-after"), JSON.stringify(report));
  const program = join(directory, "lvm");
  await writeFile(program, script, { mode: 0o755 });
  return {
    volumes: {
      deviceClasses: [{ name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 0 }],
      lvm: { command: [program] },
    },
  };
}
