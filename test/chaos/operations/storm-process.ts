import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { masterKeysFromText } from "../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../server/crypto/seal.ts";
import { gatewayModules } from "../../../server/gateway/store-modules.ts";
import { createOperations } from "../../../server/operations/engine/create-operations.ts";
import { hasEnded, type Operation } from "../../../server/operations/operation.ts";
import { openStore } from "../../../server/store/open-store.ts";
import { createStormKind, type StormInput, stormInput } from "./storm-kind.ts";

/**
 * A program to be killed: runs operations, and keeps some open until the requested number is reached. Prints `ready` once it
 * runs, and `done` when all have ended. Arguments: JSON of StormArgs.
 */
export interface StormArgs {
  readonly url: string;
  readonly directory: string;
  readonly effects: string;
  readonly minimum: number;
  readonly leaseMs: number;
  /** The boundary at which it kills itself, at visit number `visit`. */
  readonly failpoint: { readonly name: string; readonly visit: number } | undefined;
}

const args = JSON.parse(process.argv[2] ?? "") as StormArgs;
const most = 24;
let visits = 0;

const store = await openStore({
  modules: gatewayModules,
  url: args.url,
  directory: args.directory,
  kind: "real",
  keyCheck: "storm",
  log: { info() {}, warn() {}, fatal() {} },
});
const operations = createOperations({
  store,
  instance: { instanceId: randomUUID(), host: "storm" },
  seal: createSeal(masterKeysFromText(Buffer.alloc(32, 1).toString("base64"), "the storm"), "operations"),
  limits: { perSystem: 8, maxOpen: 10_000, leaseMs: args.leaseMs, keepMs: 86_400_000 },
  log: {
    info() {},
    warn: (message, cause) =>
      process.stderr.write(`${message} ${cause instanceof Error ? cause.stack : ""}\n`),
  },
  firstPauseMs: 10,
  boundary(name) {
    if (name === args.failpoint?.name) {
      visits += 1;
      if (visits === args.failpoint.visit) {
        process.kill(process.pid, "SIGKILL");
      }
    }
  },
});
const starter = operations.register(createStormKind(args.effects));
operations.begin();
process.stdout.write("ready\n");

async function all(): Promise<Operation[]> {
  const found: Operation[] = [];
  for (let belowSeq: number | undefined, isMore = true; isMore; isMore = belowSeq !== undefined) {
    const page = await operations.list({}, { belowSeq, limit: 500 });
    found.push(...page.operations);
    belowSeq = page.nextSeq;
  }
  return found;
}

async function start(index: number): Promise<void> {
  await starter.start({
    resource: `things/${index % 30}`,
    backend: "storm",
    input: stormInput(index),
    secrets: null,
    requester: { actor: `user/${index % 5}`, accountId: `account${index % 5}`, rpc: "storm.Service/Method" },
  });
}

for (;;) {
  const known = await all();
  const open = known.filter((operation) => !hasEnded(operation));
  if (open.length === 0 && known.length >= args.minimum) {
    process.stdout.write("done\n");
  }
  for (const { id, input, isCancelRequested, isCancellable } of open) {
    if (
      (input as StormInput).plan === "cancel" &&
      !isCancelRequested &&
      isCancellable &&
      Math.random() < 0.5
    ) {
      // The operation may have passed its point of no return, or ended, in the meantime.
      await operations.cancel(id).catch(() => {});
    }
  }
  const missing = Math.min(most - open.length, args.minimum - known.length);
  for (let count = 0; count < missing; count += 1) {
    await start(known.length + count);
  }
  await delay(20);
}
