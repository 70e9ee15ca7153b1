import { z } from "zod";

const path = z.string().min(1).max(4095);
const user = z.string().regex(/^client\.[A-Za-z0-9._-]{1,128}$/, {
  error: "expected the name of a user of Ceph, such as client.hostplane",
});
const keyring = path.meta({
  description: "The file with its key; where the configuration of Ceph says if absent.",
});

const ceph = z.strictObject({
  conf: path.default("/etc/ceph/ceph.conf").meta({
    description: "The configuration of Ceph, which names the monitors.",
  }),
  user: user.default("client.hostplane").meta({ description: "The user of Ceph that reads." }),
  keyring: keyring.exactOptional(),
  operator: z
    .strictObject({
      user: user.meta({ description: "The user of Ceph that changes." }),
      keyring: keyring.exactOptional(),
    })
    .exactOptional()
    .meta({
      description: "A second key, for what changes anything. Without it those calls are refused.",
    }),
});

const kubernetes = z.strictObject({
  kubeconfig: path.exactOptional().meta({
    description:
      "File that says how the Kubernetes cluster is reached; the account of the pod that the gateway runs in if absent.",
  }),
  context: z
    .string()
    .min(1)
    .max(253)
    .exactOptional()
    .meta({ description: "Which context of that file; its current one if absent." }),
  namespace: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, {
      error: "expected the name of a namespace: lower-case letters, digits and '-'",
    })
    .default("rook-ceph")
    .meta({ description: "The namespace that Rook and Koor keep the storage cluster in." }),
});

/** The key `storage`. */
export const storageSchema = z
  .strictObject({
    ceph: ceph.exactOptional().meta({ description: "The Ceph cluster. None if absent." }),
    kubernetes: kubernetes.exactOptional().meta({
      description: "The Kubernetes cluster that carries it. None if absent.",
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
