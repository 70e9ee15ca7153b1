import { z } from "zod";
import { InfraError } from "../host/infra-error.ts";
import type { WorkloadNode } from "./adapter.ts";
import { quotedWords, type Refusal } from "./errors.ts";
import { workloadReasons } from "./reasons.ts";

// Only the used fields of Kubernetes' objects are parsed; all except names may be missing.

const textOf = z
  .string()
  .nullish()
  .transform((text) => text ?? "");
/** Arbitrary text from kubelets and networks. */
const lineOf = textOf.transform(quotedWords);
const textsOf = z
  .record(z.string(), z.string())
  .nullish()
  .transform((texts) => texts ?? {});
const metadata = z.object({
  name: z.string(),
  namespace: textOf,
  uid: textOf,
  resourceVersion: textOf,
  labels: textsOf,
  annotations: textsOf,
  creationTimestamp: textOf,
  deletionTimestamp: textOf,
  ownerReferences: z
    .array(z.object({ kind: z.string(), controller: z.boolean().nullish() }))
    .nullish()
    .transform((owners) => owners ?? []),
});

function listOf<T>(item: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z.object({ items: z.array(item).nullable() }).transform(({ items }) => items ?? []);
}

/** `v1.36.3` without the `v`. */
const versionText = lineOf.transform((text) => text.replace(/^v/, ""));

const nodeSchema = z
  .object({
    metadata,
    spec: z.object({ unschedulable: z.boolean().nullish() }).nullish(),
    status: z
      .object({
        conditions: z
          .array(
            z.object({
              type: z.string(),
              status: z.string(),
              reason: lineOf,
              message: lineOf,
              lastTransitionTime: textOf,
            }),
          )
          .nullish(),
        addresses: z.array(z.object({ type: textOf, address: z.string() })).nullish(),
        nodeInfo: z.object({ kubeletVersion: versionText }).nullish(),
      })
      .nullish(),
  })
  .transform(({ metadata, spec, status }): WorkloadNode => {
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    const changedAtMs = timeOf(ready?.lastTransitionTime ?? "");
    return {
      name: metadata.name,
      isReady: readiness(ready?.status),
      readyReason: ready?.reason ?? "",
      readyMessage: ready?.message ?? "",
      ...(changedAtMs === 0 ? {} : { readyChangedAtMs: changedAtMs }),
      kubeletVersion: status?.nodeInfo?.kubeletVersion ?? "",
      isCordoned: spec?.unschedulable ?? false,
      labels: new Map(Object.entries(metadata.labels)),
      addresses: (status?.addresses ?? []).flatMap(({ type, address }) =>
        type === "InternalIP" ? [address] : [],
      ),
      createdAtMs: timeOf(metadata.creationTimestamp),
    };
  });

/** A node that has not reported yet is not ready. */
function readiness(status: string | undefined): boolean | undefined {
  return status === "Unknown" ? undefined : status === "True";
}

function timeOf(text: string): number {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? 0 : ms;
}

/** A pod, with the facts for its eviction. */
export interface WorkloadPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Must be evicted before its node is removed: not a static pod, not of a DaemonSet, and not ended. */
  readonly hasToLeave: boolean;
  /** Is terminating. */
  readonly isLeaving: boolean;
}

const podSchema = z
  .object({ metadata, status: z.object({ phase: textOf }).nullish() })
  .transform(({ metadata, status }): WorkloadPod => {
    const isStatic = "kubernetes.io/config.mirror" in metadata.annotations;
    const isOfDaemonSet = metadata.ownerReferences.some(
      ({ kind, controller }) => kind === "DaemonSet" && controller === true,
    );
    const hasEnded = ["Succeeded", "Failed"].includes(status?.phase ?? "");
    return {
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
      hasToLeave: !isStatic && !isOfDaemonSet && !hasEnded,
      isLeaving: metadata.deletionTimestamp !== "",
    };
  });

const versionSchema = z.object({ gitVersion: versionText }).transform(({ gitVersion }) => gitVersion);

const configMapSchema = z
  .object({ metadata, data: textsOf })
  .transform(({ metadata, data }) => ({ resourceVersion: metadata.resourceVersion, data }));

const daemonSetSchema = z
  .object({
    spec: z.object({
      template: z.object({
        spec: z.object({ containers: z.array(z.object({ name: z.string(), image: textOf })) }),
      }),
    }),
  })
  .transform(({ spec }) => spec.template.spec.containers);

/** A machine's member of the etcd cluster. */
export interface EtcdMember {
  /** A number of 64 bits in decimal digits. */
  readonly id: string;
  /** Empty until it has started for the first time. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  /** Has no vote yet. */
  readonly isLearner: boolean;
}

const urlsOf = z
  .array(z.string())
  .nullish()
  .transform((urls) => urls ?? []);
const membersSchema = z
  .object({
    members: z.array(
      z
        .object({
          ID: z.string().regex(/^[0-9]+$/),
          name: textOf,
          peerURLs: urlsOf,
          isLearner: z.boolean().nullish(),
        })
        .transform(
          (member): EtcdMember => ({
            id: member.ID,
            name: member.name,
            peerUrls: member.peerURLs,
            isLearner: member.isLearner ?? false,
          }),
        ),
    ),
  })
  .transform(({ members }) => members);

function reader<T>(what: string, schema: z.ZodType<T>): (value: unknown) => T {
  return (value) => {
    const result = schema.safeParse(value);
    if (!result.success) {
      const [issue] = result.error.issues;
      const why = `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is invalid"}`;
      throw new InfraError(
        workloadReasons.WORKLOAD_FAILED,
        `A cluster sent an invalid reply about ${what}: ${why}`,
      );
    }
    return result.data;
  };
}

// Each parses a JSON value. @throws InfraError WORKLOAD_FAILED
export const parseNode = reader("a node", nodeSchema);
export const parseNodes = reader("its nodes", listOf(nodeSchema));
export const parsePods = reader("its pods", listOf(podSchema));
export const parseVersion = reader("its version", versionSchema);
export const parseConfigMap = reader("a ConfigMap", configMapSchema);
export const parseContainers = reader("a DaemonSet", daemonSetSchema);
export const parseMembers = reader("its etcd members", membersSchema);

const causesOf = z
  .array(z.object({ reason: textOf, message: textOf }))
  .nullish()
  .transform((causes) => causes ?? []);
const statusSchema = z.object({
  message: textOf,
  reason: textOf,
  details: z.object({ causes: causesOf }).nullish(),
});

/** Parses a Kubernetes Status, or an error of etcd. Other replies, such as a proxy's page, have no message. */
export function parseRefusal(status: number, text: string): Refusal {
  const { success, data } = statusSchema.safeParse(jsonFrom(text));
  return success
    ? { status, words: data.message, reason: data.reason, causes: data.details?.causes ?? [] }
    : { status, words: "", reason: "", causes: [] };
}

function jsonFrom(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
