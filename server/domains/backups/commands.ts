import { type Backup, BackupSchema, BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { BackupStateSchema, LVService, StateType } from "../../../gen/proto/lvmd_pb.ts";
import { custom, list, type Noun, operation, show } from "../../cli/table/command.ts";
import { followOperation } from "../../cli/table/follow-operation.ts";
import { jsonOfMessage } from "../../cli/table/message-json.ts";
import {
  argument,
  count,
  file,
  flag,
  nameOf,
  option,
  optionList,
  wholeGib,
  word,
} from "../../cli/table/parameter.ts";
import { anyName, inventoryReference, uuid } from "../../cli/table/reference.ts";
import { timeText } from "../../cli/table/time-text.ts";
import { watchResources } from "../../cli/table/watch-resources.ts";
import { type AccessOptions, readRepositorySecrets } from "./repository-access.ts";

const backups = inventoryReference("backup", "backup", uuid);
const id = argument("backup id, or a prefix of it", nameOf("id", backups));

/** Options of commands that work on a repository. */
const access = {
  access: option(
    "read AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, RESTIC_PASSWORD, HTTP_PROXY and HTTPS_PROXY from this file (lines of NAME=value) instead of the environment",
    file,
  ),
  ownKey: flag("the backup is encrypted with RESTIC_PASSWORD, not with a key of the gateway"),
  proxy: flag("connect to the S3 service through HTTP_PROXY or HTTPS_PROXY"),
};

/** Backups of volumes. */
export const backupNoun: Noun = {
  reference: backups,
  commands: [
    list({
      name: "list",
      summary: "list backups, newest first",
      parameters: {
        volume: option(
          "only this volume (volumeGroups/vg0/volumes/data) or anything below this resource",
          word("resource"),
        ),
        name: option("only backups with exactly this name", word("name")),
        schedule: option("only backups created by this schedule", word("name")),
        limit: option("maximum number of backups (default: 100)", count),
      },
      method: BackupService.method.listBackups,
      schema: BackupSchema,
      items: (response) => response.backups,
      columns: {
        ID: "id",
        NAME: "name",
        VOLUME: "volume",
        "AS OF": "at",
        SIZE: "sizeBytes",
        REPOSITORY: "repository",
        STATE: stateOf,
      },
      watch: watchResources("backup"),
    }),
    show({
      name: "show",
      summary: "show a backup",
      parameters: { id },
      method: BackupService.method.getBackup,
      schema: BackupSchema,
      item: (response) => response.backup,
      view: (item) => ({
        facts: [
          ["id", item.id],
          ["name", item.name],
          ["volume", item.volume],
          ["host", item.host],
          ["as of", timeText(item.at)],
          ["bytes", String(item.sizeBytes)],
          ["repository", item.repository],
          ["snapshot", item.snapshotId],
          ["key", item.key === "" ? "its owner's" : `the gateway's ${item.key}`],
          ["schedule", item.schedule],
          ["requested", `by ${item.actor}`],
          ["operation", item.operationId],
          ["state", stateOf(item)],
        ],
      }),
    }),
    custom({
      name: "create",
      summary: "back up a volume, or show the progress of the backup with this name",
      parameters: {
        name: argument("name of the backup", word("name")),
        volume: argument(
          "data, vg0/data or volumeGroups/vg0/volumes/data",
          nameOf("volume", inventoryReference("volume", "volume", anyName)),
        ),
        endpoint: option("S3 endpoint to store it in (default: the local repository)", word("url")),
        path: option("bucket and prefix on the S3 service", word("path")),
        noVerifyTls: flag("do not verify the endpoint's certificate"),
        ...access,
      },
      method: LVService.method.createBackup,
      canWait: true,
      request: createRequest,
      run: async (session, values, printer, { isWaiting }) => {
        const request = await createRequest(values);
        const poll = async () => {
          const { message, header } = await session.call(LVService.method.createBackup, request);
          return { state: message.backupState, operationId: header.get("hostplane-operation") ?? "" };
        };
        let { state, operationId } = await poll();
        if (isWaiting && state?.state === StateType.INPROGRESS) {
          await followOperation(session, operationId, printer);
          ({ state } = await poll());
        }
        if (state === undefined) {
          throw new Error("the gateway returned nothing");
        }
        const hasFailed = state.state === StateType.ERROR;
        if (printer.format === "json" || printer.format === "yaml") {
          printer.documentInStream(jsonOfMessage(BackupStateSchema, state));
        } else if (hasFailed) {
          printer.err(state.msg);
        } else {
          printer.out(printer.format === "name" ? state.name : state.msg);
        }
        return hasFailed ? 1 : 0;
      },
    }),
    operation({
      name: "verify",
      summary: "verify a backup by reading all of it",
      parameters: { id, ...access },
      method: BackupService.method.verifyBackup,
      request: async (values) => ({ id: values.id, access: await secretsFrom(values) }),
    }),
    operation({
      name: "restore",
      summary: "create a new volume from a backup",
      parameters: {
        id,
        volume: argument("name of the new volume", word("volume")),
        deviceClass: option("device class (default: the configured default class)", word("name")),
        size: option("size in whole GiB, such as 20GiB (default: the backup's size)", wholeGib),
        tag: optionList("an LVM tag to put on the volume", word("tag")),
        ...access,
      },
      method: BackupService.method.restoreBackup,
      request: async ({ id: from, volume, deviceClass = "", size = 0n, tag, ...given }) => ({
        id: from,
        volumeName: volume,
        deviceClass,
        sizeGb: size,
        tags: [...tag],
        access: await secretsFrom(given),
      }),
    }),
    operation({
      name: "delete",
      summary: "delete a backup permanently",
      parameters: { id, ...access },
      method: BackupService.method.deleteBackup,
      destroys: true,
      request: async (values) => ({ id: values.id, access: await secretsFrom(values) }),
    }),
  ],
};

interface AccessValues {
  readonly access: string | undefined;
  readonly ownKey: boolean;
  readonly proxy: boolean;
}

interface CreateValues extends AccessValues {
  readonly name: string;
  readonly volume: string;
  readonly endpoint: string | undefined;
  readonly path: string | undefined;
  readonly noVerifyTls: boolean;
}

/** Returns the request of a backup. Without an endpoint it goes to the local repository. */
async function createRequest(values: CreateValues) {
  const { name, volume, endpoint = "", path = "", noVerifyTls } = values;
  const { encryptionKey, ...secrets } = await secretsFrom(values);
  const s3 = {
    endpoint,
    path,
    verifyTls: !noVerifyTls,
    encryptionKey,
    ...(endpoint === "" ? {} : secrets),
  };
  const isLocal = endpoint === "" && path === "" && encryptionKey === "";
  const dataSource = isLocal ? {} : { dataSource: { type: { case: "s3" as const, value: s3 } } };
  return { backup: { name, volumeHandle: volume, ...dataSource } };
}

function secretsFrom({ access: accessFile, ownKey, proxy }: AccessValues) {
  const options: AccessOptions = { ownKey, proxy };
  return readRepositorySecrets(accessFile === undefined ? options : { ...options, access: accessFile });
}

function stateOf({ damage, verifiedAt }: Backup): string {
  if (damage !== "") {
    return `damaged: ${damage}`;
  }
  return verifiedAt === undefined ? "not verified" : `verified on ${timeText(verifiedAt)}`;
}
