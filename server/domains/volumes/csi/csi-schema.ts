import { z } from "zod";
import { assertAbsolutePath } from "../../../../adapters/mounts/names.ts";
import { assertByAdapter, assertUnique } from "../../../config/schema-rules.ts";

/** The key `volumes.csi`. */
export const csiSchema = z.strictObject({
  driverName: z
    .string()
    .max(63)
    .regex(/^[a-z]([-a-z0-9.]*[a-z])?$/, {
      error: "expected lower-case letters, digits, '-' and '.', with a letter at both ends",
    })
    .default("lvm.csi.hostplane")
    .meta({
      description:
        "Name of the driver, which is the `provisioner` of a StorageClass, the `plugin_id` of a Nomad volume, and the start of the keys of topology. Never change it while there are volumes.",
    }),
  roots: z
    .array(
      z
        .string()
        .superRefine((path, context) =>
          assertByAdapter(() => assertAbsolutePath(path, "path"), context, "a path"),
        ),
    )
    .min(1)
    .superRefine((paths, context) => assertUnique(paths, context, "path", (path) => path))
    .default(["/var/lib/kubelet"])
    .meta({
      description:
        "Directories of this host below which volumes may be staged and published. None may lead through a symbolic link.",
      examples: [["/var/lib/kubelet"], ["/opt/nomad/client/csi"]],
    }),
  expansion: z.enum(["controller", "node"]).default("controller").meta({
    description:
      "Which service grows a volume: `controller` in ControllerExpandVolume, `node` only in NodeExpandVolume, for orchestrators that may call the controller of another host, such as Kubernetes with several nodes.",
  }),
});

/** Length of the name in a key of a topology, of which `class-` is a part. */
const maxClassName = 63 - "class-".length;

/**
 * Adds an issue for each device class whose name cannot be part of a key of the topology: keys have at most 63 characters, and may not
 * differ in upper and lower case only.
 */
export function assertTopologyNames(
  deviceClasses: readonly { readonly name: string }[],
  context: z.RefinementCtx,
): void {
  for (const [index, { name }] of deviceClasses.entries()) {
    const isLong = name.length > maxClassName;
    const isRepeated = deviceClasses
      .slice(0, index)
      .some((earlier) => earlier.name.toLowerCase() === name.toLowerCase());
    if (isLong || isRepeated) {
      const expected = isLong
        ? `at most ${maxClassName} characters`
        : "a name that differs from the others in more than upper and lower case";
      context.addIssue({
        code: "custom",
        path: ["deviceClasses", index, "name"],
        message: `expected ${expected}, because volumes.csi uses it in a key of the topology`,
      });
    }
  }
}
