import { z } from "zod";
import type { ConfigOf } from "../../config/config-of.ts";

const path = z.string().min(1).max(4095);
const user = z.string().regex(/^client\.[A-Za-z0-9._-]{1,128}$/, {
  error: "expected the name of a Ceph user, such as client.hostplane",
});
const keyring = path.meta({
  description: "The file with the user's key. The path in Ceph's configuration if absent.",
});

const ceph = z.strictObject({
  conf: path.default("/etc/ceph/ceph.conf").meta({
    description: "Ceph's configuration file, which names the monitors.",
  }),
  user: user.default("client.hostplane").meta({ description: "The Ceph user for reads." }),
  keyring: keyring.exactOptional(),
  operator: z
    .strictObject({
      user: user.meta({ description: "The Ceph user for changes." }),
      keyring: keyring.exactOptional(),
    })
    .exactOptional()
    .meta({
      description: "A second user, for changes. Without it, calls that change something are refused.",
    }),
});

const kubernetes = z.strictObject({
  kubeconfig: path.exactOptional().meta({
    description:
      "The kubeconfig file of the Kubernetes cluster. If absent, the service account of the gateway's pod is used.",
  }),
  context: z
    .string()
    .min(1)
    .max(253)
    .exactOptional()
    .meta({ description: "Context in that file. Its current context if absent." }),
  namespace: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, {
      error: "expected the name of a namespace: lower-case letters, digits and '-'",
    })
    .default("rook-ceph")
    .meta({ description: "The namespace of the storage cluster's Rook and Koor resources." }),
});

/** The key `storage`. */
export const storageSchema = z
  .strictObject({
    ceph: ceph.exactOptional().meta({ description: "The Ceph cluster. None if absent." }),
    kubernetes: kubernetes.exactOptional().meta({
      description: "The Kubernetes cluster that Ceph runs on. None if absent.",
    }),
  })
  .superRefine(({ ceph, kubernetes }, context) => {
    if (ceph === undefined && kubernetes === undefined) {
      context.addIssue({ code: "custom", message: "expected ceph, kubernetes or both" });
    }
    if (kubernetes?.context !== undefined && kubernetes.kubeconfig === undefined) {
      context.addIssue({
        code: "custom",
        path: ["kubernetes", "context"],
        message: "expected only with kubeconfig",
      });
    }
  });

/** Settings of the domain. */
export type StorageConfig = ConfigOf<typeof storageSchema>;
