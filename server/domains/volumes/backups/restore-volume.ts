import { createHash } from "node:crypto";
import type { LvmStep } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { NamedRepository, S3Fields } from "../../../backups/repositories.ts";
import {
  describePlace,
  type RepositoryPlace,
  type RepositorySecrets,
} from "../../../backups/repository-place.ts";
import type { Change } from "../../../domain/change.ts";
import type { BeginnableChange, CheckedOperation, LongChange } from "../../../domain/long-change.ts";
import { finalNameTag, operationTag, temporaryName } from "../../../lvm/operation-marks.ts";
import type { PlanText } from "../../../operations/mutation.ts";
import type { Operation } from "../../../operations/operation.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import {
  type CreateVolume,
  createVolumeStep,
  type LvmCreateStep,
  type NewVolume,
} from "../changes/create-volume.ts";
import { assertResolved } from "../device-class.ts";
import type { ShownVolume } from "../volume-messages.ts";
import { untilRestored } from "./await-restore.ts";
import type { BackupParts } from "./backup-parts.ts";
import type { RestoreInput } from "./restore-run.ts";

/** Data source of a new volume, as CreateLV gives it. */
export interface RestoreSource {
  /** Whether the call waits until the volume is filled. */
  readonly isSynchronous: boolean;
  /** Undefined: the local repository. */
  readonly s3: S3Fields | undefined;
}

/** A volume that is created and filled from a repository. */
export interface VolumeRestoreRequest {
  readonly volume: NewVolume;
  readonly named: NamedRepository;
  /** Returns the name of the gateway's encryption key; null: the owner has the key. */
  findKey(): Promise<string | null>;
}

type Secrets = RepositorySecrets | null;

const s3Prefix = "data_source.s3.";

/** Placeholder in planned commands for the operation's ID, which is assigned only when it begins. */
const operationId = "OPERATION";

/**
 * Returns the operation that creates and fills a volume. A request joins the equal one in progress. Its `check` throws what
 * CreateLV throws, OPERATION_IN_PROGRESS, and REPOSITORY reasons.
 */
export function createRestoreVolume(
  { lvm, restic, operations, host }: BackupParts,
  creation: CreateVolume,
  kind: OperationKind<RestoreInput, Secrets>,
): LongChange<VolumeRestoreRequest, RestoreInput, Secrets> {
  /** Returns the operation in progress that an equal request began. */
  async function running(
    attachKey: string,
    resource: string,
    except: string | undefined,
  ): Promise<Operation | undefined> {
    const states = ["scheduled", "active", "undoing"] as const;
    const filters = { kind: kind.kind, resource, states };
    const { operations: open } = await operations.list(filters, { belowSeq: undefined, limit: 100 });
    return open.find(
      (one) => one.host === host && one.id !== except && keyOf(one.input as RestoreInput) === attachKey,
    );
  }

  return {
    kind,
    async check({ volume, named, findKey }, { signal, operation }) {
      const { value: state } = await lvm.refresh(signal);
      const spec = creation.parse(volume);
      const { name, deviceClass, sizeBytes, tags } = spec;
      const resolved = assertResolved(deviceClass, state);
      const { group } = resolved;
      const input = {
        host,
        volumeGroup: group.name,
        groupUuid: group.uuid,
        volume: name,
        thinPool: deviceClass.thinPool ?? null,
        deviceClass: deviceClass.name,
        sizeBytes: Number(sizeBytes),
        tags: volume.tags,
        place: named.place,
        selector: named.selector,
      };
      const resource = volumeResource(group.name, name);
      const attachKey = keyOf(input);
      const joins = await running(attachKey, resource, operation?.id);
      if (joins !== undefined) {
        return { joins };
      }
      await operations.assertFree(resource, operation?.id);
      const { plan } = creation.check(spec, state);
      creation.preflight?.(spec, state);
      const create = createVolumeStep(state, resolved, { name, sizeBytes, tags });
      return {
        resource,
        backend: group.uuid,
        input: { ...input, keyName: await findKey() },
        secrets: named.secrets,
        attachKey,
        ...describeRestore({ lvm, restic }, { creation: plan, create, named }),
      };
    },
  };
}

/**
 * Makes a restore executable as CreateLV with a data source: the call returns once the volume is filled or, if not synchronous,
 * once it is created or the operation is queued; the volume then has no device. If the caller leaves, the operation continues.
 */
export function createRestoreFromSource(
  parts: BackupParts,
  restore: BeginnableChange<VolumeRestoreRequest>,
): Change<{ readonly volume: NewVolume; readonly source: RestoreSource }, Promise<ShownVolume>> {
  const { repositories, keys } = parts;
  const requestOf = (volume: NewVolume, { s3 }: RestoreSource): VolumeRestoreRequest => {
    const named = repositories.named(s3, s3Prefix);
    const hasOwnKey = typeof named.secrets?.encryptionKey === "string";
    return { volume, named, findKey: async () => (hasOwnKey ? null : keys.find(named.place)) };
  };
  return {
    plan: async ({ volume, source }, requester) => restore.plan(requestOf(volume, source), requester),
    async run({ volume, source }, call) {
      const { operation } = await restore.begin(requestOf(volume, source), call);
      return untilRestored(parts, { id: operation.id, isSynchronous: source.isSynchronous }, call.signal);
    },
  };
}

interface DescribedRestore {
  /** Plan of the creation of the volume. */
  readonly creation: PlanText;
  /** Step that creates the volume, with its final name. */
  readonly create: LvmCreateStep;
  readonly named: NamedRepository;
}

function describeRestore(
  { lvm, restic }: Pick<BackupParts, "lvm" | "restic">,
  { creation, create, named: { place, selector } }: DescribedRestore,
): Pick<CheckedOperation<RestoreInput>, "plan" | "steps"> {
  const step = (label: string, command: readonly string[] = []) => ({ name: label, command });
  const lvmStep = (label: string, call: LvmStep) => step(label, lvm.commandOf(call));
  const { name: newName, volumeGroupName } = create;
  const name = temporaryName("restore", operationId);
  const tags = [operationTag(operationId), finalNameTag(newName)];
  return {
    plan: {
      ...creation,
      changes: [`${creation.changes.join("; ")}, and filled from ${describeSource(place, selector)}`],
    },
    steps: [
      step("locate"),
      lvmStep("create", { ...create, name, tags: [...create.tags, ...tags] }),
      step("fill", restic.commandOf("restore")),
      lvmStep("release", { kind: "rename", volumeGroupName, name, newName }),
      lvmStep("removeTags", {
        kind: "changeTags",
        volumeGroupName,
        name: newName,
        addTags: [],
        removeTags: tags,
      }),
    ],
  };
}

function describeSource(place: RepositoryPlace, selector: string): string {
  const which = selector === "" ? "the latest backup" : `the backup ${selector}`;
  return `${which} in ${describePlace(place)}`;
}

/** Returns a key that is the same for equal requests. */
function keyOf(input: Omit<RestoreInput, "groupUuid" | "deviceClass" | "keyName">): string {
  const { host, volumeGroup, thinPool, volume, sizeBytes, tags, place, selector } = input;
  const text = JSON.stringify([host, volumeGroup, thinPool, volume, sizeBytes, tags, place, selector]);
  return `restore ${createHash("sha256").update(text).digest("hex")}`;
}
