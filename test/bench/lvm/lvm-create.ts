import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { commandOf, lvmCommand } from "../../../adapters/lvm/commands.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import type { Bench, BenchRun } from "../bench.ts";
import { median } from "../figures/measure.ts";
import { tookMs } from "../figures/took-ms.ts";
import { openedRun } from "../load/opened-run.ts";
import { lvmSkipReason, openGateway, openVolumeGroup } from "./lvm-gateway.ts";

const volumeCount = 10;
/** Number of calls in a round. */
const calls = 3;

/** The time that the gateway adds to the tools of a change and the writes for it. */
export function createLvmCreate(): Bench {
  return {
    name: "lvm-create",
    what: "CreateLV of a real volume over gRPC",
    baseline: "the same `lvcreate`, an `lvs`, and two durable commits of SQLite",
    unit: "ms",
    maxExcess: 2,
    rounds: 40,
    coldRounds: 5,
    isLab: true,
    skipReason: lvmSkipReason,
    start: () => openedRun(startRun),
  };
}

async function startRun(opened: AsyncDisposableStack): Promise<BenchRun> {
  // One group per side, so that the gateway does not read the other side's changes while they run.
  const [ofGateway, ofShell] = [
    await openVolumeGroup(opened, volumeCount),
    await openVolumeGroup(opened, volumeCount),
  ];
  const gateway = await openGateway(opened, ofGateway);
  const volumes = createClient(LVService, createGrpcTransport({ baseUrl: gateway.url }));
  const commits = openCommits(opened, join(gateway.directory, "commits.db"));
  const { name: volumeGroupName, options, run } = ofShell;
  const name = "made";
  const create = commandOf(options, {
    kind: "create",
    volumeGroupName,
    name,
    sizeBytes: 1n << 30n,
    tags: [],
  });
  const lvs = lvmCommand(options, "lvs", ["--reportformat", "json", "--", volumeGroupName]);
  const remove = commandOf(options, { kind: "remove", volumeGroupName, name });
  return {
    baseline: {
      measure: () =>
        medianMs(
          async () => {
            commits.begin();
            await run(create);
            await run(lvs);
            commits.end();
          },
          () => run(remove),
        ),
    },
    ours: {
      measure: () =>
        medianMs(
          () => volumes.createLV({ name, sizeGb: 1n }),
          () => volumes.removeLV({ name }),
        ),
    },
    stop: () => opened.disposeAsync(),
  };
}

/** Returns the median time of a call in milliseconds, without the time of undoing it. */
async function medianMs(call: () => Promise<unknown>, undo: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  while (took.length < calls) {
    took.push(await tookMs(call));
    await undo();
  }
  return median(took);
}

/**
 * The audit log's part of a change: a row before it starts and the outcome after it, each committed to disk, in a database with
 * the gateway's settings.
 */
function openCommits(opened: AsyncDisposableStack, file: string) {
  const database = new DatabaseSync(file);
  opened.defer(() => database.close());
  for (const pragma of ["locking_mode = exclusive", "journal_mode = wal", "synchronous = full"]) {
    database.exec(`pragma ${pragma}`);
  }
  database.exec("create table calls (seq integer primary key, call text, outcome text) strict");
  const insert = database.prepare("insert into calls (call) values (?)");
  const update = database.prepare("update calls set outcome = ? where seq = (select max(seq) from calls)");
  return {
    begin: () => insert.run("c".repeat(400)),
    end: () => update.run("o".repeat(40)),
  };
}
