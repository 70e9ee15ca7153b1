import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Operation, OperationService, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import {
  type BackupState,
  type DataSourceSchema,
  LVService,
  StateType,
  VGService,
} from "../../../gen/proto/lvmd_pb.ts";
import { type Hold, holdAtGate } from "../ceph/s3-gate.ts";
import { startGatewayProcess } from "../gateway-process.ts";

/** What a gateway with backups is tested on. */
export interface BackupLabOptions {
  /** An empty volume group with room for six volumes, each of `sizeMib` rounded up to whole GiB. */
  readonly volumeGroup: string;
  readonly sizeMib: number;
  /** Whether the gateway is also killed in the middle of a backup and a restore. */
  readonly isKilled: boolean;
  /** S3 endpoint behind a gate: s3-gate.ts. */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const encryptionKey = "correct horse battery staple";
const bucket = "lab-backups";

/** A volume to create and fill. */
export interface VolumeSpec {
  readonly name: string;
  readonly sizeGb: bigint;
  readonly deviceClass?: string;
  readonly tags?: string[];
}

/** A gateway on real LVM with an S3 endpoint, thick and thin volumes, and a shell on the same host. */
export interface BackupLab {
  /** The gateway's data directory. */
  readonly folder: string;
  readonly lv: Client<typeof LVService>;
  readonly vg: Client<typeof VGService>;
  readonly operations: Client<typeof OperationService>;
  /** Runs an sh command line with RESTIC_REPOSITORY etc. in its environment; throws unless it exits with 0. */
  type(command: string): Promise<string>;
  /** Returns all volumes, including LVM's hidden ones, one per line. */
  volumes(): Promise<string[]>;
  /** Returns the SHA-256 of the first `sizeMib` of a device. */
  sumOf(volume: string): Promise<string>;
  /** Calls CreateBackup; returns the state and the operation in the response. */
  poll(volume: string, name: string): Promise<{ readonly state: BackupState; readonly operationId: string }>;
  /** Calls CreateBackup until it reports anything other than progress. */
  untilBackedUp(volume: string, name: string): Promise<BackupState>;
  /** Calls CreateLV with a backup as source, and again when the deadline passes. Returns the operation in the response. */
  restore(
    expected: VolumeSpec,
    source: { readonly of: string; readonly synchronousRestore: boolean },
  ): Promise<string>;
  /** Waits until an operation is at a step and some of its bytes have been transferred. */
  untilMoving(operationId: string, step: string): Promise<Operation>;
  untilEnded(operationId: string): Promise<Operation>;
  /** Makes the S3 endpoint hold requests for objects of a kind, after letting `passes` of them through. */
  hold(method: "GET" | "PUT", kind: "data" | "locks", passes?: number): Promise<Hold>;
  /** Kills the gateway as a crash would; nothing responds until `start`. */
  kill(): Promise<void>;
  start(): Promise<void>;
  end(): Promise<void>;
}

/** Starts a gateway with the device classes `thick` (the default) and `thin`, which is in the pool `pool`. */
export async function openBackupLab(options: BackupLabOptions): Promise<BackupLab> {
  const { volumeGroup, sizeMib, endpoint, accessKeyId, secretAccessKey } = options;
  const folder = mkdtempSync(join(tmpdir(), "hostplane-backups-"));
  const volumes = {
    deviceClasses: [
      { name: "thick", volumeGroup, default: true, spareGiB: 0 },
      { name: "thin", volumeGroup, thinPool: "pool", overprovision: 10 },
    ],
    backup: { allowEndpoints: [endpoint], snapshotPercent: 10 },
  };
  const environment = {
    ...process.env,
    RESTIC_REPOSITORY: `s3:${endpoint}/${bucket}`,
    RESTIC_PASSWORD: encryptionKey,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };

  async function startGateway() {
    const gateway = await startGatewayProcess(join(folder, "hostplane.yaml"), volumes);
    const transport = createGrpcTransport({ baseUrl: gateway.url });
    return {
      gateway,
      lv: createClient(LVService, transport),
      vg: createClient(VGService, transport),
      operations: createClient(OperationService, transport),
    };
  }
  let running = await startGateway();

  function dataSource(path: string, synchronousRestore = false): MessageInitShape<typeof DataSourceSchema> {
    const value = { endpoint, path, accessKeyId, secretAccessKey, encryptionKey, verifyTls: true };
    return { synchronousRestore, type: { case: "s3", value } };
  }

  async function type(command: string): Promise<string> {
    return (await promisify(execFile)("sh", ["-ec", command], { env: environment })).stdout;
  }

  async function poll(volume: string, name: string) {
    let operationId = "";
    const backup = { name, volumeHandle: volume, dataSource: dataSource(bucket) };
    const { backupState } = await running.lv.createBackup(
      { backup },
      {
        onHeader: (headers) => {
          operationId = headers.get("hostplane-operation") ?? "";
        },
      },
    );
    assert.ok(backupState);
    return { state: backupState, operationId };
  }

  async function operationOnce(id: string, isSo: (operation: Operation) => boolean): Promise<Operation> {
    for (;;) {
      const { operation } = await running.operations.getOperation({ id });
      assert.ok(operation);
      if (isSo(operation)) {
        return operation;
      }
      // Each poll takes CPU time of an emulated processor away from restic.
      await sleep(500);
    }
  }

  return {
    folder,
    get lv() {
      return running.lv;
    },
    get vg() {
      return running.vg;
    },
    get operations() {
      return running.operations;
    },
    type,
    async volumes() {
      const lines = await type("lvs -a --noheadings -o vg_name,lv_name,lv_size,origin,lv_tags --units b");
      return lines
        .split("\n")
        .map((line) => line.trim().replaceAll(/ +/g, " "))
        .filter((line) => line !== "")
        .toSorted();
    },
    async sumOf(volume) {
      const sum = await type(`head -c ${sizeMib}M /dev/${volumeGroup}/${volume} | sha256sum`);
      return sum.split(" ")[0] ?? "";
    },
    poll,
    async untilBackedUp(volume, name) {
      for (;;) {
        const { state } = await poll(volume, name);
        if (state.state !== StateType.INPROGRESS) {
          return state;
        }
        await sleep(500);
      }
    },
    async restore(expected, { of, synchronousRestore }) {
      const request = { ...expected, dataSource: dataSource(`${bucket}#${of}`, synchronousRestore) };
      for (;;) {
        let operationId = "";
        const onHeader = (headers: Headers) => {
          operationId = headers.get("hostplane-operation") ?? "";
        };
        const refusal = await running.lv.createLV(request, { onHeader }).then(
          () => undefined,
          (thrown: unknown) => ConnectError.from(thrown),
        );
        if (refusal === undefined) {
          return operationId;
        }
        // The restore continues: the same call joins it.
        assert.equal(refusal.code, Code.DeadlineExceeded, refusal.message);
      }
    },
    untilMoving: (id, step) =>
      operationOnce(id, ({ step: current, doneBytes = 0n, state }) => {
        assert.equal(state === OperationState.ACTIVE || state === OperationState.SCHEDULED, true);
        return current === step && doneBytes > 0n;
      }),
    untilEnded: (id) => operationOnce(id, ({ endedAt }) => endedAt !== undefined),
    hold: (method, kind, passes = 0) =>
      holdAtGate(endpoint, { pattern: new RegExp(`^${method} /${bucket}/${kind}/`), passes }),
    kill: () => running.gateway.kill("SIGKILL"),
    async start() {
      running = await startGateway();
    },
    async end() {
      await running.gateway.kill("SIGTERM");
      rmSync(folder, { recursive: true });
    },
  };
}
