import { test } from "tap";
import { copyStore } from "../../../server/store/copy-store.ts";
import { testClusterContract } from "../../server/domains/clusters/store/clusters-contract.ts";
import {
  claimPass,
  createCluster,
  newCluster,
  newSlot,
  secretsSealed,
} from "../../server/domains/clusters/store/clusters-in-store.ts";
import { testClusterPassContract } from "../../server/domains/clusters/store/passes-contract.ts";
import { testClusterSlotContract } from "../../server/domains/clusters/store/slots-contract.ts";
import { testClusterStrayContract } from "../../server/domains/clusters/store/strays-contract.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const timeout = 300_000;

test("clusters on PostgreSQL", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);
  const makeOptions = async () => ({ url: await postgres.createDatabase(), directory: "" });
  testClusterContract(t, makeOptions);
  testClusterPassContract(t, makeOptions);
  testClusterSlotContract(t, makeOptions);
  testClusterStrayContract(t, makeOptions);

  t.test(
    "two gateways write to their clusters at once without assigning a machine or number twice",
    async (t) => {
      const options = await makeOptions();
      const stores = [await openOwnStore(t, options), await openOwnStore(t, options)] as const;
      for (let index = 0; index < 8; index += 1) {
        await createCluster(stores[0], `c${index}`);
      }
      const passes = await Promise.all(
        Array.from({ length: 8 }, (_, index) => claimPass(stores[index % 2 === 0 ? 0 : 1], `g${index % 2}`)),
      );
      await Promise.all(
        passes.map(({ cluster: { name }, write }) => write([], [newSlot(`${name}-1`), newSlot(`${name}-2`)])),
      );
      const numbers = await Promise.all(
        passes.map(async ({ cluster: { name }, write }) => {
          const take = (uid: string) =>
            ({ uid, from: "wanted", state: "candidate", candidateId: uid, takeSequence: true }) as const;
          await write([take(`${name}-1`)]);
          return (await write([take(`${name}-2`)])).map(({ sequence }) => sequence);
        }),
      );
      t.same(
        numbers.flat().toSorted((a, b) => a - b),
        Array.from({ length: 16 }, (_, index) => index + 1),
      );
      const writes = await Promise.allSettled(
        passes.map(({ cluster: { name }, write }) =>
          write([{ uid: `${name}-1`, from: "candidate", state: "allocated", systemId: "m1" }]),
        ),
      );
      t.equal(writes.filter(({ status }) => status === "fulfilled").length, 1);
      const states = await stores[0].run("clusters.states", {});
      const owners = states.flatMap(({ slots }) => slots).filter(({ systemId }) => systemId === "m1");
      t.equal(owners.length, 1);
      t.equal((await stores[1].run("clusters.installation", {})).sequence, 16);
    },
  );

  t.test("clusters move from SQLite to PostgreSQL with the ids that mark their machines", async (t) => {
    const directory = await makeDirectory(t);
    const source = await openOwnStore(t, { directory });
    const pools = [{ name: "p", instanceType: "gpu", labels: [{ name: "a", value: "ü" }], count: 2 }];
    const cluster = newCluster("a", { pools });
    await source.run("clusters.create", { cluster, endpoints: ["10.0.0.1"] });
    const pass = await claimPass(source);
    await pass.write([], [newSlot("s1"), newSlot("s2")]);
    await pass.write([
      { uid: "s1", from: "wanted", state: "candidate", candidateId: "m1", takeSequence: true },
    ]);
    await pass.write([{ uid: "s2", from: "wanted", state: "released" }]);
    await source.run("clusters.yieldPass", { fenced: pass.fenced });
    const before = {
      installation: await source.run("clusters.installation", {}),
      states: await source.run("clusters.states", {}),
      machines: await source.run("clusters.machines", { name: "a" }),
    };
    await source.close();
    const { url } = await makeOptions();
    const copied = await copyStore({ directory, url, kind: "real", keyCheck: "key-1" });
    t.equal(copied.get("clusters"), 1);
    t.equal(copied.get("cluster_slots"), 2);
    const target = await openOwnStore(t, { url, directory: "" });
    t.same(
      {
        installation: await target.run("clusters.installation", {}),
        states: await target.run("clusters.states", {}),
        machines: await target.run("clusters.machines", { name: "a" }),
      },
      before,
    );
    t.equal(before.installation.sequence, 1);
    const next = await claimPass(target);
    t.same(next.secretsSealed, secretsSealed);
    t.equal(next.fence, pass.fence + 1);
    t.match(await next.write([], [newSlot("s3")]), [{ uid: "s1" }, { uid: "s3" }]);
  });
});
