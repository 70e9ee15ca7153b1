import { test } from "tap";
import { oncePerObject } from "../../../adapters/host/once-per-object.ts";

test("each object has a result of its own, which is created once", async (t) => {
  const made: string[] = [];
  const resultOf = oncePerObject(({ name }: { readonly name: string }) => {
    made.push(name);
    return { shown: name };
  });
  const [one, equal, other] = [{ name: "one" }, { name: "one" }, { name: "other" }];
  const result = resultOf(one);
  t.same(result, { shown: "one" });
  t.equal(resultOf(one), result);
  t.not(resultOf(equal), result);
  t.same(resultOf(other), { shown: "other" });
  t.same(made, ["one", "one", "other"]);
});

test("a failed creation is retried", async (t) => {
  let isFailing = true;
  const resultOf = oncePerObject(() => {
    if (isFailing) {
      throw new TypeError("not now");
    }
    return 1;
  });
  const source = {};
  t.throws(() => resultOf(source), { message: "not now" });
  isFailing = false;
  t.equal(resultOf(source), 1);
});
