import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { toJsonString } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { EventService, SubscribeResponseSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import {
  ListCommandsResponseSchema,
  ListOperationsResponseSchema,
  OperationService,
} from "../../../gen/hostplane/v1/operation_pb.ts";
import { LVService, StateType } from "../../../gen/proto/lvmd_pb.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";
import { makeDirectory } from "../store/store-under-test.ts";

const secrets = {
  accessKeyId: "secret-access-key-id",
  secretAccessKey: "secret/half+of=the key",
  sessionToken: "secret-session-token",
  encryptionKey: "secret encryption key",
};

const otherKey = "another secret key";

const s3 = { endpoint: "https://s3.sandbox.invalid", path: "bucket", verifyTls: true, ...secrets };

/** Returns the secret as text, and in the usual encodings of bytes. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("hex"), bytes.toString("base64").slice(0, -4), encodeURIComponent(secret)];
}

function assertAbsent(t: Test, where: string, text: string): void {
  for (const secret of [...Object.values(secrets), otherKey]) {
    const found = formsOf(secret).filter((form) => text.includes(form));
    t.same(found, [], `${secret} is not in ${where}`);
  }
}

/** Returns the concatenated bytes of all files in a directory. */
async function bytesOf(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1")),
  );
  return contents.join("\n");
}

test("the secrets that open a repository are never returned, and are in no file", async (t) => {
  const data = await makeDirectory(t);
  const { gateway, url, log } = await startGatewayUnderTest(t, { data }, { logLevel: "trace" });
  const transport = createGrpcTransport({ baseUrl: url });
  const lv = createClient(LVService, transport);
  const operations = createClient(OperationService, transport);
  const answers: string[] = [];

  const pollOf = (name: string, fields: object = {}) => {
    const dataSource = { type: { case: "s3" as const, value: { ...s3, ...fields } } };
    return async () => {
      const { backupState } = await lv.createBackup({
        backup: { name, volumeHandle: "sandbox-web", dataSource },
      });
      answers.push(backupState?.msg ?? "");
      return backupState?.state;
    };
  };
  const ended = async () => {
    for (;;) {
      const { operations: [newest] = [] } = await operations.listOperations({ pageSize: 1 });
      if (newest?.endedAt !== undefined) {
        return newest;
      }
      for await (const _change of operations.watchOperation({ id: newest?.id ?? "" })) {
        // Reads until the stream ends.
      }
    }
  };

  const poll = pollOf("monday");
  t.equal(await poll(), StateType.INPROGRESS);
  assertAbsent(t, "the store while it is needed", await bytesOf(data));
  await ended();
  t.equal(await poll(), StateType.COMPLETE);
  const wrong = pollOf("tuesday", { encryptionKey: otherKey });
  await wrong();
  t.match(await ended(), { error: { reason: "REPOSITORY_KEY_WRONG" } });
  t.equal(await wrong(), StateType.ERROR);

  const dataSource = { synchronousRestore: true, type: { case: "s3" as const, value: s3 } };
  await lv.createLV({ name: "restored", sizeGb: 2n, dataSource });
  const other = { ...dataSource, type: { case: "s3" as const, value: { ...s3, encryptionKey: otherKey } } };
  answers.push(
    JSON.stringify(await rpcErrorOf(lv.createLV({ name: "none", sizeGb: 2n, dataSource: other }))),
  );
  const proxied = {
    ...dataSource,
    type: {
      case: "s3" as const,
      value: { ...s3, httpsProxy: `http://me:${encodeURIComponent(otherKey)}@evil.invalid` },
    },
  };
  answers.push(
    JSON.stringify(await rpcErrorOf(lv.createLV({ name: "none", sizeGb: 2n, dataSource: proxied }))),
  );
  const backups = createClient(BackupService, transport);
  const { backups: [backup] = [] } = await backups.listBackups({});
  await backups.verifyBackup({ id: backup?.id ?? "", access: secrets });
  await ended();

  const listed = await operations.listOperations({});
  answers.push(toJsonString(ListOperationsResponseSchema, listed));
  for (const { id } of listed.operations) {
    answers.push(toJsonString(ListCommandsResponseSchema, await operations.listCommands({ id })));
  }
  const start = { case: "time" as const, value: timestampFromMs(0) };
  const leave = new AbortController();
  let events = 0;
  try {
    const { subscribe } = createClient(EventService, transport);
    for await (const { message, ...rest } of subscribe({ start }, { signal: leave.signal })) {
      answers.push(toJsonString(SubscribeResponseSchema, { ...rest, message }));
      events += 1;
      const detail = message.case === "event" ? message.value.detail : undefined;
      if (
        detail?.case === "operation" &&
        detail.value.id === listed.operations[0]?.id &&
        detail.value.endedAt
      ) {
        leave.abort();
      }
    }
  } catch {
    t.ok(events > 10, "the events are checked");
  }
  answers.push(await (await fetch(`${url}/metrics`)).text());
  assertAbsent(t, "an answer", answers.join("\n"));
  await gateway.close();
  assertAbsent(t, "the log", JSON.stringify(log));
  const files = await bytesOf(data);
  t.ok(
    files.includes("sandbox-web") && files.includes("https://s3.sandbox.invalid"),
    "the files are checked",
  );
  assertAbsent(t, "a file", files);
});
