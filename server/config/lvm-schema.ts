import { z } from "zod";

/** How LVM is run: `volumes.lvm` and `hypervisors.pool.lvm`. */
export const lvmSchema = z.strictObject({
  command: z.array(z.string().min(1)).min(1).default(["lvm"]).meta({
    description:
      "The lvm command, including any prefix: `sudo, -n, lvm`, or in a container with the host's pid namespace `nsenter, -m, -u, -i, -n, -p, -t, 1, --, lvm`.",
  }),
  systemDir: z.string().min(1).exactOptional().meta({
    description: "LVM_SYSTEM_DIR for lvm: the directory of lvm.conf. LVM's default if absent.",
  }),
  activation: z.enum(["auto", "none"]).default("auto").meta({
    description:
      "`auto` activates volumes, so that they have a block device; `none` changes metadata only, for hosts without device-mapper.",
  }),
});
