import { test } from "tap";
import { plansOfResource } from "../../server/operations/store/list-plans.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const timeout = 300_000;

test("PostgreSQL finds the operations of a resource by an index", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  for (const plan of await plansOfResource(t, { url, directory: "" })) {
    t.comment(plan);
    t.match(plan, /operations_resource/);
    t.notMatch(plan, /Seq Scan/);
  }
});
