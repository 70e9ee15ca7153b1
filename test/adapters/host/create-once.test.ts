import { test } from "tap";
import { createOnce } from "../../../adapters/host/create-once.ts";

test("creates the value on first use, once for all callers", async (t) => {
  let attempts = 0;
  const { get, created: result } = createOnce(async () => {
    attempts += 1;
    await new Promise(setImmediate);
    return { attempt: attempts };
  });
  t.equal(result(), undefined);
  t.equal(attempts, 0);
  const requested = [get(), get()];
  t.equal(result(), requested[0], "also while it is being created");
  const [one, other] = await Promise.all(requested);
  t.equal(one, other);
  t.equal(await get(), one);
  t.equal(await result(), one);
  t.equal(attempts, 1);
});

test("a failed attempt rejects for all its callers, and the next call tries again", async (t) => {
  let attempts = 0;
  const { get, created: result } = createOnce(async () => {
    attempts += 1;
    await new Promise(setImmediate);
    if (attempts < 3) {
      throw new Error(`no port ${attempts}`);
    }
    return attempts;
  });
  const requested = [get(), get()];
  await Promise.all(requested.map((each) => t.rejects(each, /no port 1/)));
  t.equal(result(), undefined);
  t.equal(attempts, 1);
  const again = await get().catch(() => {
    t.equal(result(), undefined, "a caller can try again as soon as it gets the failure");
    return get();
  });
  t.equal(again, 3);
  t.equal(await get(), 3);
  t.equal(attempts, 3);
});

test("a failure without callers is no unhandled rejection", async (t) => {
  const { created: result, get } = createOnce(() => Promise.reject(new Error("no port")));
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  t.teardown(() => process.off("unhandledRejection", note));
  void get();
  await new Promise(setImmediate);
  t.same(unhandled, []);
  t.equal(result(), undefined);
});
