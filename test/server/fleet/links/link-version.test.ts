import fc from "fast-check";
import { test } from "tap";
import { versionRefusal } from "../../../../server/fleet/links/link-version.ts";

test("a hub works with hosts that are one minor version apart", async (t) => {
  for (const [hub, host] of [
    ["0.1.0", "0.1.7"],
    ["0.2.0", "0.1.9"],
    ["0.1.0", "0.2.0-rc.1"],
    ["0.0.0-test", "0.1.0+build.5"],
    ["1.0.0", "0.9.0"],
    ["1.0.0", "0.1.0"],
    ["0.2.3", undefined],
  ] as const) {
    t.equal(versionRefusal(hub, host), undefined, `${hub} and ${host}`);
  }
});

test("other versions are refused with the side to upgrade", async (t) => {
  for (const [hub, host, message] of [
    ["0.3.0", "0.1.0", /this hub has version 0.3.0 and the host 0.1.0; .*: upgrade the host$/],
    ["0.3.0", undefined, /the host 0.1.0; .*: upgrade the host$/],
    ["0.1.0", "0.3.0", /: upgrade the hub first$/],
    ["1.1.0", "0.9.0", /: upgrade the host$/],
    ["0.9.0", "2.0.0", /: upgrade the hub first$/],
    ["0.1.0", "", /"" is not a version/],
    ["0.1.0", "0.1", /"0.1" is not a version/],
    ["0.1.0", `0.1.0-${"x".repeat(1000)}`, /^"0.1.0-x{94}" is not a version$/],
  ] as const) {
    t.match(versionRefusal(hub, host), message, `${hub} and ${host}`);
  }
});

test("any text is compared or refused", async () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const refusal = versionRefusal("0.1.0", text);
      return refusal === undefined || refusal.length < 800;
    }),
  );
});
