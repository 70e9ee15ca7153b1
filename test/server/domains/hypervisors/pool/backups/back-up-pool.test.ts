import { test } from "tap";
import { openOwnStore } from "../../../../store/own-store.ts";
import { createDirectoryHost, createPoolBackupsGateway } from "./pool-backups-under-test.ts";

test("a request whose open backup ends meanwhile returns that one; the next begins another", async (t) => {
  const store = await openOwnStore(t);
  const host = await createDirectoryHost(t);
  let endOpen: (() => Promise<unknown>) | undefined;
  const gateway = await createPoolBackupsGateway(t, host, {
    isIdle: true,
    store: {
      ...store,
      async run(...args: Parameters<typeof store.run>) {
        const answer = await store.run(...args);
        if (args[0] === "operations.list") {
          await endOpen?.();
        }
        return answer;
      },
    } as typeof store,
  });
  const first = await gateway.beginBackup();
  endOpen = async () => {
    endOpen = undefined;
    await createPoolBackupsGateway(t, host, { store });
    t.match(await gateway.end(first.id), { state: "completed" });
  };
  t.equal((await gateway.beginBackup()).id, first.id);
  const second = await gateway.beginBackup();
  t.not(second.id, first.id);
  t.match(await gateway.end(second.id), { state: "completed" });
  t.equal(new Set((await gateway.rows()).map(({ name }) => name)).size, 2);
});
