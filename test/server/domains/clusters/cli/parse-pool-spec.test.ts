import { InvalidArgumentError } from "commander";
import fc from "fast-check";
import { test } from "tap";
import {
  parseMachinesSpec,
  parsePoolSize,
  parsePoolSpec,
} from "../../../../../server/domains/clusters/cli/parse-pool-spec.ts";

test("machines are a count, a type and labels, the latter two in any order", async (t) => {
  t.same(parseMachinesSpec("3"), { count: 3, instanceType: "standard", labels: [] });
  t.same(parseMachinesSpec("1,gpu"), { count: 1, instanceType: "gpu", labels: [] });
  t.same(parsePoolSpec("web=2,tier=a=b,standard,disk="), {
    name: "web",
    count: 2,
    instanceType: "standard",
    labels: [
      { name: "tier", value: "a=b" },
      { name: "disk", value: "" },
    ],
  });
  t.same(parsePoolSize("web=5"), { name: "web", count: 5 });
});

test("anything else is rejected with the expected form", async (t) => {
  for (const text of ["", "a", "-1", "1.5", "1,", "1,gpu,standard", "1e3", "9999999999", " 3"]) {
    t.throws(() => parseMachinesSpec(text), /expected <count>\[,type\]/, JSON.stringify(text));
  }
  for (const text of ["", "web", "=3", "web=", "web=a", "a,b=3"]) {
    t.throws(() => parsePoolSpec(text), /expected (<name>=)?<count>/, JSON.stringify(text));
  }
  for (const text of ["", "web", "=3", "web=", "web=-1", "web=3,gpu"]) {
    t.throws(() => parsePoolSize(text), /expected <pool>=<count>/, JSON.stringify(text));
  }
});

test("every text is either parsed or rejected as an invalid argument", async () => {
  for (const parse of [parseMachinesSpec, parsePoolSpec, parsePoolSize]) {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^[a-z]{0,3}=?[0-9]{0,3}(,[a-z=]{0,4}){0,3}$/)),
        (text) => {
          try {
            return parse(text).count >= 0;
          } catch (error) {
            return error instanceof InvalidArgumentError;
          }
        },
      ),
    );
  }
});
