import { test } from "tap";
import { createOnce } from "../../../adapters/host/create-once.ts";

test("creates the value on first use, once for all callers", async (t) => {
  let attempts = 0;
  const { get, created: made } = createOnce(async () => {
    attempts += 1;
    await new Promise(setImmediate);
    return { attempt: attempts };
  });
  t.equal(made(), undefined);
  t.equal(attempts, 0);
  const asked = [get(), get()];
  t.equal(made(), asked[0], "also while it is being created");
  const [one, other] = await Promise.all(asked);
  t.equal(one, other);
  t.equal(await get(), one);
  t.equal(await made(), one);
  t.equal(attempts, 1);
});

test("a failed attempt rejects for all its callers, and the next call tries again", async (t) => {
  let attempts = 0;
  const { get, created: made } = createOnce(async () => {
    attempts += 1;
    await new Promise(setImmediate);
    if (attempts < 3) {
      throw new Error(`no port ${attempts}`);
    }
    return attempts;
  });
  const asked = [get(), get()];
  await Promise.all(asked.map((each) => t.rejects(each, /no port 1/)));
  t.equal(made(), undefined);
  t.equal(attempts, 1);
  const again = await get().catch(() => {
    t.equal(made(), undefined, "a caller can try again as soon as it gets the failure");
    return get();
  });
  t.equal(again, 3);
  t.equal(await get(), 3);
  t.equal(attempts, 3);
});

test("a failure without callers is no unhandled rejection", async (t) => {
  const { created: made, get } = createOnce(() => Promise.reject(new Error("no port")));
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  t.teardown(() => process.off("unhandledRejection", note));
  void get();
  await new Promise(setImmediate);
  t.same(unhandled, []);
  t.equal(made(), undefined);
});
