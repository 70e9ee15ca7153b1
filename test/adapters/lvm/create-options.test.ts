import fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { parseCreateOptions } from "../../../adapters/lvm/create-options.ts";

const refused = (message: RegExp) => ({ name: "InfraError", reason: "INVALID_FIELD", message });

test("parses options as typed on a command line", async (t) => {
  for (const [words, parsed] of [
    [[], []],
    [["--type=raid1"], ["--type", "raid1"]],
    [
      ["--type", "raid5", "-i2", "-I", "64k"],
      ["--type", "raid5", "--stripes", "2", "--stripesize", "64k"],
    ],
    [
      ["-m1", "--nosync"],
      ["--mirrors", "1", "--nosync"],
    ],
    [
      ["--alloc=cling_by_tags", "-Cy"],
      ["--alloc", "cling_by_tags", "--contiguous", "y"],
    ],
  ] as const) {
    t.same(parseCreateOptions(words, "options"), parsed, words.join(" "));
  }
});

test("rejects options that would change what the command does", async (t) => {
  for (const word of [
    ...[
      "vg0",
      "/dev/sdb",
      "--",
      "",
      "-",
      "-n",
      "--name=x",
      "--addtag=a",
      "-L1g",
      "--size=1g",
      "-T",
      "--thin",
    ],
    ...["-s", "--snapshot", "--config=devices{}", "--profile=x", "--yes", "-an", "-Zn", "--wipesignatures=n"],
    ...["--type=thin-pool", "--type=snapshot", "--type raid1", "--type=raid1 vg1", "--type=raid1\nx"],
    ...["--nosync=y", "--stripes=0", "--stripes=129", "--stripes=1;reboot", "--constructor=1", "--toString"],
  ]) {
    t.throws(() => parseCreateOptions([word], "options"), refused(/^options: /), JSON.stringify(word));
  }
  t.throws(() => parseCreateOptions(["--type"], "options"), refused(/--type requires a value/));
  t.throws(
    () => parseCreateOptions(["--stripes", "--type"], "options"),
    refused(/--stripes requires a value/),
  );
});

test("accepted options are pairs of a known option and a plain value", async (t) => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom("--type", "--stripes", "-i", "-m1", "--nosync", "raid1", "2", "64k", "--alloc=cling"),
    fc
      .tuple(fc.constantFrom("--type", "-i", "--regionsize", "-C"), fc.string())
      .map(([name, value]) => `${name}=${value}`),
  );
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(word, { maxLength: 4 }), (words) => {
      let parsed: string[];
      try {
        parsed = parseCreateOptions(words, "options");
      } catch (error) {
        return hasReason(error, hostReasons.INVALID_FIELD);
      }
      accepted += 1;
      return parsed.every((one) => /^(--[a-z]+|[a-z0-9_]+)$/i.test(one));
    }),
    { numRuns: 2_000 },
  );
  t.ok(accepted > 100, `${accepted} accepted`);
});
