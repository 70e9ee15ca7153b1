import { createHash } from "node:crypto";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { NamedRepository, S3Fields } from "../../../backups/repositories.ts";
import type { RepositorySecrets } from "../../../backups/repository-place.ts";
import type { Operation } from "../../../operations/operation.ts";
import type { OperationStarter } from "../../../operations/operations.ts";
import type { Requester } from "../../../rpc/call/requester.ts";
import {
  type CreateSpec,
  type CreateVolume,
  createVolumeStep,
  type LvmCreateStep,
  type NewVolume,
} from "../changes/create-volume.ts";
import { assertResolved } from "../device-class.ts";
import type { ShownVolume } from "../volume-messages.ts";
import { untilRestored } from "./await-restore.ts";
import type { BackupParts, Foreseen } from "./backup-parts.ts";
import { restoreKindName } from "./restore-kind.ts";
import type { RestoreInput } from "./restore-run.ts";

/** Data source of a new volume, as CreateLV gives it. */
export interface RestoreSource {
  /** Whether the call waits until the volume is filled. */
  readonly isSynchronous: boolean;
  /** Undefined: the local repository. */
  readonly s3: S3Fields | undefined;
}

/** A restore request whose fields are valid. */
interface AskedRestore {
  /** The creation of the volume. */
  readonly spec: CreateSpec;
  readonly input: Omit<RestoreInput, "keyName">;
  readonly resource: string;
  /** Equal for equal requests. */
  readonly attachKey: string;
}

/** A restore whose request has passed every check that does not need the repository. */
export interface PlannedRestore {
  readonly input: Omit<RestoreInput, "keyName">;
  readonly resource: string;
  /** Description of the volume that the restore creates. */
  readonly change: string;
  /** Step that creates the volume, with its final name. */
  readonly create: LvmCreateStep;
}

export interface RestoreVolume {
  /**
   * Creates and fills a volume; a request that equals one in progress joins it. Returns once the volume is filled or, if not
   * synchronous, once it is created or the operation is queued; the volume then has no device.
   * @throws InfraError what CreateLV throws, INVALID_FIELD, ENDPOINT_NOT_ALLOWED, OPERATION_IN_PROGRESS,
   *   OPERATION_CANCELLED, BACKUP_NOT_FOUND, VOLUME_TOO_SMALL, REPOSITORY reasons, and the signal's reason, after which the
   *   operation continues
   */
  create(volume: NewVolume, source: RestoreSource, asker: Requester): Promise<ShownVolume>;
  /**
   * Begins a restore from a known repository, and returns at once.
   * @throws InfraError as `create` does before it begins
   */
  begin(
    volume: NewVolume,
    named: NamedRepository,
    keyName: string | null,
    asker: Requester,
  ): Promise<Operation>;
  /**
   * Returns what `create` would begin now: nothing if it would join an operation in progress.
   * @throws InfraError as `create` does before it begins
   */
  planCreate(
    volume: NewVolume,
    source: RestoreSource,
    signal: AbortSignal,
  ): Promise<Foreseen<PlannedRestore>>;
  /** Returns what `begin` would begin now. @throws InfraError as `begin` does */
  planBegin(
    volume: NewVolume,
    named: NamedRepository,
    signal: AbortSignal,
  ): Promise<Foreseen<PlannedRestore>>;
}

const s3Prefix = "data_source.s3.";

export function createRestoreVolume(
  parts: BackupParts,
  creation: CreateVolume,
  starter: OperationStarter<RestoreInput, RepositorySecrets | null>,
): RestoreVolume {
  const { lvm, operations, repositories, keys, host } = parts;

  /** Validates the fields of a request. */
  function read(volume: NewVolume, named: NamedRepository, state: LvmState): AskedRestore {
    const spec = creation.parse(volume);
    const { deviceClass, sizeBytes } = spec;
    const { group } = assertResolved(deviceClass, state);
    const input = {
      host,
      volumeGroup: group.name,
      groupUuid: group.uuid,
      volume: volume.name,
      thinPool: deviceClass.thinPool ?? null,
      deviceClass: deviceClass.name,
      sizeBytes: Number(sizeBytes),
      tags: volume.tags,
      place: named.place,
      selector: named.selector,
    };
    return {
      spec,
      input,
      resource: volumeResource(group.name, volume.name),
      attachKey: keyOf(input),
    };
  }

  /** Returns the operation in progress that an equal request began. */
  async function findLike({ attachKey, resource }: AskedRestore): Promise<Operation | undefined> {
    const states = ["scheduled", "active", "undoing"] as const;
    const filters = { kind: restoreKindName, resource, states };
    const { operations: open } = await operations.list(filters, { belowSeq: undefined, limit: 100 });
    return open.find((one) => one.host === host && keyOf(one.input as RestoreInput) === attachKey);
  }

  /** @throws InfraError OPERATION_IN_PROGRESS, and what CreateLV throws */
  async function assertPossible(
    { spec, input, resource }: AskedRestore,
    state: LvmState,
  ): Promise<PlannedRestore> {
    await operations.assertFree(resource);
    const change = creation.check(spec, state).plan.changes.join("; ");
    creation.preflight?.(spec, state);
    const { name, deviceClass, sizeBytes, tags } = spec;
    const create = createVolumeStep(state, assertResolved(deviceClass, state), { name, sizeBytes, tags });
    return { input, resource, create, change };
  }

  async function begin(
    volume: NewVolume,
    named: NamedRepository,
    findKey: () => Promise<string | null>,
    asker: Requester,
  ): Promise<Operation> {
    const { value: state } = await lvm.read(asker.signal);
    const asked = read(volume, named, state);
    const { input, resource, attachKey } = asked;
    asker.noteResource(resource);
    const like = await findLike(asked);
    if (like !== undefined) {
      asker.noteOperation(like.id);
      return like;
    }
    await assertPossible(asked, state);
    const { operation } = await starter.start({
      resource,
      backend: input.groupUuid,
      input: { ...input, keyName: await findKey() },
      secrets: named.secrets,
      asker: { actor: asker.actor, accountId: asker.accountId, rpc: asker.rpc },
      attachKey,
    });
    asker.noteOperation(operation.id);
    return operation;
  }

  async function planBegin(
    volume: NewVolume,
    named: NamedRepository,
    signal: AbortSignal,
  ): Promise<Foreseen<PlannedRestore>> {
    const { value: state } = await lvm.refresh(signal);
    const asked = read(volume, named, state);
    const isUnderWay = (await findLike(asked)) !== undefined;
    return { resource: asked.resource, begins: isUnderWay ? undefined : await assertPossible(asked, state) };
  }

  async function findKeyOf({ secrets, place }: NamedRepository): Promise<string | null> {
    return typeof secrets?.encryptionKey === "string" ? null : keys.find(place);
  }

  return {
    async create(volume, { isSynchronous, s3 }, asker) {
      const named = repositories.named(s3, s3Prefix);
      const { id } = await begin(volume, named, () => findKeyOf(named), asker);
      return untilRestored(parts, { id, isSynchronous }, asker.signal);
    },
    begin: (volume, named, keyName, asker) => begin(volume, named, async () => keyName, asker),
    planBegin,
    async planCreate(volume, { s3 }, signal) {
      const named = repositories.named(s3, s3Prefix);
      const planned = await planBegin(volume, named, signal);
      await findKeyOf(named);
      return planned;
    },
  };
}

/** Returns a key that is the same for equal requests. */
function keyOf(asked: Omit<RestoreInput, "groupUuid" | "deviceClass" | "keyName">): string {
  const { host, volumeGroup, thinPool, volume, sizeBytes, tags, place, selector } = asked;
  const text = JSON.stringify([host, volumeGroup, thinPool, volume, sizeBytes, tags, place, selector]);
  return `restore ${createHash("sha256").update(text).digest("hex")}`;
}
